"""Example values of settings for messages, derived from the models' keys and types."""

from __future__ import annotations

import json
import re
import typing
from collections.abc import Mapping
from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network
from typing import Any, Literal

import yaml

from physical_ai.catalog import kubernetes_minors
from physical_ai.settings.guards import is_list, is_map
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.layers.shape import Shape, shape_at

_BY_KEY: Mapping[str, Any] = {
    "scale": {"min": 0, "max": 2},
    "subnet": "10.40.4.0/24",
    "addressSpace": "10.40.0.0/16",
    "systemSubnet": "10.40.0.0/24",
    "podCidr": "10.244.0.0/16",
    "serviceCidr": "10.41.0.0/16",
    "nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-H100-NVL"},
    "context": "lab",
}
"""Examples by key, for keys whose type says too little."""
_BY_TYPE: Mapping[Any, Any] = {bool: True, int: 1, float: 1.5, IPv4Network: "10.40.4.0/24", IPv4Address: "10.41.0.10"}


def example(path: Path) -> Any:
    """Example value for a path; None where no example helps."""
    shape = shape_at(path)
    return None if shape is None else _of(shape, path)


def written(value: Any) -> str:
    """A value as one line of YAML."""
    if is_map(value) or (is_list(value) and any(is_map(item) for item in value)):
        return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1000, allow_unicode=True).strip()
    if isinstance(value, str) and not re.fullmatch(r"[-+.\d]+|true|false|null|yes|no", value):
        return value
    return json.dumps(value, ensure_ascii=False)


def in_map(value: Any, path: Path) -> Any:
    """Map to suggest for a setting that is a map, but for which a user wrote the single value `value`. The map has
    `value` under the key that accepts it; if no key accepts it, the map is an example.
    """
    shape = shape_at(path)
    if shape is None or shape.kind != "model":
        return {"name": _in_item(value, shape.item if shape is not None else None, (*path, "name"))}
    needed = [key for key, field in shape.fields.items() if field.info is not None and field.info.is_required()]
    takes = [key for key in needed or shape.fields if _accepts(shape.fields[key], value)]
    if takes and needed in ([], takes[:1]):
        return {takes[0]: value}
    return _of(shape, path)


def _in_item(value: Any, item: Shape | None, path: Path) -> Any:
    if item is not None and item.kind == "list":
        return in_list(value, path)
    if item is not None and item.kind != "value":
        return _of(item, path) or {next(iter(item.fields), "name"): "…"}
    return str(value)


def in_list(value: Any, path: Path) -> list[Any]:
    """List to suggest for a setting where a single value was written. A text with commas becomes several items."""
    shape = shape_at(path)
    item = shape.item if shape is not None else None
    if item is None or item.kind != "value":
        inner = None if item is None else _of(item, (*path, 0))
        return [value if inner is None else inner]
    values = [part.strip() for part in value.split(",")] if isinstance(value, str) else [value]
    if item.type is int:
        return [int(each) if isinstance(each, str) and each.isdecimal() else each for each in values]
    return [each if isinstance(each, str) else json.dumps(each) for each in values]


def choices(shape: Shape) -> list[str]:
    """Values of a setting that is a choice of texts; empty for any other setting."""
    if typing.get_origin(shape.type) is Literal:
        return [each for each in typing.get_args(shape.type) if isinstance(each, str)]
    if isinstance(shape.type, type) and issubclass(shape.type, StrEnum):
        return [each.value for each in shape.type]
    return []


def _of(shape: Shape, path: Path) -> Any:
    key = str(path[-1])
    if key == "sku":
        return "Standard_NC40ads_H100_v5" if path[0] == "pools" else "Standard_D4ds_v5"
    if key in ("kubernetesVersion", "nodesVersion"):
        return list(kubernetes_minors())[-1]
    if key in _BY_KEY:
        return _BY_KEY[key]
    if shape.kind == "model":
        fields = {name: field for name, field in shape.fields.items() if field.info and field.info.is_required()}
        found = {name: _of(field, (*path, name)) for name, field in fields.items()}
        return {name: "…" if value is None else value for name, value in found.items()} or None
    if shape.item is not None:
        inner = _of(shape.item, (*path, "name"))
        return None if inner is None else [inner] if shape.kind == "list" else {"name": inner}
    return next(iter(choices(shape)), None) or _BY_TYPE.get(shape.type)


def _accepts(field: Shape, value: Any) -> bool:
    if field.kind != "value":
        return field.kind == "list" and is_list(value)
    if isinstance(value, str):
        return value in choices(field) or field.type is str
    return field.type is type(value)
