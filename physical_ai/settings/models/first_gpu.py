"""Settings of the budget for the time to the first GPU."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from physical_ai.settings.models.base import Model


class TimeToFirstGpu(Model):
    """Budget for the time until a Pod has a GPU. `physai check`, previews and pull requests say where an estimate or a
    recording is above it; nothing is deployed from it.
    """

    deployment_minutes: Annotated[int, Field(ge=1, le=480)] | None = Field(
        default=None,
        description="Most minutes from nothing to a Pod with a GPU in each pool, in the slow case; absent: not judged."
        " Not on an existing cluster, whose nodes are there.",
    )
    node_minutes: Annotated[int, Field(ge=1, le=240)] | None = Field(
        default=None,
        description="Most minutes from a Pod that waits for a GPU to this Pod on a new node, in each pool and in the"
        " slow case; absent: not judged.",
    )

    @property
    def is_set(self) -> bool:
        return self.deployment_minutes is not None or self.node_minutes is not None
