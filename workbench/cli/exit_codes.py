"""Exit codes of commands."""

from __future__ import annotations

import errno

DONE, FAILED, BAD_INPUT, FINDINGS, INTERRUPTED, UNREAD = 0, 1, 2, 3, 130, 141
"""3: there are findings at or above the chosen severity. 130: interrupted by a signal. 141: the program that reads the
output has ended before it has read all, as `head` does; a shell reports the same of a program that SIGPIPE ends."""

UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM})
"""Errors of a disk that is full, or of a folder in which the user may not write."""
