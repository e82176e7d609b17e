"""Objects that the Network Operator creates for a NicClusterPolicy. Pure functions over plain objects."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from simulator.cluster.names import DRIVER_WAIT_LABEL, NIC_LABEL
from simulator.cluster.objects import Json, at, digest, labels, name
from simulator.gpu.hardware import of_node
from simulator.network_operator.names import NAMESPACE, POLICY, VENDOR

STATE_LABEL = "nvidia.network-operator.state"
OS_ID, OS_VERSION = (f"feature.node.kubernetes.io/system-os_release.{key}" for key in ("ID", "VERSION_ID"))
OFED, SHARED, SRIOV, MULTUS, CNI, IPAM = (
    "state-OFED",
    "state-RDMA-device-plugin",
    "state-SRIOV-device-plugin",
    "state-multus-cni",
    "state-container-networking-plugins",
    "state-nv-ipam-cni",
)
_GPU_TOLERATION: Json = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def has_cards(node: Mapping[str, Any]) -> bool:
    """True if Node Feature Discovery has found one of NVIDIA's network cards on the node."""
    return labels(node).get(NIC_LABEL) == "true"


def daemonsets(policy: Json, nodes: Iterable[Json]) -> list[Json]:
    """All DaemonSets that the operator creates for a policy. For the OFED driver, it creates one DaemonSet for each
    operating system of the nodes.
    """
    spec: Json = at(policy, "spec", {})
    found: list[Json] = []
    if driver := spec.get("ofedDriver"):
        systems = {(labels(node).get(OS_ID), labels(node).get(OS_VERSION)) for node in nodes if has_cards(node)}
        for system, version in sorted((str(a), str(b)) for a, b in systems if a and b):
            # The genuine name has a digest of the kernel; the driver's version is not in it, so a new one is an update.
            key = f"mofed-{system}{version}-{digest([system, version])}-ds"
            image = f"{_image(driver)}-{system}{version}-amd64"
            selector = {NIC_LABEL: "true", OS_ID: system, OS_VERSION: version}
            found.append(_daemonset(policy, OFED, key, container="mofed-container", image=image, selector=selector))
    ready = {NIC_LABEL: "true", DRIVER_WAIT_LABEL: "false"}
    plain: tuple[tuple[str, str, str, str, dict[str, str]], ...] = (
        ("rdmaSharedDevicePlugin", SHARED, "rdma-shared-dp-ds", "rdma-shared-dp", ready),
        ("sriovDevicePlugin", SRIOV, "network-operator-sriov-device-plugin", "kube-sriovdp", ready),
        ("secondaryNetwork.multus", MULTUS, "kube-multus-ds", "kube-multus", {}),
        ("secondaryNetwork.cniPlugins", CNI, "cni-plugins-ds", "cni-plugins", {}),
        ("nvIpam", IPAM, "nv-ipam-node", "node", {}),
    )
    for field, state, key, container, selector in plain:
        if section := at(spec, field):
            found.append(_daemonset(policy, state, key, container=container, image=_image(section), selector=selector))
    return found


def _image(section: Mapping[str, Any]) -> str:
    return f"{section['repository']}/{section['image']}:{section['version']}"


def _daemonset(policy: Json, state: str, key: str, *, container: str, image: str, selector: Mapping[str, str]) -> Json:
    spec: Json = at(policy, "spec", {})
    marks = {"app": key, STATE_LABEL: state}
    pod: Json = {
        "nodeSelector": dict(selector),
        "tolerations": [_GPU_TOLERATION, *spec.get("tolerations", [])],
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "containers": [{"name": container, "image": image, "securityContext": {"privileged": True}}],
    }
    if affinity := spec.get("nodeAffinity"):
        pod["affinity"] = {"nodeAffinity": affinity}
    reference = {"apiVersion": "mellanox.com/v1alpha1", "kind": "NicClusterPolicy", "name": name(policy)}
    owner = {**reference, "uid": at(policy, "metadata.uid", ""), "controller": True, "blockOwnerDeletion": True}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": key, "namespace": NAMESPACE, "labels": marks, "ownerReferences": [owner]},
        "spec": {
            "selector": {"matchLabels": {"app": key}},
            "updateStrategy": {"type": "OnDelete" if state == OFED else "RollingUpdate"},
            "template": {"metadata": {"labels": marks}, "spec": pod},
        },
    }


def wait_labels(policy: Json | None, nodes: Iterable[Json], drivers: Mapping[str, bool]) -> dict[str, str]:
    """New values, by node, of the label that device plugins wait for. Nodes whose label is right are left out.

    Args:
        policy: The policy in effect; None after its deletion.
        nodes: All nodes of the cluster.
        drivers: Readiness of the OFED driver's Pod, by node; nodes without such a Pod are missing.
    """
    installs = bool(at(policy or {}, "spec.ofedDriver"))
    wanted: dict[str, str] = {}
    for node in nodes:
        key = name(node)
        if installs and key in drivers:
            value = "false" if drivers[key] else "true"
        elif not installs and has_cards(node):
            value = "true" if key in drivers else "false"
        else:
            continue
        if labels(node).get(DRIVER_WAIT_LABEL) != value:
            wanted[key] = value
    return wanted


def resources(policy: Json, node: Json, plugins: Iterable[str]) -> dict[str, int]:
    """Resources that the device plugins on a node offer. `plugins`: names of the operator states whose device plugins
    run on the node.

    A plugin whose configuration is not JSON, or whose selectors match no adapter, offers nothing.
    """
    hardware, found = of_node(node), dict[str, int]()
    adapters = hardware.adapters if hardware is not None else 0
    for state, field, listed in (
        (SHARED, "rdmaSharedDevicePlugin", "configList"),
        (SRIOV, "sriovDevicePlugin", "resourceList"),
    ):
        for each in _entries(str(at(policy, f"spec.{field}.config", "")), listed) if state in plugins else ():
            selectors: Mapping[str, Any] = each.get("selectors", {})
            fits = VENDOR in selectors.get("vendors", [VENDOR]) and "infiniband" in selectors.get(
                "linkTypes", ["infiniband"]
            )
            count = int(each.get("rdmaHcaMax", 0)) if state == SHARED else adapters
            prefix = each.get("resourcePrefix", "rdma" if state == SHARED else "nvidia.com")
            found[f"{prefix}/{each['resourceName']}"] = count if fits and adapters else 0
    return found


def _entries(config: str, listed: str) -> list[Mapping[str, Any]]:
    try:
        document = json.loads(config)
    except ValueError:
        return []
    return list(cast("Mapping[str, Any]", document).get(listed, [])) if isinstance(document, dict) else []


def status(policy: Json, wanted: Iterable[Json], live: Mapping[str, Json]) -> Json:
    """The status of a policy. `live`: the existing DaemonSets, by name."""
    if name(policy) != POLICY:
        reason = f"Unsupported NicClusterPolicy instance {name(policy)}. Only instance with name {POLICY} is supported"
        return {"state": "ignore", "reason": reason}
    applied: dict[str, str] = {}
    for item in wanted:
        state = str(labels(item)[STATE_LABEL])
        applied[state] = "ready" if _is_ready(live.get(name(item))) and applied.get(state) != "notReady" else "notReady"
    # The driver's state is there before any node has a card.
    if at(policy, "spec.ofedDriver"):
        applied.setdefault(OFED, "ready")
    whole = "ready" if all(each == "ready" for each in applied.values()) else "notReady"
    return {"state": whole, "appliedStates": [{"name": key, "state": each} for key, each in sorted(applied.items())]}


def _is_ready(item: Json | None) -> bool:
    given: Json = at(item or {}, "status", {})
    observed = int(given.get("observedGeneration", 0)) == int(at(item or {}, "metadata.generation", 1))
    return observed and int(given.get("numberReady", 0)) == int(given.get("desiredNumberScheduled", -1))
