"""The Network Operator: values of its chart, and the NicClusterPolicy that says what it installs on which nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog import network_operator as catalog
from physical_ai.catalog.charts import Chart, chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.planning.pod_networks import address_pools, macvlan_networks
from physical_ai.settings.facts.fabric import fabric_pools
from physical_ai.settings.facts.gpu import tolerations_of
from physical_ai.settings.facts.pools import pool_selector, services_placement
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.network_operator import NetworkOperator
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

FILE = f"{catalog.CHART}/values.yaml"
_OTHER = "nothing: the policy uses adapters as the node has them"
OWNED = {
    # Two of them label the same nodes, and each removes what the other one has found (NVIDIA/gpu-operator#782).
    "nfd.enabled": "nothing: the GPU Operator brings Node Feature Discovery, and a cluster has one",
    "sriovNetworkOperator": _OTHER,
    "maintenanceOperator": _OTHER,
    "operator.nodeSelector": "cpuPool",
}
"""Keys that the file may not set, with what to change instead."""


@dataclass(frozen=True)
class NetworkOperatorPlan:
    """What is installed with `networkOperator`."""

    chart: Chart
    values: Mapping[str, Any]
    policy: Mapping[str, Any]
    """Spec of the NicClusterPolicy."""
    address_pools: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    networks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """Specs of IPPools and MacvlanNetworks, by name."""


def network_operator_plan(settings: Settings, root: FilePath) -> tuple[NetworkOperatorPlan | None, list[Fault]]:
    """The plan of a stack, and what is wrong with the values file; None without `networkOperator`."""
    operator = settings.network_operator
    if operator is None:
        return None, []
    pinned = chart(catalog.CHART, operator.version)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, chart_values(settings))
    policy, pools = policy_spec(settings, operator), address_pools(settings, operator)
    return NetworkOperatorPlan(pinned, values, policy, pools, macvlan_networks(operator)), faults


def chart_values(settings: Settings) -> dict[str, Any]:
    """The values that follow from settings alone."""
    return {
        "nfd": {"enabled": False},
        "sriovNetworkOperator": {"enabled": False},
        "maintenanceOperator": {"enabled": False},
        "operator": services_placement(settings),
    }


def policy_spec(settings: Settings, operator: NetworkOperator) -> dict[str, Any]:
    """What the operator installs: drivers and device plugins on the pools with a fabric and nowhere else.

    The label of network cards alone would take in every node with accelerated networking, whose only network the driver
    container would restart.
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
            **catalog.component_image(release, "k8s-rdma-shared-dev-plugin"),
            "config": json.dumps({"configList": [_shared()]}),
        }
    elif pools and operator.device_plugin == "sriov":
        spec["sriovDevicePlugin"] = {
            **catalog.component_image(release, "sriov-network-device-plugin"),
            "config": json.dumps({"resourceList": [_functions()]}),
        }
    if operator.secondary_network:
        spec["secondaryNetwork"] = {
            "multus": catalog.component_image(release, "multus-cni"),
            "cniPlugins": catalog.component_image(release, "plugins"),
        }
    if operator.nv_ipam:
        spec["nvIpam"] = catalog.component_image(release, "nvidia-k8s-ipam")
    return spec


def _on_pools(pools: Mapping[str, Pool]) -> dict[str, Any]:
    expressions: list[dict[str, Any]] = [{"key": catalog.NIC_LABEL, "operator": "In", "values": ["true"]}]
    # One label names the pool on all nodes of a cluster.
    for label in sorted({key for name, pool in pools.items() for key in pool_selector(name, pool)}):
        expressions.insert(0, {"key": label, "operator": "In", "values": list(pools)})
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    }


def _ofed(release: str) -> dict[str, Any]:
    """One node at a time gets another driver, and only once its GPU Pods have gone by themselves: a drain by force, as
    the operator's examples have it, would end training."""
    return {
        **catalog.ofed_image(release),
        "env": [dict(catalog.OFED_BLACKLIST)],
        "upgradePolicy": {"autoUpgrade": False, "maxParallelUpgrades": 1},
    }


def _shared() -> dict[str, Any]:
    prefix, _, name = catalog.SHARED_RESOURCE.partition("/")
    return {
        "resourcePrefix": prefix,
        "resourceName": name,
        "rdmaHcaMax": catalog.SHARED_PODS,
        "selectors": _selectors(),
    }


def _functions() -> dict[str, Any]:
    prefix, _, name = catalog.VF_RESOURCE.partition("/")
    return {"resourcePrefix": prefix, "resourceName": name, "selectors": {**_selectors(), "isRdma": True}}


def _selectors() -> dict[str, Any]:
    """Not the adapter of accelerated networking, which is of the same vendor and has Ethernet for its link."""
    return {"vendors": [catalog.VENDOR], "linkTypes": ["infiniband"]}
