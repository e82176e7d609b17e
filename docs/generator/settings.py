"""docs/reference/settings.md, generated from the models of the settings."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from docs.generator.markdown import code, codes, table
from physical_ai.settings.layers.shape import FROM_STACK_NAME
from physical_ai.settings.models.tree import Settings

_HEAD = """\
# Settings

Generated from the models in `physical_ai/settings/` by `python -m docs.generator`: every key that a layer or a stack
file can set, with its form and default. [settings.md](../settings.md) explains how files are merged, and what the keys
are for. `physai explain STACK` shows the effective values and their origins. In a stack file, each top-level key has
the project's name as a prefix: `physical-ai:pools`.

*required* means that a layer or the stack file must set the key; the committed layers do. `‹name›` is a name that you
choose. `null` removes what a lower layer has set. Rules check what depends on several keys or on the catalogue; each
finding names its rule.
"""
_FORMATS = {"ipv4": "IPv4 address", "ipv4network": "CIDR"}
_REFERENCE = "#/$defs/"
_SHARED_HEAD = "## Parts that several keys share\n"


@dataclass(frozen=True)
class _Row:
    path: str
    form: str
    default: str
    description: str


class _Pages:
    """Walk through the JSON schema of the settings; models that several keys use get a separate section."""

    def __init__(self) -> None:
        self.schema: dict[str, Any] = Settings.model_json_schema(by_alias=True)
        self.models: dict[str, dict[str, Any]] = self.schema["$defs"]
        uses = Counter(re.findall(rf'"\$ref": "{re.escape(_REFERENCE)}(\w+)"', json.dumps(self.schema)))
        self.shared = {name for name, count in uses.items() if count > 1 and "properties" in self.models[name]}

    def sections(self) -> Iterator[str]:
        simple: list[_Row] = []
        for key, value in self.schema["properties"].items():
            if key in FROM_STACK_NAME:
                continue
            rows = list(self.rows(key, value, required=key in self.schema["required"]))
            if len(rows) == 1:
                simple += rows
            else:
                yield f"## {key}\n\n{self.about(value)}\n\n{_table(rows)}"
        yield f"## Single values\n\n{_table(simple)}"
        yield _SHARED_HEAD
        for name in sorted(self.shared):
            model = self.models[name]
            yield f"### {name}\n\n{model.get('description', '')}\n\n{_table(list(self.fields('', model)))}"

    def about(self, value: Mapping[str, Any]) -> str:
        """Description of a key, or, where it has none, of its model."""
        name = _model(value, self.models)
        return str(value.get("description") or (self.models[name].get("description", "") if name else ""))

    def fields(self, prefix: str, model: Mapping[str, Any]) -> Iterator[_Row]:
        required = model.get("required", [])
        for key, value in model["properties"].items():
            yield from self.rows(f"{prefix}{key}", value, required=key in required)

    def rows(self, path: str, value: Mapping[str, Any], *, required: bool) -> Iterator[_Row]:
        """Rows of the table for a key and for the keys below it."""
        inner, below = self.inside(path, value)
        if inner is not None and inner not in self.shared:
            if below != path or _is_optional(value):
                yield _Row(path, self.form(value), _default(value, required=required), self.about(value))
            yield from self.fields(f"{below}.", self.models[inner])
            return
        yield _Row(path, self.form(value), _default(value, required=required), self.about(value))

    def inside(self, path: str, value: Mapping[str, Any]) -> tuple[str | None, str]:
        """The model whose fields a key has, and the path of these fields."""
        if name := _model(value, self.models):
            return name, path
        for kind in ("additionalProperties", "items"):
            if isinstance(value.get(kind), dict) and (name := _model(value[kind], self.models)):
                return name, f"{path}[]" if kind == "items" else f"{path}.‹name›"
        for pattern in value.get("patternProperties", {}).values():
            if name := _model(pattern, self.models):
                return name, f"{path}.‹name›"
        return None, path

    def form(self, value: Mapping[str, Any]) -> str:
        """Allowed values of a key, as text."""
        if "$ref" in value:
            name = str(value["$ref"]).removeprefix(_REFERENCE)
            model = self.models[name]
            if "enum" in model:
                return codes(model["enum"])
            return f"[{name}](#{name.lower()})" if name in self.shared else "map"
        if "anyOf" in value:
            return " or ".join(self.form(each) for each in value["anyOf"] if each != {"type": "null"})
        if "enum" in value or "const" in value:
            return codes(json.dumps(each) if each == "" else each for each in value.get("enum", [value.get("const")]))
        return self.plain(value)

    def plain(self, value: Mapping[str, Any]) -> str:
        match value.get("type"):
            case "array":
                return f"list: {self.form(value['items'])}"
            case "object":
                patterns: dict[str, dict[str, Any]] = value.get("patternProperties", {})
                return f"map: {self.form(next(iter(patterns.values()), None) or value['additionalProperties'])}"
            case "boolean":
                return "`true`, `false`"
            case "integer" | "number" as kind:
                return f"{kind}{_bounds(value)}"
            case _:
                pattern = f", {code(value['pattern'])}" if "pattern" in value else ""
                return _FORMATS.get(str(value.get("format")), "text") + pattern


def _model(value: Mapping[str, Any], models: Mapping[str, Any]) -> str | None:
    choices: list[Mapping[str, Any]] = [value, *value.get("anyOf", [])]
    names = [str(each["$ref"]).removeprefix(_REFERENCE) for each in choices if "$ref" in each]
    return next((name for name in names if "properties" in models[name]), None)


def _is_optional(value: Mapping[str, Any]) -> bool:
    return {"type": "null"} in value.get("anyOf", [])


def _bounds(value: Mapping[str, Any]) -> str:
    low, high = value.get("minimum"), value.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    return f", at least {low}" if low is not None else f", at most {high}" if high is not None else ""


def _default(value: Mapping[str, Any], *, required: bool) -> str:
    if required:
        return "*required*"
    default = value.get("default")
    if default is None:
        return "–"
    return code(json.dumps(default)) if not isinstance(default, str) else code(default) or '`""`'


def _table(rows: list[_Row]) -> str:
    shown = [(code(row.path), row.form, row.default, row.description) for row in rows]
    return table(("key", "form", "default", "what it is"), shown)


def document() -> str:
    """Text of the complete page."""
    return "\n".join([_HEAD, *_Pages().sections()])
