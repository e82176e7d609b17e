"""Requests that azure-native makes from the inputs of a resource: ARM type, API version, path and body, by Pulumi
type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from physical_ai.catalog.load import DATA

FILE = "azure_native.json"
T = TypeVar("T")


class DuplicateEntry(ValueError):
    """Raised if data contains the same key twice. Without the error, the second value would silently replace the
    first.
    """


@dataclass(frozen=True)
class TypeMapping:
    """Conversion of the inputs of one type to an ARM request, as azure-native does it."""

    kind: str
    token: str
    arm_type: str
    api_version: str
    id_format: str
    path_params: tuple[str, ...]
    inputs: Mapping[str, str]
    """Body path of each input, by the input's name."""
    nested: Mapping[str, str]
    """Path in the request body of a nested input, by the input's path. Only nested inputs with a different path in the
    body are listed.
    """
    string_sets: tuple[str, ...]
    """Paths of inputs that are lists of texts, but maps in the request body: each text becomes a key with an empty
    object.
    """
    output_only: tuple[str, ...]
    input_only: tuple[str, ...]
    required_inputs: tuple[str, ...]
    replace_on: tuple[str, ...]
    """Input paths whose change replaces the resource, beside the path parameters."""
    maintain_if_unset: tuple[str, ...]
    """Paths of lists that keep their content if the body of an update leaves them out."""
    has_type: bool
    """True where azure-native returns the ARM type as an output."""

    @property
    def name_param(self) -> str:
        return self.path_params[-1]

    @property
    def is_aks(self) -> bool:
        return self.arm_type.startswith("Microsoft.ContainerService/")

    @property
    def is_network(self) -> bool:
        return self.arm_type.startswith("Microsoft.Network/")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of all top-level outputs."""
        writable = (name for name in self.inputs if name not in self.input_only)
        # Paths that are always known: name and type of the resource, and the scope of an assignment.
        kind = ("type",) if self.has_type else ()
        named = ("name", *kind, *(name for name in self.path_params if name == "scope"))
        return tuple(dict.fromkeys((*writable, *self.output_only, *named)))


def by_key(pairs: Iterable[tuple[str, T]]) -> dict[str, T]:
    """The pairs as a map. Raises `DuplicateEntry` for a repeated key."""
    found: dict[str, T] = {}
    for key, value in pairs:
        if key in found:
            raise DuplicateEntry(f"{key} is there twice")
        found[key] = value
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return by_key(pairs)


@cache
def mappings() -> Mapping[str, TypeMapping]:
    """Mapping of each resource kind, by the last part of its Pulumi type. Raises `DuplicateEntry`."""
    rows: Mapping[str, Any] = json.loads((DATA / FILE).read_text(encoding="utf-8"), object_pairs_hook=_unique)
    return {kind: _mapping(kind, row) for kind, row in rows.items()}


@cache
def by_token() -> Mapping[str, TypeMapping]:
    """Mapping of each resource kind, by Pulumi type token."""
    return {mapping.token: mapping for mapping in mappings().values()}


@cache
def by_arm_type() -> Mapping[str, TypeMapping]:
    """Mapping of each resource kind, by ARM type in lower case."""
    return {mapping.arm_type.lower(): mapping for mapping in mappings().values()}


def _mapping(kind: str, row: Mapping[str, Any]) -> TypeMapping:
    replace = row.get("replaceOn", {})
    return TypeMapping(
        kind=kind,
        token=row["token"],
        arm_type=row["armType"],
        api_version=row["apiVersion"],
        id_format=row["idFormat"],
        path_params=tuple(row["pathParams"]),
        inputs=row["inputs"],
        nested=row.get("nested", {}),
        string_sets=tuple(row.get("stringSets", ())),
        output_only=tuple(row.get("outputOnly", ())),
        input_only=tuple(row.get("inputOnly", ())),
        required_inputs=tuple(row.get("requiredInputs", row["pathParams"][:-1])),
        replace_on=tuple(dict.fromkeys((*replace.get("explicit", ()), *replace.get("createOnly", ())))),
        maintain_if_unset=tuple(row.get("maintainIfUnset", ())),
        has_type=row.get("hasType", True),
    )
