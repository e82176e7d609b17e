"""Committed stacks, and those among them that create their cluster on Azure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pytest

from physical_ai.settings import existing, load
from physical_ai.settings.facts.created import creates_cluster

STACKS = tuple(existing())
REPRESENTATIVE = ("dev-westus2", "onprem-lab", "prod-westeurope")
"""A small stack, one without Azure, and the one with the most options."""


@cache
def azure_stacks() -> tuple[str, ...]:
    """Names of the committed stacks that create their cluster on Azure, for tests about AKS."""
    return tuple(name for name in STACKS if creates_cluster(load(name).settings))


def sweep(names: Iterable[str], kept: Iterable[str] = REPRESENTATIVE) -> list[Any]:
    """Parameters of a test for each of the names, of which `make test` has the `kept` ones.

    Of all committed stacks, `make test` has the golden recordings and the policies.
    """
    return [pytest.param(name, marks=() if name in kept else pytest.mark.deep) for name in names]
