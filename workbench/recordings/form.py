"""Format of a recording: gzip-compressed lines of JSON, of which the first is a head and the last an end with a
checksum.

Each line is one entry, an object whose `kind` determines its fields. docs/recordings.md describes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.nested import is_mapping

Entry = dict[str, Any]

NAME = "physai-recording"
VERSION = 1
"""Version of the format, raised with each change after which an older program would misread a file."""
HEAD, END = "head", "end"
PART = 500
"""Largest number of a list's objects in one line."""

MOST_FILE, MOST_TEXT, MOST_LINE = 128 << 20, 512 << 20, 64 << 20
"""Bytes of a file, of its lines together, and of one line. Ten thousand Pods have about sixty MiB."""
MOST_LINES = 200_000
MOST_DEPTH = 64

FIELDS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    HEAD: {"format": str, "version": int, "stack": str, "recordedAt": str, "program": str, "simulated": bool},
    "settings": {"settings": dict},
    "pools": {"pools": dict},
    "discovery": {"path": str, "answer": dict},
    "list": {"path": str, "items": list},
    "refused": {"path": str, "status": int, "text": str},
    "log": {"namespace": str, "pod": str, "container": str, "previous": bool, "text": str},
    "samples": {"query": str, "samples": list},
    "series": {"query": str, "step": (int, float), "series": list},
    "alerts": {"alerts": list},
    "azure": {"id": str, "type": str, "body": dict},
    "workflows": {"workflows": list},
    "unread": {"what": str, "reason": str},
    "summary": {"objects": dict, "replaced": dict, "removed": int},
    END: {"lines": int, "sha256": str},
}
"""Fields of each kind of entry; each is required, and others are left alone."""
MEMBERS: Mapping[str, str] = {"list": "items", "samples": "samples", "series": "series", "alerts": "alerts",
                              "workflows": "workflows"}  # fmt: skip
"""Fields that are lists of objects."""
ONCE = frozenset({HEAD, END, "settings", "pools", "alerts", "workflows", "summary"})

VOLATILE: Sequence[str] = (
    "recordedAt",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.ownerReferences[].uid",
)
"""Paths whose values differ between two recordings of clusters with the same objects: the API server writes them."""


def fault(entry: Any) -> str | None:
    """Problem with an entry, with the path in the entry; None if it is valid."""
    if not is_mapping(entry):
        return "is no object"
    given = entry
    kind = given.get("kind")
    if not isinstance(kind, str) or kind not in FIELDS:
        return f"kind: {str(kind)[:40]!r} is none of {', '.join(FIELDS)}"
    for name, wanted in FIELDS[kind].items():
        value = given.get(name)
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            said = "is missing" if value is None else f"is a {type(value).__name__}"
            return f"{kind}.{name}: {said}, and has to be a {_called(wanted)}"
    members = MEMBERS.get(kind)
    for number, each in enumerate(given[members]) if members else ():
        if not isinstance(each, dict):
            return f"{kind}.{members}[{number}]: is a {type(each).__name__}, and has to be a dict"
    return None


def _called(wanted: type | tuple[type, ...]) -> str:
    return " or ".join(each.__name__ for each in wanted) if isinstance(wanted, tuple) else wanted.__name__
