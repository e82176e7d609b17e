"""Exit codes of commands."""

from __future__ import annotations

DONE, FAILED, BAD_INPUT, FINDINGS, INTERRUPTED, UNREAD = 0, 1, 2, 3, 130, 141
"""Exit codes. 0: success. 1: failure. 2: invalid input. 3: there are findings at or above the chosen severity. 130: a
signal interrupted the command. 141: the program that reads the output, such as `head`, has ended before it has read
everything. A shell also reports 141 for a program that SIGPIPE has ended.
"""
