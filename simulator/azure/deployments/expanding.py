"""Resources of a deployment template, with those of its nested deployments, in the order of their creation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, cast

from simulator.azure.bodies import Json
from simulator.azure.deployments.expressions import InvalidTemplate, Scope

DEPLOYMENTS, GROUPS = "Microsoft.Resources/deployments", "Microsoft.Resources/resourceGroups"
MOST_RESOURCES = 800
_AROUND = frozenset({"type", "apiVersion", "name", "scope", "dependsOn", "condition", "comments", "subscriptionId"})


@dataclass(frozen=True)
class Asked:
    """A resource that a template asks for."""

    id: str
    type: str
    name: str
    api_version: str
    body: Json


@dataclass(frozen=True)
class Place:
    """The scope of a deployment: a subscription, or a resource group in it."""

    subscription: str
    group: str = ""

    @property
    def id(self) -> str:
        return f"/subscriptions/{self.subscription}" + (f"/resourceGroups/{self.group}" if self.group else "")


@dataclass(frozen=True)
class Expander:
    """Expands deployment templates into their resources."""

    reference: Callable[[str], Any]
    functions: Mapping[str, Any]

    def resources(self, properties: Mapping[str, Any], place: Place) -> Iterator[Asked]:
        """Resources of a template in the order of their creation. They are yielded one by one, because a later resource
        may refer to an earlier one.

        Raises InvalidTemplate.
        """
        template = _map(properties.get("template"))
        if not str(template.get("$schema", "")).startswith("https://schema.management.azure.com/schemas/"):
            raise InvalidTemplate("The template schema is not supported.")
        scope = Scope(self._parameters(template, properties), self.reference, self.functions, place.subscription)
        rows = template.get("resources")
        if not isinstance(rows, list):
            raise InvalidTemplate("The template has no 'resources'.")
        listed = [_map(each) for each in cast("list[Any]", rows)]
        if len(listed) > MOST_RESOURCES:
            message = f"The number of template resources limit exceeded. Limit: '{MOST_RESOURCES}' and actual: "
            raise InvalidTemplate(f"{message}'{len(listed)}'.")
        for row in _ordered(listed, place, scope):
            yield from self._one(row, place, scope)

    def _parameters(self, template: Mapping[str, Any], properties: Mapping[str, Any]) -> dict[str, Any]:
        given, found = _map(properties.get("parameters")), dict[str, Any]()
        for name, row in _map(template.get("parameters")).items():
            value = _map(given.get(name)).get("value", _map(row).get("defaultValue"))
            if value is None:
                raise InvalidTemplate(f"The value for the template parameter '{name}' is not provided.")
            found[name] = value
        unknown = sorted(given.keys() - found.keys())
        if unknown:
            raise InvalidTemplate(f"The template parameters '{', '.join(unknown)}' are not valid.")
        return found

    def _one(self, row: Mapping[str, Any], place: Place, scope: Scope) -> Iterator[Asked]:
        kind, version, name = (row.get(key) for key in ("type", "apiVersion", "name"))
        if not (isinstance(kind, str) and isinstance(version, str) and isinstance(name, str)):
            raise InvalidTemplate("A template resource needs 'type', 'apiVersion' and 'name'.")
        if kind == DEPLOYMENTS:
            of = str(row.get("subscriptionId") or place.subscription)
            inner = _map(row.get("properties"))
            given = {
                key: {"value": scope.evaluated(_map(item).get("value"))}
                for key, item in _map(inner.get("parameters")).items()
            }
            group = str(scope.evaluated(row.get("resourceGroup") or ""))
            yield from self.resources({**inner, "parameters": given}, Place(of, group))
            return
        body: Json = scope.evaluated({key: item for key, item in row.items() if key not in _AROUND})
        yield Asked(id_of(row, place, scope), kind, str(scope.evaluated(name)), version, body)


def id_of(row: Mapping[str, Any], place: Place, scope: Scope) -> str:
    """Id of a template's resource in the deployment's scope.

    Raises InvalidTemplate if type and name have different numbers of parts.
    """
    kind, names = str(row["type"]), str(scope.evaluated(row["name"])).split("/")
    if kind == GROUPS:
        return f"/subscriptions/{place.subscription}/resourceGroups/{names[0]}"
    namespace, *types = kind.split("/")
    if len(types) != len(names):
        message = f"The template resource '{row['name']}' has incorrect segment lengths. A nested resource type must"
        raise InvalidTemplate(f"{message} have identical number of segments as its resource name.")
    path = "/".join(f"{type}/{name}" for type, name in zip(types, names, strict=True))
    on = str(scope.evaluated(row["scope"])) if "scope" in row else place.id
    if not on.startswith("/"):
        on = f"{place.id}/providers/{on}"
    return f"{on}/providers/{namespace}/{path}"


def _ordered(rows: list[dict[str, Any]], place: Place, scope: Scope) -> list[dict[str, Any]]:
    by_id: dict[str, dict[str, Any]] = {}
    for row in rows:
        own = f"{place.id}/{row.get('name')}" if row.get("type") == DEPLOYMENTS else ""
        if row.get("type") == DEPLOYMENTS:
            own = f"/subscriptions/{place.subscription}/providers/{DEPLOYMENTS}/{row.get('name')}"
        by_id[(own or id_of(row, place, scope)).lower()] = row
    graph: dict[str, list[str]] = {}
    for key, row in by_id.items():
        waits = [str(each).lower() for each in scope.evaluated(row.get("dependsOn") or [])]
        for each in waits:
            if each not in by_id:
                message = f"The resource '{each}' is not defined in the template."
                raise InvalidTemplate(f"Deployment template validation failed: '{message}'")
        graph[key] = waits
    try:
        return [by_id[key] for key in TopologicalSorter(graph).static_order()]
    except CycleError:
        raise InvalidTemplate("Deployment template validation failed: 'Circular dependency detected.'") from None


def _map(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
