"""Rules of the API server that are not about one kind of object: selectors, merging, refusals."""

from __future__ import annotations

import copy
import datetime
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


def now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Refusal:
    """An answer that is not the one asked for."""

    code: int
    reason: str
    message: str


def at(thing: Object, path: str) -> Any:
    found: Any = thing
    for key in path.split("."):
        found = (found or {}).get(key)
    return found


def selected(selector: str, labels: Mapping[str, str]) -> bool:
    """`a=b,c in (d,e),f`: the forms that clients use."""
    for part in re.split(r",(?![^(]*\))", selector):
        if match := re.fullmatch(r"\s*(\S+)\s+(in|notin)\s+\((.*)\)\s*", part):
            inside = labels.get(match[1]) in [value.strip() for value in match[3].split(",")]
            if inside != (match[2] == "in"):
                return False
        elif match := re.fullmatch(r"([^=!]+)(!=|==?)(.*)", part):
            if (labels.get(match[1]) == match[3]) != (match[2] != "!="):
                return False
        elif part and part not in labels:
            return False
    return True


def merge(target: Object, changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(target.get(key), dict):
            merge(target[key], value)
        else:
            target[key] = copy.deepcopy(value)


def status_of(refusal: Refusal) -> tuple[int, Object]:
    return refusal.code, {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": refusal.message, "reason": refusal.reason, "code": refusal.code,
    }  # fmt: skip
