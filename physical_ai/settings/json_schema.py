"""JSON schemas of stack and layer files for editors, made from the models and the catalogue.

They describe the structure, so that an editor completes keys and marks errors while you type. Checks that depend on
several settings, or on a region, are in `physical_ai.settings.validate`, since a schema cannot express them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog import describe, kubernetes_minors, operator_releases, servers, vm_sizes
from physical_ai.citations import cited
from physical_ai.settings.guards import is_list, is_map
from physical_ai.settings.layers.profile import PROFILE
from physical_ai.settings.layers.shape import FROM_STACK_NAME
from physical_ai.settings.layers.stack_file import PREFIX, SECRETS
from physical_ai.settings.models.tree import Settings

LAYER_FILE, STACK_FILE = FilePath("schema/layer.json"), FilePath("schema/stack.json")
"""Paths of the schemas, relative to the folder of the stacks."""

_DRAFT = "http://json-schema.org/draft-07/schema#"
"""JSON Schema draft that editors' YAML support knows best."""
_OCTET = r"(25[0-5]|2[0-4]\d|1?\d?\d)"
_ADDRESS = rf"({_OCTET}\.){{3}}{_OCTET}"
_PATTERNS = {"ipv4": rf"^{_ADDRESS}$", "ipv4network": rf"^{_ADDRESS}/(3[0-2]|[12]?\d)$"}
_LEFT_OUT = ("title", "required")
"""Keywords that the schemas omit: `title`, because it repeats the key, and `required`, because another file of the
stack may set the value.
"""
_MADE = "Generated from the settings' models: `physai schema`."


def layer_schema() -> dict[str, Any]:
    """Schema of a layer file, or of a file given with `-f`."""
    properties, definitions = _settings()
    del properties[PROFILE]
    return _document("A layer of the settings", properties, definitions)


def stack_schema() -> dict[str, Any]:
    """Schema of a stack file: Pulumi's own keys, and under `config` the settings with prefixed names."""
    properties, definitions = _settings()
    config = {
        "type": "object",
        "description": "Settings of this stack alone.",
        "properties": {
            **{f"{PREFIX}{key}": value for key, value in properties.items()},
            f"{PREFIX}{SECRETS}": {"type": "object", "description": "Encrypted values; they never become settings."},
        },
        "patternProperties": {rf"^(?!{PREFIX})[^:]+:.+$": {"description": "Configuration of a provider."}},
        "additionalProperties": False,
    }
    own = {
        "config": config,
        "secretsprovider": {
            "type": "string",
            "description": "Provider that encrypts secrets; pulumi stack init sets it.",
        },
        "encryptedkey": {"type": "string", "description": "Set by Pulumi."},
        "encryptionsalt": {"type": "string", "description": "Set by Pulumi."},
        "environment": {"description": "Pulumi ESC environments."},
    }
    return _document("A stack's own settings", own, definitions)


def schema_files() -> dict[FilePath, str]:
    """Texts of both schemas, by path relative to the folder of the stacks."""
    schemas = {STACK_FILE: stack_schema(), LAYER_FILE: layer_schema()}
    return {path: cited(json.dumps(schema, indent=1, ensure_ascii=False)) + "\n" for path, schema in schemas.items()}


def modeline(file: FilePath) -> str:
    """First line of a stack or layer file, which tells an editor where the file's schema is.

    `file` is relative to the folder of the stacks.
    """
    schema = LAYER_FILE if file.parts[0] == "layers" else STACK_FILE
    return f"# yaml-language-server: $schema={'../' * (len(file.parts) - 1)}{schema.as_posix()}\n"


@cache
def _models() -> Mapping[str, Any]:
    """Pydantic's schema of the whole tree, which takes half a second and is the same for a layer and for a stack."""
    return Settings.model_json_schema(by_alias=True)


def _settings() -> tuple[dict[str, Any], dict[str, Any]]:
    """Schemas of the top-level settings, and the definitions they refer to."""
    whole = _models()
    properties = {key: _softened(value) for key, value in whole["properties"].items() if key not in FROM_STACK_NAME}
    definitions = {name: _softened(value) for name, value in whole["$defs"].items()}
    known = [*vm_sizes(), *servers()]
    sizes = {"enum": [*known, None], "enumDescriptions": [*map(describe, known), "removes it"]}
    for pool in ("NodePool", "Pool"):
        definitions[pool]["properties"]["sku"] |= sizes
    definitions["Cluster"]["properties"]["kubernetesVersion"]["examples"] = list(kubernetes_minors())
    definitions["GpuOperator"]["properties"]["version"]["examples"] = list(operator_releases())
    return properties, definitions


def _document(title: str, properties: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "$schema": _DRAFT,
        "$comment": _MADE,
        "title": title,
        "type": ["object", "null"],
        "properties": dict(properties),
        "additionalProperties": False,
        "definitions": dict(definitions),
    }


def _softened(schema: Any) -> Any:
    """Schema without required keys, in which every value may be null: null in a file removes a value that a lower layer
    sets.
    """
    if not is_map(schema):
        return schema
    found = {key: value for key, value in schema.items() if key not in _LEFT_OUT}
    for key in ("properties", "patternProperties"):
        if key in found:
            found[key] = {name: _softened(value) for name, value in found[key].items()}
    if is_map(found.get("additionalProperties")):
        found["additionalProperties"] = _softened(found["additionalProperties"])
    if is_map(found.get("items")):
        found["items"] = _without_null(_softened(found["items"]))
    if "anyOf" in found:
        return _any_of(found)
    if "patternProperties" in found:
        found["additionalProperties"] = False
    if (kind := found.pop("format", None)) in _PATTERNS:
        found["pattern"] = _PATTERNS[kind]
    if "$ref" in found:
        # Draft 7 ignores keys beside a $ref, so allOf keeps this description, which is more specific than the model's
        # own.
        return {"allOf": [{"$ref": found.pop("$ref").replace("#/$defs/", "#/definitions/")}], **found}
    return _with_null(found)


def _any_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Schema of a choice of types without the type null. If a single type remains, the schema becomes the schema of
    that type.
    """
    choices = [each for each in schema["anyOf"] if each != {"type": "null"}]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    if len(choices) == 1:
        return {**_softened(choices[0]), **rest}
    return {**rest, "anyOf": [_softened(each) for each in choices]}


def _with_null(schema: dict[str, Any]) -> dict[str, Any]:
    found = dict(schema)
    if "const" in found:
        found["enum"] = [found.pop("const")]
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    if isinstance(found.get("type"), str):
        found["type"] = [found["type"], "null"]
    return found


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Schema of a list's item, in which null has no meaning."""
    found = dict(schema)
    if "allOf" in found:
        found["type"] = "object"
    if is_list(found.get("type")):
        found["type"] = next(each for each in found["type"] if each != "null")
    if is_list(found.get("enum")):
        found["enum"] = [each for each in found["enum"] if each is not None]
    return found
