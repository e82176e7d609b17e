"""Reading of a recording from an untrusted source. The recording's size is limited, its content is checked, and any
fault makes the whole recording refused.
"""

from __future__ import annotations

import gzip
import hashlib
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from physical_ai.readiness.shapes import Malformed, checked
from physical_ai.servers.documents import NotADocument, decoded
from workbench.recordings.form import (
    ANY_RATIO,
    END,
    HEAD,
    MOST_DEPTH,
    MOST_FILE,
    MOST_LINE,
    MOST_LINES,
    MOST_RATIO,
    MOST_TEXT,
    MOST_VALUES,
    NAME,
    ONCE,
    VERSION,
    Entry,
    fault,
)

MAGIC = b"\x1f\x8b"
"""Bytes at the start of every gzip file."""
MAKE_ANOTHER = "Ask for another recording: physai record STACK -o FILE"


class BadRecording(Exception):
    """Error for a file that is no recording, or a recording that was cut or changed. The text names the file, the line
    or path in the file, and the reason.
    """


@dataclass(frozen=True)
class Recording:
    """A recording that has been read from a file and checked."""

    file: Path
    entries: Sequence[Entry]

    @property
    def head(self) -> Entry:
        return self.entries[0]

    @property
    def stack(self) -> str:
        return str(self.head["stack"])

    @property
    def recorded_at(self) -> str:
        return str(self.head["recordedAt"])

    @property
    def simulated(self) -> bool:
        return bool(self.head["simulated"])

    def of(self, kind: str) -> Iterator[Entry]:
        return (each for each in self.entries if each["kind"] == kind)

    def only(self, kind: str, field: str) -> Any:
        """A field of the only entry of a kind; None if there is no such entry. It is meant for kinds that occur at most
        once.
        """
        return next((each[field] for each in self.of(kind)), None)

    @cached_property
    def lists(self) -> Mapping[str, list[dict[str, Any]]]:
        """Recorded Kubernetes objects, by the API path of the list that they are from."""
        found: dict[str, list[dict[str, Any]]] = {}
        for each in self.of("list"):
            found.setdefault(each["path"], []).extend(cast("list[dict[str, Any]]", each["items"]))
        return found


def read(file: Path) -> Recording:
    """The recording in a file.

    Raises:
        BadRecording: the file is not a valid recording.
    """
    try:
        entries = list(_entries(file))
    except OSError as problem:
        raise BadRecording(f"{file}: cannot be read ({problem.strerror or problem}). {MAKE_ANOTHER}") from None
    except (EOFError, zlib.error) as problem:
        raise BadRecording(f"{file}: the file was cut or damaged ({problem}). {MAKE_ANOTHER}") from None
    made = Recording(file, entries)
    _check_lists(made)
    return made


def is_recording(file: Path) -> bool:
    """True if the first line of a file is the head of a recording, in any version of the format."""
    try:
        first = next(_lines(file), b"")
        return f'"{NAME}"'.encode() in first
    except (BadRecording, OSError, EOFError, zlib.error):
        return False


def _entries(file: Path) -> Iterator[Entry]:
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise BadRecording(f"{file}: is no regular file. Name a file that physai record has written")
    if status.st_size > MOST_FILE:
        raise BadRecording(f"{file}: has {status.st_size >> 20} MiB, and at most {MOST_FILE >> 20} are read")
    digest, seen, total, number, values = hashlib.sha256(), set[str](), 0, 0, 0
    most = max(ANY_RATIO, MOST_RATIO * status.st_size)
    ended = False
    for line in _lines(file):
        number += 1
        total += len(line)
        values += sum(map(line.count, (b"[", b"{", b",")))
        if ended:
            raise BadRecording(f"{file}: line {number}: something follows the end: two recordings in one file, or an"
                               f" edited one. {MAKE_ANOTHER}")  # fmt: skip
        if number > MOST_LINES or total > MOST_TEXT or len(line) > MOST_LINE:
            raise BadRecording(f"{file}: line {number}: more is packed into it than a recording holds ({MOST_LINES:,}"
                               f" lines, {MOST_TEXT >> 20} MiB, {MOST_LINE >> 20} MiB a line)")  # fmt: skip
        if values > MOST_VALUES or total > most:
            raise BadRecording(f"{file}: line {number}: more is packed into it than a recording holds ({MOST_VALUES:,}"
                               f" values, {MOST_RATIO} times the size of the file). {MAKE_ANOTHER}")  # fmt: skip
        entry = _entry(file, number, line)
        kind = str(entry["kind"])
        if kind in ONCE and kind in seen:
            raise BadRecording(f"{file}: line {number}: a second {kind}: two recordings in one file, or an edited one."
                               f" {MAKE_ANOTHER}")  # fmt: skip
        seen.add(kind)
        if kind == END:
            ended = True
            if (entry["lines"], entry["sha256"]) != (number - 1, digest.hexdigest()):
                raise BadRecording(f"{file}: line {number}: the checksum is of other lines: the file was edited. "
                                   f"{MAKE_ANOTHER}")  # fmt: skip
            continue
        digest.update(line)
        yield entry
    if not ended:
        raise BadRecording(f"{file}: line {number}: the end is missing: the file was cut. {MAKE_ANOTHER}")


def _lines(file: Path) -> Iterator[bytes]:
    try:
        with gzip.open(file) as packed:
            while line := packed.readline(MOST_LINE + 1):
                yield line
    except gzip.BadGzipFile as problem:
        with file.open("rb") as raw:
            if raw.read(len(MAGIC)) == MAGIC:
                raise BadRecording(f"{file}: the file was cut or damaged ({problem}). {MAKE_ANOTHER}") from None
        raise BadRecording(f"{file}: is no recording (not packed with gzip). Name a file that physai record has"
                           " written") from None  # fmt: skip


def _entry(file: Path, number: int, line: bytes) -> Entry:
    try:
        entry: Any = decoded(line, MOST_DEPTH)
    except NotADocument as problem:
        raise BadRecording(f"{file}: line {number}: is {problem}. {MAKE_ANOTHER}") from None
    wrong = fault(entry)
    if wrong is None and (entry["kind"] == HEAD) != (number == 1):
        wrong = f"is a {entry['kind']}, and the head has to be the first line"
    if number == 1:
        wrong = wrong if isinstance(entry, dict) and cast("Entry", entry).get("format") == NAME else "is no head"
        if wrong is None and entry["version"] != VERSION:
            raise BadRecording(f"{file}: head.version: {entry['version']} is another form than this program reads"
                               f" ({VERSION}). Read it with the program that wrote it")  # fmt: skip
    if wrong:
        raise BadRecording(f"{file}: line {number}: {wrong}. {MAKE_ANOTHER}")
    return cast("Entry", entry)


def _check_lists(made: Recording) -> None:
    """Raises BadRecording if an object does not have the API's form, or if two objects of a list have the same name."""
    for path, items in made.lists.items():
        try:
            checked({"items": items}, path)
        except Malformed as problem:
            raise BadRecording(f"{made.file}: {path}: has {problem}. {MAKE_ANOTHER}") from None
        seen: set[tuple[str, str]] = set()
        for each in items:
            meta: Mapping[str, Any] = each["metadata"]
            key = str(meta.get("namespace", "")), str(meta.get("name", ""))
            if key in seen:
                named = "/".join(filter(None, key))
                raise BadRecording(f"{made.file}: {path}: two objects are named {named}: names that were replaced"
                                   f" collide, or the file was edited. {MAKE_ANOTHER}")  # fmt: skip
            seen.add(key)
