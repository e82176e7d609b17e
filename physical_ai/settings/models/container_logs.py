"""Settings about the logs of containers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from physical_ai.settings.models.base import Model, NamespaceName


class ContainerLogs(Model):
    """Settings of the collection of container logs in Log Analytics."""

    namespaces: Annotated[tuple[NamespaceName, ...], Field(min_length=1)] = Field(
        default=("osmo-workflows",),
        description="Namespaces whose containers are logged. The others of the platform and of AKS are left out; one"
        " that you create is logged, too.",
    )
    interval_minutes: Annotated[int, Field(ge=1, le=30)] = Field(
        default=5, description="Minutes between two collections of the inventory of Pods; logs are sent at once."
    )
