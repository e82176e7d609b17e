"""Reduction of a recording to the limits of its readers, on the length of a line and on the total size. Pure
functions.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from physical_ai.kubernetes.objects import at
from workbench.recordings.form import MOST_LINE, MOST_LINES, MOST_TEXT, MOST_VALUES, Entry

ROOM = 0.95
"""Share (0 to 1) of the readers' limits that entries may use. The summary and the last line need the rest."""
LINE = MOST_LINE // 8
"""Length in bytes of the longest line that holds a whole list. A longer list is divided into several lines."""
NEEDED = frozenset({"head", "settings", "pools", "unread", "refused"})
"""Kinds of entries that are never left out."""


def line_of(entry: Entry) -> bytes:
    """An entry as a line of the recording file: JSON in ASCII, with a line end."""
    return json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"


def fitted(entries: Iterable[Entry]) -> list[Entry]:
    """The entries that fit into the readers' limits. The largest groups of entries are left out first, each with a note
    that it was not read. A list is never cut, because half a list would look like a complete one.
    """
    parts = [part for entry in entries for part in _divided(_with_names(entry))]
    sizes: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for entry in parts:
        line = line_of(entry)
        values = sum(map(line.count, (b"[", b"{", b",")))
        own = sizes[_group(entry)]
        own[0], own[1], own[2] = own[0] + len(line), own[1] + values, own[2] + 1
        if len(line) > MOST_LINE * ROOM:
            own[0] = MOST_TEXT  # it can be in no file
    gone = _too_much(sizes, {_group(each) for each in parts if each["kind"] in NEEDED})
    found: list[Entry] = []
    for entry in parts:
        group = _group(entry)
        if group not in gone:
            found.append(entry)
        elif gone[group]:
            found.append(_left_out(entry, gone[group]))
            gone[group] = ""  # the reason is given once
    return found


def _too_much(sizes: dict[str, list[int]], needed: set[str]) -> dict[str, str]:
    """Names of the groups of entries to leave out, each with the reason. `sizes`: bytes, values and lines of each
    group; `needed`: groups that must stay.
    """
    limits = (MOST_TEXT * ROOM, MOST_VALUES * ROOM, MOST_LINES * ROOM)
    total = [sum(each[number] for each in sizes.values()) for number in range(3)]
    gone: dict[str, str] = {}
    for number, (limit, unit) in enumerate(zip(limits, ("bytes", "values", "lines"), strict=True)):
        for group in sorted(sizes.keys() - needed, key=lambda each: -sizes[each][number]):
            if total[number] <= limit:
                break
            if group not in gone:
                gone[group] = f"not recorded: it has {sizes[group][number]:,} {unit}, more than a file holds"
                total = [before - own for before, own in zip(total, sizes[group], strict=True)]
    return gone


def _group(entry: Entry) -> str:
    """Name of the group that an entry belongs to. The entries of a group are kept or left out together."""
    if entry["kind"] == "list":
        return str(entry["path"])
    return f"{entry['kind']} {entry.get('id') or entry.get('query') or entry.get('path') or ''}"


def _left_out(entry: Entry, reason: str) -> Entry:
    if entry["kind"] == "list":
        return {"kind": "refused", "path": entry["path"], "status": 0, "text": reason}
    return {"kind": "unread", "what": _group(entry).strip()[:200], "reason": reason}


def _with_names(entry: Entry) -> Entry:
    """The entry itself, or a note in its place: a list with two or more objects without a name is left out, because a
    reader could not tell these objects apart.
    """
    nameless = [each for each in entry["items"] if not at(each, "metadata.name")] if entry["kind"] == "list" else []
    if len(nameless) < 2:
        return entry
    return _left_out(entry, "not recorded: its objects have no names")


def _divided(entry: Entry) -> Iterator[Entry]:
    """The entry itself; for a list whose line is too long, several entries with parts of the list."""
    items: Sequence[object] = entry["items"] if entry["kind"] == "list" else ()
    if len(items) < 2 or len(line_of(entry)) <= LINE:
        yield entry
        return
    middle = len(items) // 2
    for part in (items[:middle], items[middle:]):
        yield from _divided({**entry, "items": part})
