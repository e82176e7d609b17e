"""Facts about whether the stack creates its cluster. Pure functions."""

from __future__ import annotations

from physical_ai.settings.models.tree import Settings


def creates_cluster(settings: Settings) -> bool:
    """True if the stack creates its cluster and network; False if it uses an existing cluster and the cluster's
    network.
    """
    return settings.azure_network is not None


def region_of(settings: Settings) -> str | None:
    """Azure region in which the stack creates its cluster; None for an existing cluster."""
    return settings.region if creates_cluster(settings) else None
