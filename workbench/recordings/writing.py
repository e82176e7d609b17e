"""Writing of a recording to a file, which is either complete or unchanged."""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
from collections.abc import Iterable
from errno import EIO
from pathlib import Path

from workbench.recordings.fitting import line_of
from workbench.recordings.form import ANY_RATIO, END, MOST_FILE, MOST_RATIO, Entry
from workbench.recordings.reading import BadRecording, read

USUAL_LEVEL = 6
ROOM = 1 << 16
"""Size in bytes of the temporary file that is written before the cluster is read, as a test of free space."""


def check_writable(file: Path) -> None:
    """Raises OSError if a file cannot be written. Leaves no test file behind."""
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{file.name}.", dir=file.parent) as tried:
            tried.write(bytes(ROOM))
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(file)) from None


def write(entries: Iterable[Entry], file: Path) -> int:
    """Writes the entries and a last line with their checksum. Returns the file's size in bytes.

    The same entries give the same bytes. If the file cannot be written, it stays unchanged, and OSError is raised.
    """
    given = list(entries)
    handle, made = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    os.close(handle)
    try:
        total = _pack(given, Path(made), USUAL_LEVEL)
        if MOST_RATIO * Path(made).stat().st_size < total and ANY_RATIO < total <= MOST_FILE // 2:
            _pack(given, Path(made), 0)  # so much smaller that a reader would take it for an attack
        _read_back(Path(made))
        Path(made).replace(file)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return file.stat().st_size


def _pack(entries: Iterable[Entry], file: Path, level: int) -> int:
    """Writes the file. Returns the number of bytes before compression."""
    digest, lines, total = hashlib.sha256(), 0, 0
    with file.open("wb") as raw, gzip.GzipFile("", "wb", level, raw, mtime=0) as packed:
        for entry in entries:
            line = line_of(entry)
            digest.update(line)
            packed.write(line)
            lines, total = lines + 1, total + len(line)
        packed.write(line_of({"kind": END, "lines": lines, "sha256": digest.hexdigest()}))
    return total


def _read_back(file: Path) -> None:
    try:
        read(file)
    except BadRecording as problem:
        raise OSError(EIO, f"the recording was not written, since it could not be read back: {problem}") from None
