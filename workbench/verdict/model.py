"""Resources as a run of the program without an engine records them, and the templates that are made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Recorded:
    """A declared resource of Azure. Secret values are `Hidden`."""

    type: str
    """Pulumi's token, as `azure-native:network:Subnet`."""
    name: str
    inputs: Mapping[str, Any]
    recorded_id: str = ""
    """Id that other resources name it by in the recording; its own where it is empty."""
    computed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Stand-ins for what Azure computes, as they occur in the inputs of others → path in the answer of a GET."""


@dataclass(frozen=True)
class Hidden:
    """A secret value, which is not in the template: a parameter takes its place."""


@dataclass(frozen=True)
class Subject:
    """A resource in a template: where Azure's answers about it lead back to."""

    resource_id: str
    type: str
    """Pulumi's token."""
    name: str
    arm_type: str
    api_version: str
    body: Mapping[str, Any]
    """Body of the resource in the template."""
    depends_on: tuple[str, ...] = ()
    """Ids of resources of the same stack that it names, or is part of."""


@dataclass(frozen=True)
class Deployment:
    """A template at the scope of the subscription, with the values of its parameters."""

    name: str
    location: str
    template: Mapping[str, Any]
    parameters: Mapping[str, Any]
    resources: int

    def body(self) -> dict[str, Any]:
        """Body of a request to validate it, or to say what it would change."""
        return {
            "location": self.location,
            "properties": {"mode": "Incremental", "template": self.template, "parameters": self.parameters},
        }


@dataclass(frozen=True)
class Plan:
    """All templates of a stack."""

    deployments: tuple[Deployment, ...]
    subjects: tuple[Subject, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    """Resources that are in no template, as `Type name`, and the reason."""

    def subject(self, resource_id: str) -> Subject | None:
        """Resource of an id in one of Azure's answers; case does not count."""
        wanted = resource_id.strip("/").lower()
        return next((each for each in self.subjects if each.resource_id.strip("/").lower() == wanted), None)


@dataclass(frozen=True)
class Said:
    """One thing that ARM says about a plan, in its own words."""

    code: str
    message: str
    target: str = ""
    """Id of a resource, or path of a property, as far as ARM says it."""
    policies: tuple[str, ...] = ()
    """Names of the policies behind a refusal."""


@dataclass(frozen=True)
class Change:
    """Operation of a deployment on one resource, by ARM's what-if."""

    resource_id: str
    kind: str
    """Create, Modify, NoChange, Deploy, Ignore, Unsupported, Delete."""
    paths: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """ARM's answer to one deployment."""

    deployment: str
    said: tuple[Said, ...] = ()
    changes: tuple[Change, ...] = ()
    what_if: bool = False
    """True where what-if was answered too."""
    unanswered: str = ""
    """The reason why ARM gave no usable answer; empty where it did."""


def changed(judged: Sequence[Judged]) -> dict[str, int]:
    """Number of resources by kind of change."""
    counts: dict[str, int] = {}
    for each in judged:
        for change in each.changes:
            counts[change.kind] = counts.get(change.kind, 0) + 1
    return counts
