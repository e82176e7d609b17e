"""What the exit code of a command means."""

from __future__ import annotations

DONE, FAILED, BAD_INPUT, FINDINGS, INTERRUPTED = 0, 1, 2, 3, 130
"""3: there are findings at or above the chosen severity. 130: interrupted by a signal."""
