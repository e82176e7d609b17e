"""Resources as a run of the program without an engine records them, and the templates made from them."""

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
    """Placeholder for a secret value, which the template replaces with a parameter."""


@dataclass(frozen=True)
class Subject:
    """A resource in a template, by which Azure's answers are traced back to the declared resource."""

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
    """A template at subscription scope, with the values of its parameters."""

    name: str
    location: str
    template: Mapping[str, Any]
    parameters: Mapping[str, Any]
    resources: int

    def body(self) -> dict[str, Any]:
        """Body of the request for a validation or for what-if."""
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
        """The resource with this id, which is from one of Azure's answers; case is ignored. None if there is none."""
        wanted = resource_id.strip("/").lower()
        return next((each for each in self.subjects if each.resource_id.strip("/").lower() == wanted), None)


@dataclass(frozen=True)
class Said:
    """One message of ARM about a plan."""

    code: str
    message: str
    target: str = ""
    """Id of a resource, or path of a property, as far as ARM says it."""
    policies: tuple[str, ...] = ()
    """Names of the policies behind a refusal."""


@dataclass(frozen=True)
class Change:
    """Change of one resource by a deployment, as ARM's what-if reports it."""

    resource_id: str
    kind: str
    """Create, Modify, NoChange, Deploy, Ignore, Unsupported, Delete."""
    paths: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """ARM's answer about one deployment."""

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
