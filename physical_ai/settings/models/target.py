"""Settings of the place that the platform is installed in: a cluster that the stack creates, or one that exists."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from physical_ai.settings.models.base import Model

TargetKind = Literal["azure", "existing"]
Leave = Literal["definitions", "nothing"]


class Target(Model):
    """Where the platform is installed."""

    kind: TargetKind = Field(
        default="azure",
        description="azure: an AKS cluster that the stack creates, with everything around it. existing: a cluster that"
        " exists already, on premises or elsewhere; pools are classes of its nodes. Only a stack file, or what is laid"
        " over it, says so.",
    )
    context: str | None = Field(
        default=None,
        min_length=1,
        description="Context of the kubeconfig that leads to the existing cluster. Needed there: whichever context is"
        " selected is never the one that is changed by accident.",
    )
    kubeconfig: str | None = Field(
        default=None,
        min_length=1,
        description="File with that context, without credentials in it if it can be. Absent: KUBECONFIG, else"
        " ~/.kube/config.",
    )
    leave: Leave = Field(
        default="definitions",
        description="What remains in the existing cluster when the stack is deleted. definitions: the kinds that"
        " charts bring, and the GPU Operator's labels on nodes, as Helm and the operator leave them. nothing: a Job"
        " removes what was not there before the first deployment with this value, and what nobody else uses.",
    )
