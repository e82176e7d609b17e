"""Settings of a GPU pool's capacity: other pools that serve the same platform."""

from __future__ import annotations

from pydantic import Field

from physical_ai.settings.models.base import Model, PlatformName


class Capacity(Model):
    """Machines of a pool, and of others in its place."""

    platform: PlatformName | None = Field(
        default=None,
        description="OSMO platform that this pool serves together with every other pool of the same platform: new nodes"
        " are Spot nodes first, and on demand where Azure has no Spot machine.",
    )


def is_empty(value: object) -> bool:
    """True for a pool's capacity settings that ask for nothing."""
    return value == Capacity()
