"""Whether the stack creates its cluster. Pure functions."""

from __future__ import annotations

from physical_ai.settings.models.tree import Settings


def creates_cluster(settings: Settings) -> bool:
    """Whether the cluster and its network are the stack's own; one that exists already brings both."""
    return settings.azure_network is not None


def region_of(settings: Settings) -> str | None:
    """The Azure region in which the cluster is created; None for one that exists already."""
    return settings.region if creates_cluster(settings) else None
