"""Declared resources as recorded by a run of the program without the Pulumi engine, the templates made from them, and
ARM's answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Recorded:
    """A declared Azure resource. Secret inputs are replaced by `Hidden`."""

    type: str
    """Pulumi's type token, such as `azure-native:network:Subnet`."""
    name: str
    inputs: Mapping[str, Any]
    recorded_id: str = ""
    """Id by which other resources refer to this one in the recording; empty if they use the real ARM id."""
    computed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path of a computed value in the answer to a GET of this resource, by the placeholder for the value. Inputs of
    other resources contain the placeholder.
    """


@dataclass(frozen=True)
class Hidden:
    """Placeholder for a secret value, which the template replaces with a parameter."""


@dataclass(frozen=True)
class Subject:
    """A resource in a template. It links ARM's answers to the declared resource."""

    resource_id: str
    type: str
    """Pulumi's type token of the resource."""
    name: str
    arm_type: str
    api_version: str
    body: Mapping[str, Any]
    """Object that describes the resource in the template."""
    depends_on: tuple[str, ...] = ()
    """Ids of resources of the same stack that the body refers to, or that this resource is part of."""


@dataclass(frozen=True)
class Deployment:
    """A template at subscription scope, with the values of its parameters."""

    name: str
    location: str
    template: Mapping[str, Any]
    parameters: Mapping[str, Any]
    resources: int

    def body(self) -> dict[str, Any]:
        """Body of a validation or what-if request for the template."""
        return {
            "location": self.location,
            "properties": {"mode": "Incremental", "template": self.template, "parameters": self.parameters},
        }


@dataclass(frozen=True)
class Plan:
    """All templates of a stack, and the resources in them."""

    deployments: tuple[Deployment, ...]
    subjects: tuple[Subject, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    """Resources that are in no template, each as `Type name` with the reason."""

    def subject(self, resource_id: str) -> Subject | None:
        """The resource with an id from one of Azure's answers, compared without regard to case; None if no resource has
        the id.
        """
        wanted = resource_id.strip("/").lower()
        return next((each for each in self.subjects if each.resource_id.strip("/").lower() == wanted), None)


@dataclass(frozen=True)
class Said:
    """One error message from ARM about a template."""

    code: str
    message: str
    target: str = ""
    """Id of a resource or path of a property, if ARM's message names one."""
    policies: tuple[str, ...] = ()
    """Names of the Azure Policy assignments or definitions that caused the error."""


@dataclass(frozen=True)
class Change:
    """Change of one resource by a deployment, as ARM's what-if reports it."""

    resource_id: str
    kind: str
    """ARM's change type: Create, Modify, NoChange, Deploy, Ignore, Unsupported or Delete."""
    paths: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Judged:
    """Answer of ARM about one template: error messages, and the changes from what-if."""

    deployment: str
    said: tuple[Said, ...] = ()
    changes: tuple[Change, ...] = ()
    what_if: bool = False
    """True if ARM has answered what-if, and not only validation."""
    unanswered: str = ""
    """The reason why ARM gave no usable answer; empty if it gave one."""


def changed(judged: Sequence[Judged]) -> dict[str, int]:
    """Number of changed resources in all templates, by ARM's change type."""
    counts: dict[str, int] = {}
    for each in judged:
        for change in each.changes:
            counts[change.kind] = counts.get(change.kind, 0) + 1
    return counts
