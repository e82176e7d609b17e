"""Origin of each effective setting of a stack."""

from __future__ import annotations

from physical_ai.settings import Loaded


def origins(loaded: Loaded) -> dict[str, str]:
    """File that set a leaf, or `default`, or `stack name`, by the leaf's path."""
    return {row.path: row.origin for row in loaded.explain()}
