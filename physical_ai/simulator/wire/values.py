"""Property values as they cross the wire: encoding, unknowns, secrets, and the paths of what changed.

Signatures and sentinels are those of the Pulumi SDK (`pulumi.runtime.rpc`), which the engine shares.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

from google.protobuf import struct_pb2
from pulumi.runtime import rpc

from physical_ai.catalog.engine_values import OUTPUT, SECRET, SIGNATURE

RESOURCE = rpc._special_resource_sig  # pyright: ignore[reportPrivateUsage]

UNKNOWN_TOKENS = frozenset(
    {
        rpc.UNKNOWN,
        # The engine's other unknowns, one for each property kind (pulumi/sdk, resource/plugin/rpc.go).
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)

Change = Literal["add", "delete", "update"]


class Unknown:
    """The type of `UNKNOWN`: a value the engine will only know once something has been made."""

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
    """Marks a value on its way out as secret, so that the engine encrypts it in state."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return "Secret(…)"


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """A property map as plain values: secrets unwrapped, references as ids, unknowns as `UNKNOWN`."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "string_value":
            return UNKNOWN if value.string_value in UNKNOWN_TOKENS else value.string_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "bool_value":
            return value.bool_value
        case "list_value":
            return [_decode(item) for item in value.list_value.values]
        case "struct_value":
            return _unwrap(decode(value.struct_value))
        case _:
            return None


def _unwrap(plain: dict[str, Any]) -> Any:
    match plain.get(SIGNATURE):
        case None:
            return plain
        case sig if sig == SECRET:
            return plain["value"]
        case sig if sig == OUTPUT:
            return plain.get("value", UNKNOWN)
        case sig if sig == RESOURCE:
            return plain.get("id", plain.get("urn"))
        case _:
            return plain


def encode(values: Mapping[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    for key, value in values.items():
        _encode(value, struct.fields[key])
    return struct


def _encode(value: Any, into: struct_pb2.Value) -> None:
    match value:
        case Unknown():
            into.string_value = rpc.UNKNOWN
        case None:
            into.null_value = struct_pb2.NULL_VALUE
        case Secret():
            _encode({SIGNATURE: SECRET, "value": value.value}, into)
        case bool():
            into.bool_value = value
        case int() | float():
            into.number_value = value
        case str():
            into.string_value = value
        case Mapping():
            into.struct_value.SetInParent()
            for key, item in cast("Mapping[str, Any]", value).items():
                _encode(item, into.struct_value.fields[str(key)])
        case Sequence():
            into.list_value.SetInParent()
            for item in cast("Sequence[Any]", value):
                _encode(item, into.list_value.values.add())
        case _:
            raise TypeError(f"{type(value).__name__} has no form on the wire")


def has_unknown(value: Any) -> bool:
    """Whether the value contains an unknown."""
    if value is UNKNOWN:
        return True
    if isinstance(value, Mapping):
        return any(has_unknown(item) for item in cast("Mapping[str, Any]", value).values())
    if isinstance(value, list | tuple):
        return any(has_unknown(item) for item in cast("Sequence[Any]", value))
    return False


def changes(old: Any, new: Any, path: str = "") -> dict[str, Change]:
    """Property paths that differ (`a.b[0]["odd key"]`), each with how. An unknown differs from any value."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        before, after = cast("Mapping[str, Any]", old), cast("Mapping[str, Any]", new)
        pairs = ((_member(path, key), before.get(key, _ABSENT), after.get(key, _ABSENT)) for key in {**before, **after})
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
            found |= changes(left, right, at)
    return found


_ABSENT = object()


def _member(path: str, key: str) -> str:
    if not re.fullmatch(r"[A-Za-z_$][\w$]*", key):
        quoted = key.replace("\\", "\\\\").replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{key}" if path else key


def under(path: str, prefix: str) -> bool:
    """Whether a property path is `prefix` or inside it; `prefix` may use `[*]` for any element."""
    for candidate in (path, re.sub(r"\[\d+\]", "[*]", path)):
        if candidate == prefix or candidate.startswith((f"{prefix}.", f"{prefix}[")):
            return True
    return False
