"""ConfigMap with the order in which the cluster autoscaler grows pools (kubernetes/autoscaler, priority expander)."""

from __future__ import annotations

from typing import Any

import yaml

from physical_ai.settings.facts.capacity import falls_back
from physical_ai.settings.models.tree import Settings

NAME, NAMESPACE = "cluster-autoscaler-priority-expander", "kube-system"
"""Name and namespace that the autoscaler looks for; both are fixed (AKS docs, cluster-autoscaler-overview)."""
SPOT_FIRST, OTHERS = 50, 10
"""Priorities of the Spot pools for which others stand in, and of all pools. The highest number wins."""


def priority_expander(settings: Settings) -> list[dict[str, Any]]:
    """The ConfigMap; empty if no on-demand pool stands in for a Spot pool.

    Pools are known to the autoscaler by the name of their scale set, `aks-POOL-12345678-vmss`. The last line matches
    every pool, because the autoscaler never grows a pool without a line while it can grow another.
    """
    first = falls_back(settings)
    if not first:
        return []
    priorities = {SPOT_FIRST: [f"^aks-{name}-" for name in first], OTHERS: [".*"]}
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": NAME, "namespace": NAMESPACE},
            "data": {"priorities": yaml.safe_dump(priorities, sort_keys=False)},
        }
    ]
