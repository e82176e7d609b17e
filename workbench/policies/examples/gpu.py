"""Examples for the rules on GPU pools."""

from __future__ import annotations

from typing import Any

from workbench.policies.examples.model import Example
from workbench.policies.gpu import GPU_OPERATOR, NVIDIA_DRIVER, RELEASE
from workbench.policies.model import UNKNOWN, Resource
from workbench.policies.node_pools import AGENT_POOL, MANAGED_CLUSTER
from workbench.policies.workloads import DAEMON_SET

GRID_LABELS = {"physical-ai/gpu-driver": "grid", "nvidia.com/gpu.deploy.driver": "false"}
GRID = {"nodeLabels": GRID_LABELS, "gpuProfile": {"driver": "None"}}
AKS_LABELS = {
    "physical-ai/gpu-driver": "aks",
    "nvidia.com/gpu.deploy.driver": "pre-installed",
    "nvidia.com/gpu-driver-upgrade.skip": "true",
}
OPERATOR = {"nodeLabels": {"physical-ai/gpu-driver": "operator"}, "gpuProfile": {"driver": "None"}}
SECURITY = {"enableSecureBoot": False, "enableVTPM": False}
BOUNDS = {"enableAutoScaling": True, "minCount": 0}
RTX = "Standard_NC144ds_xl_RTXPRO6000BSE_v6"


def agent(**selector: Any) -> Resource:
    """A DaemonSet whose node selector has the given labels."""
    inputs = {"spec": {"template": {"spec": {"nodeSelector": selector["labels"]}}}}
    return Resource(DAEMON_SET, "agent", inputs, urn="agent")


OPERATOR_RELEASE = Resource(RELEASE, "operator", {"name": GPU_OPERATOR}, urn="operator")
DRIVER = Resource(NVIDIA_DRIVER, "driver", {}, urn="driver")


def gpu_pool(name: str, os_sku: str) -> Resource:
    """A GPU node pool with the node image `os_sku`."""
    return Resource(AGENT_POOL, name, {"gpuProfile": {"driver": "None"}, "osSKU": os_sku}, urn=name)


TWO_SYSTEMS = (gpu_pool("h100", "Ubuntu"), gpu_pool("rtx", "Ubuntu2204"), OPERATOR_RELEASE)

EXAMPLES: dict[str, list[Example]] = {
    "driver-source": [
        Example(AGENT_POOL, GRID, {"nodeLabels": {"physical-ai/gpu-driver": "grid"}}),
        Example(AGENT_POOL, GRID, {"gpuProfile": {"driver": "Install"}}),
        Example(AGENT_POOL, OPERATOR, {"nodeLabels": {**GRID_LABELS, "physical-ai/gpu-driver": "operator"}}),
        Example(AGENT_POOL, OPERATOR, {"nodeLabels": {"physical-ai/gpu-driver": "nvidia"}}),
        Example(AGENT_POOL, OPERATOR, {"nodeLabels": None}),
        Example(
            AGENT_POOL,
            {"nodeLabels": AKS_LABELS, "gpuProfile": {"driver": "Install"}},
            {"nodeLabels": {**AKS_LABELS, "nvidia.com/gpu-driver-upgrade.skip": "false"}},
        ),
        # A pool without GPUs needs no driver source.
        Example(AGENT_POOL, {"nodeLabels": {}}, {"gpuProfile": {"driver": "None"}}),
    ],
    "grid-agent": [
        Example(AGENT_POOL, GRID, others=(agent(labels={"physical-ai/gpu-driver": "grid"}),), bad_others=()),
        Example(AGENT_POOL, OPERATOR, GRID, others=(agent(labels={"physical-ai/gpu-driver": "operator"}),)),
    ],
    "vgpu-boot": [
        Example(AGENT_POOL, {**GRID, "securityProfile": SECURITY}, {"securityProfile": {"enableSecureBoot": False}}),
        Example(
            AGENT_POOL,
            {**GRID, "securityProfile": SECURITY},
            {"securityProfile": {"enableSecureBoot": True, "enableVTPM": False}},
        ),
    ],
    "node-os": [
        Example(AGENT_POOL, {"vmSize": RTX, "osSKU": "Ubuntu"}, {"osSKU": "AzureLinux"}),
        Example(
            MANAGED_CLUSTER,
            {"agentPoolProfiles": [{"vmSize": "Standard_D4ds_v5", "osSKU": "AzureLinux"}]},
            {"agentPoolProfiles": [{"vmSize": RTX, "osSKU": "AzureLinux"}]},
        ),
    ],
    "ubuntu2204-ends": [
        Example(AGENT_POOL, {"osSKU": "Ubuntu2204", "orchestratorVersion": "1.36"}, {"orchestratorVersion": "1.37"}),
        Example(AGENT_POOL, {"osSKU": "Ubuntu", "orchestratorVersion": "1.37.2"}, {"osSKU": "Ubuntu2204"}),
    ],
    "one-node-os": [
        Example(MANAGED_CLUSTER, others=(*TWO_SYSTEMS, DRIVER), bad_others=TWO_SYSTEMS),
        Example(
            MANAGED_CLUSTER,
            others=(gpu_pool("h100", "Ubuntu"), gpu_pool("rtx", "Ubuntu"), OPERATOR_RELEASE),
            bad_others=TWO_SYSTEMS,
        ),
    ],
    "driver-type": [
        Example(
            AGENT_POOL,
            {"osType": "Linux", "gpuProfile": {"driver": "Install"}},
            {"gpuProfile": {"driver": "Install", "driverType": "GRID"}},
        ),
        Example(AGENT_POOL, {"osType": "Windows", "gpuProfile": {"driverType": "GRID"}}, {"osType": None}),
    ],
    "count-in-bounds": [
        Example(AGENT_POOL, {**BOUNDS, "maxCount": 4, "count": 1}, {"count": 5}),
        Example(AGENT_POOL, {"enableAutoScaling": True, "minCount": 1, "maxCount": 1}, {"minCount": 2}),
        Example(AGENT_POOL, {"enableAutoScaling": False, "count": 2}, {"maxCount": 4}),
        Example(
            AGENT_POOL, {"enableAutoScaling": True, "minCount": 0, "maxCount": UNKNOWN, "count": 9}, {"maxCount": 8}
        ),
    ],
    "size-current": [
        Example(AGENT_POOL, {"vmSize": RTX}, {"vmSize": "Standard_NC128ds_xl_RTXPRO6000BSE_v6"}),
    ],
    "lasting-taints": [
        Example(
            AGENT_POOL,
            {"nodeTaints": ["nvidia.com/gpu=present:NoSchedule"]},
            {"nodeInitializationTaints": ["nvidia.com/gpu=present:NoSchedule"]},
        ),
    ],
}
