"""Examples for the rules on AKS node pools."""

from __future__ import annotations

from workbench.policies.examples.model import GPU, REPLACING, SPOT, SPOT_LABEL, SPOT_TAINTS, SYSTEM, Example
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER

EXAMPLES: dict[str, list[Example]] = {
    "immutable-pool-properties": [
        Example(AGENT_POOL, {"vmSize": "x"}, options=REPLACING, bad_options={"replace_on_changes": ("osDiskType",)}),
        Example(AGENT_POOL, {"maxPods": 30}, options=REPLACING, bad_options={"delete_before_replace": False}),
    ],
    "spot-pool": [
        Example(AGENT_POOL, SPOT, {"upgradeSettings": {"maxSurge": "1"}}),
        Example(AGENT_POOL, SPOT, {"scaleSetEvictionPolicy": "Deallocate"}),
        Example(AGENT_POOL, SPOT, {"nodeLabels": {}}),
        Example(AGENT_POOL, SPOT, {"nodeTaints": SPOT_TAINTS[:1]}),
        Example(AGENT_POOL, {"scaleSetPriority": "Regular"}, {"spotMaxPrice": -1}),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [SYSTEM]},
            {"agentPoolProfiles": [{**SYSTEM, "scaleSetEvictionPolicy": "Delete"}]},
        ),
    ],
    "taint-form": [
        Example(AGENT_POOL, {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]}, {"nodeTaints": ["a/b:NoSchedule"]}),
        Example(AGENT_POOL, {"nodeTaints": ["a=b:NoExecute"]}, {"nodeTaints": ["a=b:noexecute"]}),
        Example(AGENT_POOL, {"nodeTaints": ["a=b:PreferNoSchedule"]}, {"nodeTaints": ["a=b"]}),
        Example(AGENT_POOL, {"nodeTaints": []}, {"nodeTaints": ["a=:NoSchedule"]}),
    ],
    "gpu-taint": [Example(AGENT_POOL, GPU, {"nodeTaints": ["nvidia.com/gpux=present:NoSchedule"]})],
    "label-form": [
        Example(AGENT_POOL, {"nodeLabels": {"physical-ai/x": "y"}}, {"nodeLabels": {"kubernetes.azure.com/x": "y"}}),
        Example(AGENT_POOL, SPOT, {"nodeLabels": {**SPOT_LABEL, "node.kubernetes.io/x": "y"}}),
        Example(AGENT_POOL, {"nodeLabels": {"x": "v" * 63}}, {"nodeLabels": {"x": "v" * 64}}),
        Example(AGENT_POOL, {"nodeLabels": {"x": ""}}, {"nodeLabels": {"x/": "y"}}),
        Example(AGENT_POOL, {"nodeLabels": {}}, {"nodeLabels": SPOT_LABEL}),
        Example(AGENT_POOL, {"nodeLabels": {"pool": "a"}}, {"nodeLabels": {"agentpool": "a"}}),
    ],
    "autoscaled-count": [
        Example(
            AGENT_POOL,
            {"enableAutoScaling": True},
            options={"ignore_changes": ("count",)},
            bad_options={"ignore_changes": ()},
        ),
        Example(AGENT_POOL, {"enableAutoScaling": False}, bad_options={"ignore_changes": ("count",)}),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [{**SYSTEM, "enableAutoScaling": True}]},
            options={"ignore_changes": ("agentPoolProfiles[0].count",)},
            bad_options={"ignore_changes": ("agentPoolProfiles",)},
        ),
    ],
    "pool-choices-stated": [
        Example(AGENT_POOL, {"type": "VirtualMachineScaleSets", "scaleDownMode": "Delete"}, {"type": None}),
        Example(
            AGENT_POOL,
            {"type": "VirtualMachineScaleSets", "scaleDownMode": "Delete"},
            {"scaleDownMode": "Deallocate"},
        ),
    ],
    "gpu-driver-stated": [
        Example(AGENT_POOL, GPU, {"gpuProfile": {"driver": "none"}}),
        Example(AGENT_POOL, GPU, {"gpuProfile": {}}),
    ],
    "system-pool": [
        Example(MANAGED_CLUSTER, {"agentPoolProfiles": [SYSTEM]}, {"agentPoolProfiles": [SYSTEM, SYSTEM]}),
        Example(
            MANAGED_CLUSTER, {"agentPoolProfiles": [SYSTEM]}, {"agentPoolProfiles": [{**SYSTEM, "nodeTaints": []}]}
        ),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [SYSTEM]},
            {"agentPoolProfiles": [{**SYSTEM, "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}]},
        ),
    ],
}
