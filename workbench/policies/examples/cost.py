"""Examples for the rules that limit the cost of development."""

from __future__ import annotations

from workbench.policies.examples.model import Example
from workbench.policies.node_pools import AGENT_POOL

GPU_POOL = {"gpuProfile": {"driver": "None"}}

EXAMPLES: dict[str, list[Example]] = {
    "spot-in-dev": [
        Example(AGENT_POOL, {**GPU_POOL, "scaleSetPriority": "Spot"}, {"scaleSetPriority": "Regular"}),
        Example(AGENT_POOL, {"scaleSetPriority": "Regular"}, GPU_POOL),
    ],
    "empty-in-dev": [
        Example(AGENT_POOL, {**GPU_POOL, "enableAutoScaling": True, "minCount": 0}, {"minCount": 1}),
        Example(AGENT_POOL, {**GPU_POOL, "enableAutoScaling": True, "minCount": 0}, {"enableAutoScaling": False}),
    ],
}
