"""Labels that the operator sets on nodes. They determine which operands run on a node, and the operator can overwrite
labels that a user has set.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.cluster.objects import Changes, Labels, at, labels
from simulator.gpu import names
from simulator.gpu.release import Release

CONTAINER, VM_PASSTHROUGH, VM_VGPU = "container", "vm-passthrough", "vm-vgpu"

WORKLOADS: Mapping[str, tuple[str, ...]] = {
    CONTAINER: (
        "driver",
        "gpu-feature-discovery",
        "container-toolkit",
        "device-plugin",
        "dcgm",
        "dcgm-exporter",
        "node-status-exporter",
        "operator-validator",
    ),
    VM_PASSTHROUGH: ("sandbox-device-plugin", "sandbox-validator", "vfio-manager", "kata-manager", "cc-manager"),
    VM_VGPU: ("sandbox-device-plugin", "vgpu-manager", "vgpu-device-manager", "sandbox-validator", "cc-manager"),
}
"""Operands that run for each workload type of a node's GPUs; each has a label `nvidia.com/gpu.deploy.<operand>`."""


def is_gpu_node(given: Labels) -> bool:
    """True if NFD's labels show an NVIDIA GPU."""
    return any(given.get(label) == "true" for label in names.GPU_PCI)


def is_managed(given: Labels) -> bool:
    """True if the operator manages the node."""
    return given.get(names.PRESENT) == "true"


def operands_off(given: Labels) -> bool:
    return given.get(names.OPERANDS) == "false"


def workload(spec: Mapping[str, Any], given: Labels) -> str:
    """Workload type of the node's GPUs: the type in the node's label, or else the ClusterPolicy's default type. Always
    `container` if the ClusterPolicy has not enabled sandbox workloads.
    """
    if at(spec, "sandboxWorkloads.enabled", False) is not True:
        return CONTAINER
    wish = given.get(names.WORKLOAD_CONFIG, "")
    return wish if wish in WORKLOADS else str(at(spec, "sandboxWorkloads.defaultWorkload", CONTAINER))


def is_mig_capable(given: Labels) -> bool:
    """True if the GPUs support MIG, according to GFD's label. Until GFD has set the label, the product's name decides.

    A vGPU guest does not support MIG.
    """
    if given.get(names.VGPU_HOST_DRIVER):
        return False
    if names.MIG_CAPABLE in given:
        return given[names.MIG_CAPABLE] == "true"
    product = given.get(names.PRODUCT, "").lower()
    return any(model in product for model in names.MIG_CAPABLE_PRODUCTS)


def deploy_labels(found: Release) -> set[str]:
    """Every label that controls where an operand runs, except the one that turns all operands off."""
    operands = {operand for group in WORKLOADS.values() for operand in group}
    return {f"{names.DEPLOY}{operand}" for operand in (*operands, *found.labelling.every_workload, "mig-manager")}


def _wanted(found: Release, purpose: str) -> set[str]:
    return {f"{names.DEPLOY}{operand}" for operand in (*WORKLOADS[purpose], *found.labelling.every_workload)}


def _deployed(found: Release, spec: Mapping[str, Any], given: Labels) -> Changes:
    """Changes of the deploy labels of a managed GPU node. Labels that do not belong to the node's workload type are
    removed, and missing labels are set to `true`. A MIG-capable node can also get the label `nvidia.com/mig.config`.
    """
    purpose = workload(spec, given)
    wanted = _wanted(found, purpose)
    kept = {*wanted, names.DEPLOY_MIG_MANAGER} if purpose == CONTAINER else wanted
    changes: Changes = dict.fromkeys(sorted((deploy_labels(found) - kept) & given.keys()))
    for label in sorted(wanted):
        if label not in given or (found.labelling.restores_empty and given[label] == ""):
            changes[label] = "true"
    if purpose == CONTAINER and is_mig_capable(given):
        if not given.get(names.DEPLOY_MIG_MANAGER):
            changes[names.DEPLOY_MIG_MANAGER] = "true"
        if not given.get(names.MIG_CONFIG) and _disables_mig(spec):
            changes[names.MIG_CONFIG] = "all-disabled"
    return changes


def _disables_mig(spec: Mapping[str, Any]) -> bool:
    """True if the MIG manager is enabled and its default layout is `all-disabled`. Nodes without a MIG layout then get
    the layout `all-disabled`.
    """
    return at(spec, "migManager.enabled", True) is True and at(spec, "migManager.config.default") == "all-disabled"


def node_labels(found: Release, spec: Mapping[str, Any], given: Labels) -> Changes:
    """Label changes of one node by one labelling pass.

    A deploy label that exists keeps its value. So `gpu.deploy.driver=false` works until something removes the label;
    the operator then sets the label to `true` again (NVIDIA/gpu-operator#2288). Deploy labels are removed if the PCI
    label is lost, if the operands are switched off, or if the workload type changes. A release that strips unlabelled
    nodes also removes them in any pass before NFD has labelled the node.
    """
    stripped: Changes = dict.fromkeys(sorted(deploy_labels(found) & given.keys()))
    if not is_gpu_node(given):
        if is_managed(given):
            return {names.PRESENT: "false", **stripped}
        return stripped if found.labelling.strips_unlabelled else {}
    changes: Changes = {} if is_managed(given) else {names.PRESENT: "true"}
    if operands_off(given):
        return {**changes, **stripped}
    return {**changes, **_deployed(found, spec, given)}


def labelling_pass(found: Release, spec: Mapping[str, Any], nodes: Mapping[str, Any]) -> dict[str, Changes]:
    """Label changes of one labelling pass, by node. A pass covers all nodes, even if only one node has started the
    pass.
    """
    return {
        name: changes for name, node in sorted(nodes.items()) if (changes := node_labels(found, spec, labels(node)))
    }


def starts_pass(found: Release, spec: Mapping[str, Any], before: Labels | None, after: Labels | None) -> bool:
    """True if the change of one node starts a labelling pass. `before` is None for a new node, `after` is None for a
    deleted node.

    No pass starts when a node joins that NFD has not labelled yet, or when only labels change that the operator does
    not read.
    """
    if after is None:
        return found.notices_deleted_nodes and before is not None and is_gpu_node(before)
    if before is None:
        return is_gpu_node(after)
    if is_gpu_node(after) != is_managed(after):
        return True
    return (
        operands_off(before) != operands_off(after)
        or workload({"sandboxWorkloads": {"enabled": True}}, before)
        != workload({"sandboxWorkloads": {"enabled": True}}, after)
        or (is_mig_capable(after) and not after.get(names.DEPLOY_MIG_MANAGER))
    )
