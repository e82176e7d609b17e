"""Committed stacks, and those among them that create their cluster on Azure."""

from __future__ import annotations

from functools import cache

from physical_ai.settings import existing, load
from physical_ai.settings.facts.created import creates_cluster

STACKS = tuple(existing())


@cache
def azure_stacks() -> tuple[str, ...]:
    """Names of the committed stacks that create their cluster on Azure, for tests about AKS."""
    return tuple(name for name in STACKS if creates_cluster(load(name).settings))
