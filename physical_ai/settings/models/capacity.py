"""Settings of a GPU pool's capacity: other pools that serve the same platform, reserved machines, and
nodes that are kept ready.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from physical_ai.settings.models.base import Model, PlatformName, written

ReservationGroupId = Annotated[
    str,
    written(
        r"^/subscriptions/[0-9a-fA-F-]{36}/resourceGroups/[^/]+/providers/Microsoft\.Compute/capacityReservationGroups/[^/]+$",
        "the id of a capacity reservation group: /subscriptions/…/capacityReservationGroups/NAME",
    ),
]


class Reservation(Model):
    """Machines that Azure keeps for a pool, and bills whether they run or not."""

    machines: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=None,
        description="Machines that the stack reserves: in each of the pool's zones, or without zones in the region.",
    )
    group: ReservationGroupId | None = Field(
        default=None, description="Id of a group that exists, with a reservation of the pool's size in its zones."
    )

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        if (self.machines is None) == (self.group is None):
            raise ValueError("write either machines, to reserve them, or group, for a reservation that exists")
        return self


class Capacity(Model):
    """Machines of a pool, and of others in its place."""

    platform: PlatformName | None = Field(
        default=None,
        description="OSMO platform that this pool serves together with every other pool of the same platform: new nodes"
        " are Spot nodes first, and on demand where Azure has no Spot machine.",
    )
    reservation: Reservation | None = Field(
        default=None, description="Capacity reservation that the pool's machines are from; a change replaces the pool."
    )
    warm: Annotated[int, Field(ge=0, le=100)] = Field(
        default=0,
        description="Nodes that are kept ready without work: when work takes one, the autoscaler adds another, up to"
        " scale.max. They are billed.",
    )
    announced: bool = Field(
        default=False,
        description="Tell the autoscaler by tags how many MIG instances or shares of GPUs a node of the empty pool has;"
        " for the single strategy and time slicing.",
    )
    kind: Literal["nodePool", "managedGpu", "autoProvisioned"] = Field(
        default="nodePool",
        description="nodePool. AKS' managed GPU pools and node auto-provisioning are refused, with what they lack.",
    )


def is_empty(value: object) -> bool:
    """True for a pool's capacity settings that ask for nothing."""
    return value == Capacity()
