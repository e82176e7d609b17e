"""What it costs to replace or delete a resource, in words: nodes, drivers, minutes, data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from physical_ai.cli.preview.changes import Step
from physical_ai.settings.facts.pools import DRIVER_LABEL

NODE_MINUTES = 10
"""What AKS takes at least to bring up a cluster, and as long again for GPU nodes (docs/simulator.md, "Time")."""
NO_DRAIN = "What runs there ends without a drain."
"""AKS drains nodes for upgrades, not when it deletes their pool (AKS docs, delete-node-pool)."""
DRIVERS: Mapping[str, str] = {
    "operator": "the GPU Operator builds its driver anew on each",
    "grid": "the GRID agent installs its driver anew on each",
    "aks": "their driver comes with the node image",
}
"""What happens on a new node of a pool, by the pool's driver source."""
LOST: Mapping[str, str] = {
    "azure-native:containerservice:ManagedCluster": "Everything in the cluster goes with it.",
    "azure-native:resources:ResourceGroup": "Everything in the group goes with it.",
    "azure-native:operationalinsights:Workspace": "The logs in it are lost.",
    "azure-native:network:VirtualNetwork": "Everything attached to it has to go first.",
    "azure-native:network:Subnet": "Everything attached to it has to go first.",
    "azure-native:network:PublicIPAddress": "The address changes: allow lists elsewhere no longer fit.",
    "azure-native:managedidentity:UserAssignedIdentity": "Its ids change: grants made elsewhere no longer fit.",
    "azure-native:storage:StorageAccount": "The data in it is lost.",
    "azure-native:containerregistry:Registry": "The images in it are lost.",
    "azure-native:keyvault:Vault": "The keys and secrets in it are lost, or locked until it is purged.",
    "azure-native:dbforpostgresql:Server": "The databases in it are lost.",
    "azure-native:redis:Redis": "The data in it is lost.",
    "kubernetes:core/v1:Namespace": "Every object in the namespace goes with it.",
    "kubernetes:core/v1:PersistentVolumeClaim": "The data on the volume may be lost.",
    "kubernetes:apps/v1:StatefulSet": "Its pods end; its volumes stay.",
    "kubernetes:helm.sh/v3:Release": "Nothing of the release runs until it is installed again.",
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": "Every object of its kind goes with it.",
    "kubernetes:nvidia.com/v1alpha1:NVIDIADriver": "GPU pods of its nodes end while the driver is installed anew.",
    "kubernetes:nvidia.com/v1:ClusterPolicy": "GPU pods end while drivers and toolkit are installed anew.",
}
"""What holds state or drives GPUs, by type token, and what is lost with it."""
DRIVER_PROPERTIES = ("spec.version", "spec.image", "spec.repository", "spec.kernelModuleType")
"""Of an NVIDIADriver: what makes the GPU Operator install the driver again, node by node."""


def impact(step: Step, nodes_lost: int, driver_minutes: int) -> list[str]:
    """What a change costs, as sentences; empty for one that costs nothing but the change itself.

    Args:
        nodes_lost: nodes that go with the resource.
        driver_minutes: how long an `up` waits for GPUs at most; 0 for no wait.
    """
    if step.op == "update":
        return _driver_update(step)
    if step.op not in ("replace", "delete"):
        return []
    sentences: list[str] = []
    if step.kind in ("AgentPool", "ManagedCluster"):
        most = f", up to {step.old['maxCount']} while they are in use" if step.old.get("enableAutoScaling") else ""
        sentences += [f"{nodes_lost} {'node' if nodes_lost == 1 else 'nodes'} lost{most}.", NO_DRAIN]
    if step.op == "replace" and step.kind in ("AgentPool", "ManagedCluster"):
        sentences += _comes_back(step, driver_minutes)
    if step.type in LOST:
        sentences.append(LOST[step.type])
    return sentences


def is_grave(step: Step) -> bool:
    """Whether the change takes away state or GPUs: what a reviewer should not overlook."""
    return step.op in ("replace", "delete") and (step.kind == "AgentPool" or step.type in LOST)


def _comes_back(step: Step, driver_minutes: int) -> list[str]:
    back = [f"New nodes take {NODE_MINUTES} minutes or more, and capacity may not come back at once."]
    labels: Mapping[str, str] = step.new.get("nodeLabels") or {}
    source = labels.get(DRIVER_LABEL, "")
    if source in DRIVERS:
        bound = f"; `up` waits up to {driver_minutes} minutes for the GPUs" if driver_minutes else ""
        back.append(f"Then {DRIVERS[source]}{bound}.")
    return back


def _driver_update(step: Step) -> list[str]:
    if step.kind != "NVIDIADriver" or not _touches(step.properties, DRIVER_PROPERTIES):
        return []
    return ["The driver is installed anew, node by node; GPU pods of the node in turn end."]


def _touches(paths: Sequence[str], names: Sequence[str]) -> bool:
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for path in paths for name in names)
