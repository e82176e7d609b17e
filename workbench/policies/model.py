"""Types that a rule reads and returns. They do not depend on Pulumi, so a rule can judge a recording or the engine's
state.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, cast

from physical_ai.findings import Finding, Severity


class Topic(StrEnum):
    """Purpose of a rule. The reference page groups the rules by it."""

    SECURITY = "security"
    RELIABILITY = "reliability"
    GPU = "GPUs and node pools"
    COST = "cost"
    DECLARATION = "declaration"


class Unknown:
    """A value that is known only after the deployment."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True)
class Secret:
    """A value that is marked secret: encrypted in the state and hidden in output."""

    value: Any = field(repr=False)


@dataclass(frozen=True)
class Options:
    """Pulumi's options of a resource. Options that refer to other resources contain URNs; options that name properties
    contain camelCase paths.
    """

    parent: str = ""
    provider: str = ""
    protect: bool = False
    depends_on: tuple[str, ...] = ()
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    delete_before_replace: bool = False
    deleted_with: str = ""
    replace_with: tuple[str, ...] = ()
    retain_on_delete: bool = False


@dataclass(frozen=True)
class Resource:
    """One declared resource. `inputs` are plain Python values under camelCase keys; a value may be `UNKNOWN` or a
    `Secret`.

    `custom` is False for Pulumi components, which have no counterpart in Azure or Kubernetes.
    """

    type: str
    name: str
    inputs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    options: Options = field(default_factory=Options)
    urn: str = ""
    custom: bool = True


@dataclass(frozen=True)
class Stack:
    """All resources of one stack. `secrets` are plaintexts that may only appear within a `Secret`."""

    environment: str
    resources: tuple[Resource, ...]
    secrets: frozenset[str] = frozenset()
    region: str = ""
    """Azure region; empty if unknown."""

    @property
    def is_production(self) -> bool:
        return self.environment == "prod"

    def of_type(self, *types: str) -> list[Resource]:
        """Resources with one of these type tokens, in the order of the stack."""
        return [each for each in self.resources if each.type in types]


@dataclass(frozen=True)
class Violation:
    """Part of a resource that violates a rule, and the fix. `path`: a property path, or empty."""

    path: str
    message: str


Check = Callable[[Resource, Stack], Iterable[Violation]]


@dataclass(frozen=True)
class Rule:
    """A named rule on one resource. `types`: type tokens of the resources that the rule judges; empty to judge all
    custom resources.
    """

    id: str
    severity: Severity
    reason: str
    check: Check
    types: tuple[str, ...] = ()
    topic: Topic = Topic.DECLARATION
    link: str = ""
    """Page of documentation that the rule is based on."""
    needs: tuple[str, ...] = ()
    """Fields of `Options` that the rule reads. Pulumi's engine passes only some of them to a policy pack."""
    needs_whole_stack: bool = False
    """True for a rule that reads other resources of the stack besides the one that it judges."""

    def applies_to(self, resource: Resource) -> bool:
        return resource.type in self.types if self.types else resource.custom


@dataclass(frozen=True, kw_only=True)
class ResourceFinding(Finding):
    """Finding about a resource that violates a rule. `where`: a property path, or empty."""

    type: str
    name: str
    reason: str

    def __str__(self) -> str:
        subject = f"{self.type} {self.name}" + (f" {self.where}" if self.where else "")
        return f"{self.severity.value} {self.rule}: {subject}\n  {self.problem}\n  {self.reason}"


def evaluate(stack: Stack, rules: Iterable[Rule]) -> list[ResourceFinding]:
    """All findings of `rules` about a stack, in the order of the rules and then of the resources."""
    return [found for rule in rules for resource in stack.resources for found in judge(rule, resource, stack)]


def judge(rule: Rule, resource: Resource, stack: Stack) -> list[ResourceFinding]:
    """The findings of one rule about one resource of a stack; none if the rule does not apply to the resource.

    A property whose value will only be known after the deployment violates no rule.
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
    """True if the value at a property path, or a value that contains it, is unknown."""
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
    """A value without its `Secret` wrapper; `default` if the value is absent or not known yet."""
    if isinstance(value, Secret):
        return known(value.value, default)
    return default if value is None or isinstance(value, Unknown) else value


def known_list(value: Any) -> list[Any]:
    """The elements of a list whose values are known; empty if the value is absent, unknown, or not a list."""
    items = known(value, [])
    return [item for item in cast("list[Any]", items) if known(item) is not None] if isinstance(items, list) else []


def known_map(value: Any) -> dict[str, Any]:
    """A map's entries; empty if the value is absent, unknown, or not a map."""
    entries = known(value, {})
    return cast("dict[str, Any]", entries) if isinstance(entries, dict) else {}


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Property path and value of everything in `value` that is neither a map nor a list. A `Secret` counts as one
    value.
    """
    if isinstance(value, Mapping):
        for key, entry in cast("Mapping[str, Any]", value).items():
            yield from leaves(entry, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, entry in enumerate(cast("list[Any]", value)):
            yield from leaves(entry, f"{path}[{index}]")
    else:
        yield path, value
