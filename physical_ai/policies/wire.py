"""Values that the engine and its plugins exchange, as plain Python.

Source: pulumi/pulumi, sdk/go/common/resource/properties.go and plugin/rpc.go.
"""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.engine_values import OUTPUT, SECRET, SIGNATURE
from physical_ai.policies.model import UNKNOWN, Secret

_UNKNOWNS = frozenset(
    {
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",  # boolean
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",  # number
        "04da6b54-80e4-46f7-96ec-b56ff0331ba9",  # string, and values of unknown type
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",  # list
        "030794c1-ac77-496b-92df-f27374a8bd58",  # asset
        "e48ece36-62e2-4504-bad9-02848725956a",  # archive
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",  # object
    }
)


def plain(value: Any) -> Any:
    """A `google.protobuf.Value` as plain Python: `UNKNOWN`, `Secret`, and integers as int."""
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _struct({key: plain(entry) for key, entry in value.struct_value.fields.items()})
    if kind == "list_value":
        return [plain(entry) for entry in value.list_value.values]
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    if kind == "string_value":
        return UNKNOWN if value.string_value in _UNKNOWNS else value.string_value
    return value.bool_value if kind == "bool_value" else None


def _struct(entries: dict[str, Any]) -> Any:
    signature = entries.get(SIGNATURE)
    if signature == SECRET:
        return Secret(entries["value"])
    if signature == OUTPUT:
        inner = entries.get("value", UNKNOWN)
        return Secret(inner) if entries.get("secret") is True else inner
    return entries
