"""Conversion of the values that Pulumi's engine and its plugins exchange into plain Python values.

Source: pulumi/pulumi, sdk/go/common/resource/properties.go and plugin/rpc.go.
"""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.engine_values import OUTPUT, SECRET, SIGNATURE, UNKNOWNS
from workbench.policies.model import UNKNOWN, Secret


def plain(value: Any) -> Any:
    """A `google.protobuf.Value` as a plain Python value, with `UNKNOWN` and `Secret` where the engine marks them. Whole
    numbers become int.
    """
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return _struct({key: plain(entry) for key, entry in value.struct_value.fields.items()})
    if kind == "list_value":
        return [plain(entry) for entry in value.list_value.values]
    if kind == "number_value":
        return int(value.number_value) if value.number_value.is_integer() else value.number_value
    if kind == "string_value":
        return UNKNOWN if value.string_value in UNKNOWNS else value.string_value
    return value.bool_value if kind == "bool_value" else None


def _struct(entries: dict[str, Any]) -> Any:
    signature = entries.get(SIGNATURE)
    if signature == SECRET:
        return Secret(entries["value"])
    if signature == OUTPUT:
        inner = entries.get("value", UNKNOWN)
        return Secret(inner) if entries.get("secret") is True else inner
    return entries
