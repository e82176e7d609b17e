"""Which nodes OSMO counts for a platform: by the labels and tolerations of its merged pod template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

NEEDS_NO_TOLERATION = "PreferNoSchedule"


class Toleration(BaseModel):
    """A toleration as OSMO reads it. Without a key it makes the whole pool unreadable."""

    key: str
    operator: str = "Equal"
    value: str | None = None
    effect: str | None = None

    def tolerates(self, taint: Mapping[str, Any]) -> bool:
        """Whether the taint is tolerated. Stricter than Kubernetes: an empty key is no wildcard, and Equal without a
        value covers a taint without one, but not one with an empty text."""
        if self.effect and self.effect != taint.get("effect"):
            return False
        if self.key != taint.get("key"):
            return False
        if self.operator == "Exists":
            return True
        return self.operator == "Equal" and self.value == taint.get("value")


def counts(
    labels: Mapping[str, str],
    tolerations: Sequence[Toleration],
    node_labels: Mapping[str, str] | None,
    taints: Sequence[Mapping[str, Any]],
) -> bool:
    """Whether a node belongs to a platform: it has all labels of the selector, and all its taints are tolerated."""
    if node_labels is None or any(node_labels.get(key) != value for key, value in labels.items()):
        return False
    return all(
        taint.get("effect") == NEEDS_NO_TOLERATION or any(item.tolerates(taint) for item in tolerations)
        for taint in taints
    )
