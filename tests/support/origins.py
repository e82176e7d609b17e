"""Where each effective setting of a stack comes from."""

from __future__ import annotations

from physical_ai.settings import Loaded


def origins(loaded: Loaded) -> dict[str, str]:
    """For each leaf path, the file that set it, `default`, or `stack name`."""
    return {row.path: row.origin for row in loaded.explain()}
