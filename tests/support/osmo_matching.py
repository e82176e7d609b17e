"""Nodes that OSMO counts for a platform, by the labels and tolerations of the platform's merged Pod template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.osmo.service.pools import Toleration


def tolerates(toleration: Toleration, taint: Mapping[str, Any]) -> bool:
    """True if OSMO takes the taint as tolerated.

    OSMO is stricter than Kubernetes: an empty key is no wildcard, and Equal without a value covers a taint without one,
    but not one with an empty text.
    """
    if toleration.effect and toleration.effect != taint.get("effect"):
        return False
    if toleration.key != taint.get("key"):
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator == "Equal" and toleration.value == taint.get("value")


def counts(
    labels: Mapping[str, str],
    tolerations: Sequence[Toleration],
    node_labels: Mapping[str, str] | None,
    taints: Sequence[Mapping[str, Any]],
) -> bool:
    """True if a node belongs to a platform: it has all labels of the selector, and all its taints are tolerated."""
    if node_labels is None or any(node_labels.get(key) != value for key, value in labels.items()):
        return False
    return all(
        taint.get("effect") == "PreferNoSchedule" or any(tolerates(item, taint) for item in tolerations)
        for taint in taints
    )
