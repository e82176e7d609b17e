"""CustomResourceDefinitions of a chart release, generated from field tables.

A table maps field names to fields. A field is one of:
- a type, as a string; a final `!` makes the field required
- an object, as a mapping of field names to fields
- a group of fields from `groups.yaml`, as `$name`

Types are those of OpenAPI and `int32`, `int64`, `int-or-string`, `strings` (a list), `integers` (a list), `map` (of
strings), `quantities` (a map of resource quantities), `image` (an image name without a tag) and `any` (content is not
checked).

In a mapping, keys that begin with `$` describe the field itself:
- `$type`, `$required`: the field's type; True if it is required
- `$list`, `$map`: the field is a list, or a map, of such objects
- `$like`: name of a group whose fields are added
- `$since`, `$until`: first and last release that has the field
- `$cel`: validation rules
- `$either`: alternative definitions of the field; the first one that exists in the release applies
- others, such as `$enum`, `$default` and `$minimum`, are copied into the schema
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from physical_ai.catalog.gpu_lookup import version
from simulator.charts.files import files, load, models

Json = dict[str, Any]
_QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
_INT_OR_STRING: Json = {"anyOf": [{"type": "integer"}, {"type": "string"}], "x-kubernetes-int-or-string": True}
_TYPES: dict[str, Json] = {
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "int-or-string": _INT_OR_STRING,
    "strings": {"type": "array", "items": {"type": "string"}},
    "integers": {"type": "array", "items": {"type": "integer", "format": "int64"}},
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "quantities": {"type": "object", "additionalProperties": {**_INT_OR_STRING, "pattern": _QUANTITY}},
    "image": {"type": "string", "pattern": r"[a-zA-Z0-9\-]+"},
    "any": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
}
_OF_LISTS = ("$minItems", "$maxItems")
_OWN = ("$type", "$required", "$list", "$map", "$like", "$since", "$until", "$cel", "$either")


@cache
def definitions(chart: str, release: str) -> tuple[Json, ...]:
    """The definitions in the `crds` folder of a chart or subchart; the caller must not change them.

    `release` is the version of the parent chart, which also selects the fields of a subchart.
    """
    found = {path: load(path) for path in files(f"{chart}/crds")}
    groups: Json = next((table for path, table in found.items() if path.endswith("/groups.yaml")), dict[str, Any]())
    tables = [table for path, table in found.items() if not path.endswith("/groups.yaml")]
    return tuple(_Tables(release, groups).definition(table) for table in tables if _has(release, table.get("since")))


def crds(chart: str, release: str) -> list[Json]:
    """All CustomResourceDefinitions of a release: first the chart's own, then those of its subcharts, which is the
    order of the chart's CRD upgrade hook.
    """
    return [item for each in (chart, *models()[chart][release].subcharts) for item in definitions(each, release)]


def _has(release: str, since: object = None, until: object = None) -> bool:
    here = version(release)
    return (since is None or version(str(since)) <= here) and (until is None or here <= version(str(until)))


class _Tables:
    """The field tables reduced to one release."""

    def __init__(self, release: str, groups: Mapping[str, Any]) -> None:
        self.release, self.groups = release, groups

    def definition(self, table: Json) -> Json:
        names = {**table["names"], "listKind": f"{table['names']['kind']}List"}
        spec, status = self._schema(table["spec"]), self._schema(table.get("status", {}))
        schema: Json = {
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string"},
                "kind": {"type": "string"},
                "metadata": {"type": "object"},
                "spec": spec or {"type": "object"},
                **({"status": status} if status and table.get("status") else {}),
            },
        }
        if rule := table.get("rule"):
            schema["x-kubernetes-validations"] = [rule]
        if self._is_required(table["spec"]):
            schema["required"] = ["spec"]
        dated = [
            {"name": name, "jsonPath": path, "type": "date" if name == "Age" else "string"}
            for name, path in table["columns"].items()
            if self._has_column(path, spec or {})
        ]
        served: Json = {
            "name": table["version"],
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
        }
        if table.get("status"):
            scale = {"scale": table["scale"]} if "scale" in table else {}
            served["subresources"] = {"status": {}, **scale}
        served |= {"additionalPrinterColumns": dated} if dated else {}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{names['plural']}.{table['group']}"},
            "spec": {"group": table["group"], "names": names, "scope": table["scope"], "versions": [served]},
        }

    def _has_column(self, path: str, spec: Json) -> bool:
        _, _, field = path.partition(".spec.")
        return not field or field in spec.get("properties", {})

    def _schema(self, field: Any) -> Json | None:
        """The OpenAPI schema of a field; None if this release does not have the field."""
        if isinstance(field, str):
            return self._group(field) if field.startswith("$") else self._type(field)
        given = cast("Json", field)
        if either := given.get("$either"):
            return next((found for item in either if (found := self._schema(item)) is not None), None)
        if not _has(self.release, given.get("$since"), given.get("$until")):
            return None
        schema = self._type(given["$type"]) if "$type" in given else self._object(given)
        rules: list[Json] = [
            {key: value for key, value in rule.items() if key != "since"}
            for rule in given.get("$cel", ())
            if _has(self.release, rule.get("since"))
        ]
        inner = schema["items"] if given.get("$list") else schema
        for key, value in given.items():
            if key.startswith("$") and key not in _OWN:
                (schema if key in _OF_LISTS else inner)[key[1:]] = value
        return schema | ({"x-kubernetes-validations": rules} if rules else {})

    def _type(self, name: str) -> Json:
        plain = name.removesuffix("!")
        return dict(_TYPES.get(plain, {"type": plain}))

    def _group(self, name: str) -> Json | None:
        return self._schema(self.groups[name.removeprefix("$").removesuffix("!")])

    def _object(self, given: Json) -> Json:
        if like := given.get("$like"):
            given = {**self.groups[like], **given}
        fields = {key: value for key, value in given.items() if not key.startswith("$")}
        known = {key: found for key, value in fields.items() if (found := self._schema(value)) is not None}
        schema: Json = {"type": "object", "properties": known} if known else {"type": "object"}
        if required := sorted(key for key in known if self._is_required(fields[key])):
            schema["required"] = required
        if given.get("$list"):
            return {"type": "array", "items": schema}
        return {"type": "object", "additionalProperties": schema} if given.get("$map") else schema

    def _is_required(self, field: Any) -> bool:
        if isinstance(field, str):
            return field.endswith("!")
        given = cast("Json", field)
        if either := given.get("$either"):
            return any(self._is_required(item) for item in either if self._schema(item) is not None)
        return bool(given.get("$required")) or str(given.get("$type", "")).endswith("!")
