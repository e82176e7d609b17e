"""Exit codes of commands."""

from __future__ import annotations

DONE, FAILED, BAD_INPUT, FINDINGS, INTERRUPTED, UNREAD = 0, 1, 2, 3, 130, 141
"""3: there are findings at or above the chosen severity. 130: interrupted by a signal. 141: the program that reads the
output has ended before it has read all, as `head` does; a shell reports the same of a program that SIGPIPE ends."""
