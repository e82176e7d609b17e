"""The shape of settings about GPU Pods that reach the cluster by another way than OSMO."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from physical_ai.settings.models.base import Model


class Admission(Model):
    """What the API server checks in Pods that request GPUs, outside the namespaces of the platform itself."""

    gpu_pods: Literal["warn", "deny", "off"] = Field(
        default="warn",
        description="What happens to a GPU Pod without NVIDIA_DRIVER_CAPABILITIES or, with several GPU families,"
        " without selecting one of them. warn: shown to the client that creates it, and audited. deny: refused."
        " off: nothing. A Pod that would see GPUs without requesting them is refused unless this is off.",
    )
    inject_capabilities: bool = Field(
        default=True,
        description="Give GPU containers without NVIDIA_DRIVER_CAPABILITIES the value all; from Kubernetes 1.36.",
    )
