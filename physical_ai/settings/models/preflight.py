"""Settings of the checks with Azure that a deployment makes before its first resource."""

from __future__ import annotations

from pydantic import Field

from physical_ai.settings.models.base import Model


class Preflight(Model):
    """Checks with Azure before a deployment creates its first resource. Each check can be switched off.

    A failed check stops the deployment, and is a warning in a preview. A check that Azure does not answer stops
    nothing.
    """

    quota: bool = Field(default=True, description="vCPU quota for the nodes that the deployment adds.")
    sizes: bool = Field(
        default=True, description="Sizes of new pools: restrictions of the subscription, zones, Spot, OS disks."
    )
    kubernetes: bool = Field(
        default=True, description="Kubernetes version of a new cluster, or of one that gets another minor."
    )
    providers: bool = Field(default=True, description="Registration of the resource providers.")
