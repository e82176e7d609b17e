"""What a rule sees, and what it answers. No Pulumi here, so that a rule can read a recording or the engine's state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, cast

from physical_ai.findings import Finding, Severity


class Topic(StrEnum):
    """What a rule is for; the reference is ordered by it."""

    SECURITY = "security"
    RELIABILITY = "reliability"
    GPU = "GPUs and node pools"
    COST = "cost"
    DECLARATION = "declaration"


class Unknown:
    """A value that is known after the deployment only."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that is marked secret, and so encrypted in state and hidden in output."""

    value: Any = field(repr=False)


@dataclass(frozen=True)
class Options:
    """Resource options, with URNs for other resources and camelCase property paths."""

    parent: str = ""
    provider: str = ""
    protect: bool = False
    depends_on: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    delete_before_replace: bool = False
    deleted_with: str = ""
    replace_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class Resource:
    """One resource as declared. `inputs` are plain Python under camelCase keys, with `UNKNOWN` and `Secret` in places.

    `custom` is False for components, which exist in the program only.
    """

    type: str
    name: str
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    options: Options = field(default_factory=Options)
    urn: str = ""
    custom: bool = True


@dataclass(frozen=True)
class Stack:
    """All resources of one stack. `secrets` are plaintexts that must not appear outside a `Secret`."""

    environment: str
    resources: tuple[Resource, ...]
    secrets: frozenset[str] = frozenset()
    region: str = ""
    """Azure region; empty where it is not known."""

    @property
    def is_production(self) -> bool:
        return self.environment == "prod"

    def of_type(self, *types: str) -> list[Resource]:
        """Its resources of these types, in their order."""
        return [each for each in self.resources if each.type in types]


@dataclass(frozen=True)
class Violation:
    """Where in a resource a rule is broken, and what to do about it. `path` is a property path, or empty."""

    path: str
    message: str


Check = Callable[[Resource, Stack], Iterable[Violation]]


@dataclass(frozen=True)
class Rule:
    """A named rule over one resource. `types` are type tokens it looks at; empty means all custom resources."""

    id: str
    severity: Severity
    reason: str
    check: Check
    types: tuple[str, ...] = ()
    topic: Topic = Topic.DECLARATION
    link: str = ""
    """Where the fact behind the rule is documented."""
    needs: tuple[str, ...] = ()
    """Fields of `Options` without which it can't judge: Pulumi's engine shows a policy pack some of them only."""
    whole: bool = False
    """Whether it reads the stack's other resources, so that it can judge only a complete stack."""

    def applies_to(self, resource: Resource) -> bool:
        return resource.type in self.types if self.types else resource.custom


@dataclass(frozen=True, kw_only=True)
class ResourceFinding(Finding):
    """A rule broken by a resource. `where` is a property path, or empty."""

    type: str
    name: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.type} {self.name}" + (f" {self.where}" if self.where else "")
        return f"{self.severity.value} {self.rule}: {place}\n  {self.problem}\n  {self.reason}"


def evaluate(stack: Stack, rules: Iterable[Rule]) -> list[ResourceFinding]:
    """Every finding of `rules` over `stack`, in the order of the rules and then of the resources."""
    return [found for rule in rules for resource in stack.resources for found in judge(rule, resource, stack)]


def judge(rule: Rule, resource: Resource, stack: Stack) -> list[ResourceFinding]:
    """What one rule finds in one resource of a stack; nothing where it does not look at such resources.

    A place whose value is not known yet breaks no rule: only the deployment knows it.
    """
    if not rule.applies_to(resource):
        return []
    return [
        ResourceFinding(
            rule.severity,
            rule.id,
            found.path,
            found.message,
            source=rule.link,
            type=resource.type,
            name=resource.name,
            reason=rule.reason,
        )
        for found in rule.check(resource, stack)
        if not _is_unknown(resource.inputs, found.path)
    ]


def _is_unknown(inputs: Mapping[str, Any], path: str) -> bool:
    """Whether the value at a property path, or one that holds it, is unknown."""
    here: Any = inputs
    for step in re.findall(r"[^.\[\]]+", path):
        if isinstance(here, list):
            items = cast("list[Any]", here)
            here = items[int(step)] if step.isdigit() and int(step) < len(items) else None
        else:
            here = cast("Mapping[str, Any]", here).get(step) if isinstance(here, Mapping) else None
        while isinstance(here, Secret):
            here = here.value
        if isinstance(here, Unknown):
            return True
    return False


def known(value: Any, default: Any = None) -> Any:
    """`value` without its secret wrapper; `default` when it is absent or not known yet."""
    if isinstance(value, Secret):
        return known(value.value, default)
    return default if value is None or isinstance(value, Unknown) else value


def known_list(value: Any) -> list[Any]:
    """The known elements of a list; empty when the list is absent, unknown, or no list."""
    items = known(value, [])
    return [item for item in cast("list[Any]", items) if known(item) is not None] if isinstance(items, list) else []


def known_map(value: Any) -> dict[str, Any]:
    """A map's entries; empty when it is absent, unknown, or no map."""
    entries = known(value, {})
    return cast("dict[str, Any]", entries) if isinstance(entries, dict) else {}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Paths and values of everything in `value` that is no map and no list; a `Secret` counts as one leaf."""
    if isinstance(value, Mapping):
        for key, entry in cast("Mapping[str, Any]", value).items():
            yield from leaves(entry, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(cast("list[Any]", value)):
            yield from leaves(entry, f"{path}[{index}]")
    else:
        yield path, value
