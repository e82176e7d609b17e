"""Settings about Pods that are created in the cluster directly, not through OSMO."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from physical_ai.settings.models.base import Model, NamespaceName


class Admission(Model):
    """Settings of the API server's checks on Pods in namespaces that the platform does not own."""

    gpu_pods: Literal["warn", "deny", "off"] = Field(
        default="warn",
        description="Treatment of a GPU Pod without NVIDIA_DRIVER_CAPABILITIES or, with several GPU families,"
        " without selecting one of them. warn: shown to the client that creates it, and audited. deny: refused."
        " off: nothing. A Pod that would see GPUs without requesting them is refused unless this is off.",
    )
    inject_capabilities: bool = Field(
        default=True,
        description="Give GPU containers without NVIDIA_DRIVER_CAPABILITIES the value all; from Kubernetes 1.36.",
    )
    schedulers: tuple[str, ...] = Field(
        default=(),
        description="User names of schedulers beside the cluster's own and KAI, which may bind Pods to nodes, such as"
        " system:serviceaccount:volcano-system:volcano-scheduler.",
    )
    pod_security: Literal["warn", "deny", "off"] = Field(
        default="warn",
        description="Treatment of a Pod that the Pod Security level baseline refuses, in namespaces that"
        " the platform does not manage. warn: shown to the client that creates it, and audited. deny: refused. off:"
        " nothing.",
    )
    pod_security_exempt: tuple[NamespaceName, ...] = Field(
        default=(),
        description="Namespaces beside those of AKS and of the platform where Pods may have the rights of their node,"
        " such as that of a storage driver.",
    )
