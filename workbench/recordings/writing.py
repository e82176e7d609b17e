"""Writing of a recording to a file, which is either complete or unchanged."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from errno import EIO
from pathlib import Path

from workbench.recordings.form import END, Entry
from workbench.recordings.reading import BadRecording, read

ROOM = 1 << 16
"""Bytes that are written as a test, before a cluster is read."""


def check_writable(file: Path) -> None:
    """Raises OSError if a file cannot be written. Leaves no test file behind."""
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{file.name}.", dir=file.parent) as tried:
            tried.write(bytes(ROOM))
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(file)) from None


def write(entries: Iterable[Entry], file: Path) -> int:
    """Writes the entries and a last line with their checksum. Returns the file's size in bytes.

    The same entries give the same bytes. Raises OSError if the file cannot be written; it is then unchanged.
    """
    handle, made = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
            digest, lines = hashlib.sha256(), 0
            for entry in entries:
                line = _line(entry)
                digest.update(line)
                packed.write(line)
                lines += 1
            packed.write(_line({"kind": END, "lines": lines, "sha256": digest.hexdigest()}))
        _read_back(Path(made))
        Path(made).replace(file)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    return file.stat().st_size


def _read_back(file: Path) -> None:
    try:
        read(file)
    except BadRecording as problem:
        raise OSError(EIO, f"the recording was not written, since it could not be read back: {problem}") from None


def _line(entry: Entry) -> bytes:
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
