"""Settings of the cluster in which the platform is installed: one that the stack creates, or an existing one."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from physical_ai.settings.models.base import Model

TargetKind = Literal["azure", "existing"]
Leave = Literal["definitions", "nothing"]


class Target(Model):
    """Settings of the cluster in which the platform is installed."""

    kind: TargetKind = Field(
        default="azure",
        description="azure: an AKS cluster that the stack creates, with everything around it. existing: a cluster that"
        " exists already, on premises or elsewhere; each pool is a class of its nodes. Only a stack file, -f or"
        " --set can set it.",
    )
    context: str | None = Field(
        default=None,
        min_length=1,
        description="Context of the kubeconfig that leads to the existing cluster. Required with existing, so that a"
        " deployment never changes the cluster that happens to be selected.",
    )
    kubeconfig: str | None = Field(
        default=None,
        min_length=1,
        description="File with that context, preferably without credentials. Absent: KUBECONFIG, else ~/.kube/config.",
    )
    leave: Leave = Field(
        default="definitions",
        description="Objects that stay in the existing cluster after the stack is deleted. definitions: the CRDs that"
        " charts install, the GPU Operator's labels on nodes, and taints of nodes that a controller has written since."
        " nothing: a Job removes what did not exist before the first deployment with this value, unless others use it.",
    )
