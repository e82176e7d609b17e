"""Encoding of property values for gRPC messages.

The marks for secrets, references and unknowns are those of the Pulumi SDK (`pulumi.runtime.rpc`), which the engine also
uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from google.protobuf import struct_pb2
from pulumi.runtime import rpc

from physical_ai.catalog.engine_values import OUTPUT, SECRET, SIGNATURE, UNKNOWNS
from simulator.wire.values import UNKNOWN, Secret, Unknown

RESOURCE = rpc._special_resource_sig  # pyright: ignore[reportPrivateUsage]  # no public name


def decode(struct: struct_pb2.Struct) -> dict[str, Any]:
    """A property map as plain values: secrets are unwrapped, references become ids, unknowns become `UNKNOWN`."""
    return {key: _decode(value) for key, value in struct.fields.items()}


def _decode(value: struct_pb2.Value) -> Any:
    match value.WhichOneof("kind"):
        case "string_value":
            return UNKNOWN if value.string_value in UNKNOWNS else value.string_value
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
