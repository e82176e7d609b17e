"""The Network Operator: values of its chart, and the NicClusterPolicy that says what it installs on which nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from parts.network_operator import names
from parts.network_operator.model import NetworkOperator
from parts.network_operator.networks import address_pools, macvlan_networks
from parts.part import PartPlan, Planned, ReleasePlan
from physical_ai.catalog.charts import chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.fabric import fabric_pools
from physical_ai.settings.facts.gpu import tolerations_of
from physical_ai.settings.facts.pools import pool_selector, services_placement
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

FILE = f"network_operator/{names.CHART}-values.yaml"
RELEASE = "release"
"""Key of the plan's only release."""
_OTHER = "nothing: the policy uses adapters as the node has them"
OWNED = {
    # Two instances of Node Feature Discovery label the same nodes, and each removes the other's labels
    # (NVIDIA/gpu-operator#782).
    "nfd.enabled": "nothing: the GPU Operator brings Node Feature Discovery, and a cluster has one",
    "sriovNetworkOperator": _OTHER,
    "maintenanceOperator": _OTHER,
    "operator.nodeSelector": "cpuPool",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""


def network_operator_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of the part for a stack, and the faults of the user's values file; the plan is None without
    `networkOperator`.

    After the release come the NicClusterPolicy, and then the addresses and networks of Pods.
    """
    operator = settings.network_operator
    if operator is None:
        return None, []
    pinned = chart(names.CHART, operator.version)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, chart_values(settings))
    release = ReleasePlan(key=RELEASE, name=names.RELEASE, namespaces=(names.NAMESPACE,), chart=pinned, values=values)
    policy = {
        "apiVersion": names.API_VERSION,
        "kind": names.KIND,
        "metadata": {"name": names.POLICY},
        "spec": policy_spec(settings, operator),
    }
    pools = (
        {
            "apiVersion": names.POOL_API_VERSION,
            "kind": names.POOL_KIND,
            "metadata": {"name": name, "namespace": names.NAMESPACE},
            "spec": spec,
        }
        for name, spec in address_pools(settings, operator).items()
    )
    networks = (
        {"apiVersion": names.API_VERSION, "kind": names.NETWORK_KIND, "metadata": {"name": name}, "spec": spec}
        for name, spec in macvlan_networks(operator).items()
    )
    return PartPlan((release,), after=(policy, *pools, *networks)), faults


def chart_values(settings: Settings) -> dict[str, Any]:
    """Values that the program sets in the operator's chart, before the user's values file is added."""
    return {
        "nfd": {"enabled": False},
        "sriovNetworkOperator": {"enabled": False},
        "maintenanceOperator": {"enabled": False},
        "operator": services_placement(settings),
    }


def policy_spec(settings: Settings, operator: NetworkOperator) -> dict[str, Any]:
    """Spec of the NicClusterPolicy: drivers and device plugins on pools with a fabric and on no other nodes.

    The label of network cards alone would select every node with accelerated networking too, and the driver container
    would restart the only network of such a node.
    """
    pools = fabric_pools(settings)
    spec: dict[str, Any] = {
        "nodeAffinity": _on_pools(pools),
        "tolerations": tolerations_of(settings, pools.values()),
    }
    release = operator.version
    if pools and operator.ofed_driver == "container":
        spec["ofedDriver"] = _ofed(release)
    if pools and operator.device_plugin == "shared":
        spec["rdmaSharedDevicePlugin"] = {
            **names.component_image(release, "k8s-rdma-shared-dev-plugin"),
            "config": json.dumps({"configList": [_shared()]}),
        }
    elif pools and operator.device_plugin == "sriov":
        spec["sriovDevicePlugin"] = {
            **names.component_image(release, "sriov-network-device-plugin"),
            "config": json.dumps({"resourceList": [_functions()]}),
        }
    if operator.secondary_network:
        spec["secondaryNetwork"] = {
            "multus": names.component_image(release, "multus-cni"),
            "cniPlugins": names.component_image(release, "plugins"),
        }
    if operator.nv_ipam:
        spec["nvIpam"] = names.component_image(release, "nvidia-k8s-ipam")
    return spec


def _on_pools(pools: Mapping[str, Pool]) -> dict[str, Any]:
    expressions: list[dict[str, Any]] = [{"key": names.NIC_LABEL, "operator": "In", "values": ["true"]}]
    # A pool's nodes may carry its name in several labels; all nodes of a cluster use the same ones.
    for label in sorted({key for name, pool in pools.items() for key in pool_selector(name, pool)}):
        expressions.insert(0, {"key": label, "operator": "In", "values": list(pools)})
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    }


def _ofed(release: str) -> dict[str, Any]:
    """Section of the NicClusterPolicy about the OFED driver.

    After a change of version, one node at a time gets the new driver, and only when the GPU Pods on the node have ended
    by themselves. The operator's examples drain nodes by force, which would end training jobs.
    """
    return {
        **names.ofed_image(release),
        "env": [dict(names.OFED_BLACKLIST)],
        "upgradePolicy": {"autoUpgrade": False, "maxParallelUpgrades": 1},
    }


def _shared() -> dict[str, Any]:
    prefix, _, name = names.SHARED_RESOURCE.partition("/")
    return {
        "resourcePrefix": prefix,
        "resourceName": name,
        "rdmaHcaMax": names.SHARED_PODS,
        "selectors": _selectors(),
    }


def _functions() -> dict[str, Any]:
    prefix, _, name = names.VF_RESOURCE.partition("/")
    return {"resourcePrefix": prefix, "resourceName": name, "selectors": {**_selectors(), "isRdma": True}}


def _selectors() -> dict[str, Any]:
    """Selectors of InfiniBand devices.

    They exclude the adapter for accelerated networking, an Ethernet device of the same vendor.
    """
    return {"vendors": [names.VENDOR], "linkTypes": ["infiniband"]}
