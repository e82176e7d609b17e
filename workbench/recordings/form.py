"""Format of a recording: gzip-compressed lines of JSON. The first line is the head, and the last one has a checksum.

Each line is one entry, an object whose `kind` determines its fields. docs/recordings.md describes them.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from physical_ai.nested import is_mapping
from physical_ai.readiness.shapes import Malformed, checked

Entry = dict[str, Any]

NAME = "physai-recording"
VERSION = 1
"""Version of the format. The version is raised if a change would make an older program misread a file."""
HEAD, END = "head", "end"
PART = 500
"""Largest number of objects in one line. A longer list is continued in further lines."""

MOST_FILE, MOST_TEXT, MOST_LINE = 128 << 20, 256 << 20, 64 << 20
"""Limits in bytes: of the compressed file, of all lines together, and of one line. Ten thousand Pods take about 60 MiB
of lines.
"""
MOST_VALUES = 5_000_000
"""Largest number of JSON values in all lines, because a small value takes thirty times the memory of its text."""
MOST_RATIO, ANY_RATIO = 200, 1 << 20
"""Limits on the bytes of all lines together: a recording may have `MOST_RATIO` times the bytes of its compressed file,
and always `ANY_RATIO` bytes.
"""
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
"""Required fields of each kind of entry, with their types."""
FURTHER: Mapping[str, frozenset[str]] = {
    "series": frozenset({"leftOut"}),
    "azure": frozenset({"apiVersion"}),
    "summary": frozenset({"namespaces", "unread"}),
}
"""Optional fields of an entry, by the kind of the entry."""
LIST = re.compile(r"(/api/v1|/apis/[\w.-]+/[\w.-]+)/[\w.-]+")
DISCOVERED = re.compile(r"/version|/api/v1|/apis|/apis/[\w.-]+/[\w.-]+")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)", re.ASCII)
MEMBERS: Mapping[str, str] = {"list": "items", "samples": "samples", "series": "series", "alerts": "alerts",
                              "workflows": "workflows"}  # fmt: skip
"""Name of the field that is a list of objects, by the kind of the entry. Other kinds have no such field."""
ONCE = frozenset({HEAD, END, "settings", "pools", "alerts", "workflows", "summary"})

VOLATILE: Sequence[str] = (
    "recordedAt",
    "metadata.uid",
    "metadata.resourceVersion",
    "metadata.generation",
    "metadata.creationTimestamp",
    "metadata.ownerReferences[].uid",
)
"""Paths of values that differ between two recordings of the same objects: the API server writes them, or they are
times. The network part of a private address may also differ, because it depends on all addresses of a recording
(`workbench/recordings/addresses.py`).
"""


def fault(entry: Any) -> str | None:
    """Text about the first problem of an entry, with its path in the entry; None if the entry is valid."""
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
    others = given.keys() - FIELDS[kind].keys() - FURTHER.get(kind, frozenset()) - {"kind"}
    if others:
        return f"{kind}: has {min(others)[:40]!r}, and no such field is known"
    members = MEMBERS.get(kind)
    for number, each in enumerate(given[members]) if members else ():
        if not isinstance(each, dict):
            return f"{kind}.{members}[{number}]: is a {type(each).__name__}, and has to be a dict"
    check = _CHECKS.get(kind)
    return check(given) if check else None


def _fault_of_head(entry: Mapping[str, Any]) -> str | None:
    given = entry["recordedAt"]
    try:
        datetime.datetime.fromisoformat(given if TIME.fullmatch(given) else "").astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        return "head.recordedAt: is no time with a zone, such as 2026-11-28T04:00:00Z"
    return None


def _fault_of_list(entry: Mapping[str, Any]) -> str | None:
    return None if LIST.fullmatch(entry["path"]) else f"list.path: {entry['path'][:80]!r} is no path of a list"


def _fault_of_discovery(entry: Mapping[str, Any]) -> str | None:
    path = entry["path"]
    if not DISCOVERED.fullmatch(path):
        return f"discovery.path: {path[:80]!r} is no path of discovery"
    try:
        checked(entry["answer"], path)
    except Malformed as problem:
        return f"discovery.answer: of {path} has {problem}"
    return None


def _fault_of_pools(entry: Mapping[str, Any]) -> str | None:
    types = {"resources": dict, "driverSource": str, "sharing": str, "size": str, "fabric": dict, "gpusPerNode": int}
    for name, pool in entry["pools"].items():
        if not is_mapping(pool):
            return f"pools.{name[:40]}: is a {type(pool).__name__}, and has to be a dict"
        for key, kind in types.items():
            if key in pool and not isinstance(pool[key], kind):
                return f"pools.{name[:40]}.{key}: is a {type(pool[key]).__name__}, and has to be a {kind.__name__}"
    return None


def _fault_of_alerts(entry: Mapping[str, Any]) -> str | None:
    for number, each in enumerate(entry["alerts"]):
        for key in ("labels", "annotations"):
            if not _is_texts(each.get(key) or {}):
                return f"alerts.alerts[{number}].{key}: has to be a dict of str"
        if not isinstance(each.get("state", ""), str):
            return f"alerts.alerts[{number}].state: has to be a str"
    return None


def _fault_of_samples(entry: Mapping[str, Any]) -> str | None:
    for number, each in enumerate(entry["samples"]):
        if not _is_texts(each.get("labels")):
            return f"samples.samples[{number}].labels: has to be a dict of str"
        if not _is_number(each.get("value")):
            return f"samples.samples[{number}].value: has to be a number"
    return None


def _is_texts(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(each, str) for each in cast("dict[str, Any]", value).values())


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) < 1 << 63


_CHECKS: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    HEAD: _fault_of_head,
    "list": _fault_of_list,
    "discovery": _fault_of_discovery,
    "pools": _fault_of_pools,
    "alerts": _fault_of_alerts,
    "samples": _fault_of_samples,
}
"""Further checks of an entry's content, by kind; each returns the text about a problem, or None."""


def _called(wanted: type | tuple[type, ...]) -> str:
    return " or ".join(each.__name__ for each in wanted) if isinstance(wanted, tuple) else wanted.__name__
