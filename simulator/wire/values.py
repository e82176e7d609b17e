"""Property values of providers: unknowns, secrets, and the paths of changes.

The controllers of each simulated cluster use these values, too. This module does not import the Pulumi SDK, so that the
controllers need not spend half a second on that import.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast

Change = Literal["add", "delete", "update"]


class Unknown:
    """Type of `UNKNOWN`, the placeholder for a value that the engine only knows after another resource has been
    created.
    """

    def __repr__(self) -> str:
        return "<unknown>"

    def __bool__(self) -> bool:
        return False

    def __copy__(self) -> Unknown:
        return self

    def __deepcopy__(self, memo: object) -> Unknown:
        return self


UNKNOWN = Unknown()


class Secret:
    """Mark of an outgoing value as secret, so that the engine encrypts it in state."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Secret(…)"


def has_unknown(value: Any) -> bool:
    """True if the value contains an unknown."""
    if value is UNKNOWN:
        return True
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in cast("Mapping[str, Any]", value).values())
    if isinstance(value, list | tuple):
        return any(has_unknown(item) for item in cast("Sequence[Any]", value))
    return False


def changes(old: Any, new: Any, path: str = "", member: Callable[[str, str], str] | None = None) -> dict[str, Change]:
    """Paths of the properties that differ, such as `a.b[0]["odd key"]`, each with the kind of its change. An unknown
    differs from any value.

    `member`: function that joins a path and a key. By default the Pulumi SDK's notation, which quotes every key that
    has other characters than letters, digits and `_`.
    """
    at_key = member or _member
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before, after = cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", new)
        pairs = ((at_key(path, key), before.get(key, _ABSENT), after.get(key, _ABSENT)) for key in {**before, **after})
    elif isinstance(old, list) and isinstance(new, list):
        first, second = cast("list[Any]", old), cast("list[Any]", new)
        pairs = (
            (f"{path}[{i}]", first[i] if i < len(first) else _ABSENT, second[i] if i < len(second) else _ABSENT)
            for i in range(max(len(first), len(second)))
        )
    elif old is new or (old is not UNKNOWN and new is not UNKNOWN and old == new):
        return {}
    else:
        return {path: "update"}
    found: dict[str, Change] = {}
    for at, left, right in pairs:
        if right is _ABSENT:
            found[at] = "delete"
        elif left is _ABSENT:
            found[at] = "add"
        else:
            found |= changes(left, right, at, member)
    return found


_ABSENT = object()


def _member(path: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", key):
        quoted = key.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{key}" if path else key


def under(path: str, prefix: str) -> bool:
    """True for a property path that equals `prefix` or is below it. `[*]` in `prefix` stands for any element of a
    list.
    """
    for candidate in (path, re.sub(r"\[\d+\]", "[*]", path)):
        if candidate == prefix or candidate.startswith((f"{prefix}.", f"{prefix}[")):
            return True
    return False
