"""Sentences about the impact of a change on nodes, drivers and data, and the minutes that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from physical_ai.catalog.charts import retracted_charts
from physical_ai.catalog.osmo import KAI_RELEASE
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.planning.release_upgrade import installed_version
from workbench.cli.changes import Step
from workbench.impact.ways import way_named, way_of

MAY_BE_SAME = "Updated only if a value that is not known yet turns out to be another one."
NO_DRAIN = "Pods on them end without a drain."
"""Sentence about the Pods on the nodes of a deleted pool. AKS drains nodes for an upgrade, but not when it deletes
their pool (AKS docs, delete-node-pool).
"""
DRIVERS: Mapping[str, str] = {
    "operator": "the GPU Operator installs the driver on each",
    "grid": "the GRID agent installs the driver on each",
    "aks": "the driver is part of their node image",
}
"""End of a sentence about a pool's new nodes, by driver source. It says where the driver on these nodes comes from."""
LOST: Mapping[str, str] = {
    "azure-native:containerservice:ManagedCluster": "Everything in the cluster is deleted with it.",
    "azure-native:resources:ResourceGroup": "Everything in the group is deleted with it.",
    "azure-native:operationalinsights:Workspace": "The logs in it are lost.",
    "azure-native:network:VirtualNetwork": "Everything attached to it has to be deleted first.",
    "azure-native:network:Subnet": "Everything attached to it has to be deleted first.",
    "azure-native:network:PublicIPAddress": "The address changes: update allow lists elsewhere.",
    "azure-native:managedidentity:UserAssignedIdentity": "Its ids change: repeat role assignments made elsewhere.",
    "azure-native:storage:StorageAccount": "The data in it is lost.",
    "azure-native:containerregistry:Registry": "The images in it are lost.",
    "azure-native:keyvault:Vault": "The keys and secrets in it are lost, or unavailable until it is purged.",
    "azure-native:dbforpostgresql:Server": "The databases in it are lost.",
    "azure-native:redis:Redis": "The data in it is lost.",
    "kubernetes:core/v1:Namespace": "Every object in the namespace is deleted with it.",
    "kubernetes:core/v1:PersistentVolumeClaim": "The data on the volume may be lost.",
    "kubernetes:apps/v1:StatefulSet": "Its pods are deleted; its volumes are kept.",
    "kubernetes:helm.sh/v3:Release": "No Pod of the release runs until it is installed again.",
    "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition": "Every object of its kind is deleted with it.",
    "kubernetes:nvidia.com/v1alpha1:NVIDIADriver": "GPU pods on its nodes end while the driver is installed again.",
    "kubernetes:nvidia.com/v1:ClusterPolicy": "GPU pods end while drivers and toolkit are installed again.",
}
"""Sentence about what is lost with a resource, by type token, for types that hold state or drive GPUs."""
RESTARTS: Mapping[str, str] = {
    KAI_RELEASE: "KAI's operator restarts, and then all that it runs: running Pods stay; for about a minute, Pods for"
    " the scheduler kai-scheduler are neither admitted nor placed, and a workflow that starts then can fail.",
}
"""Sentence about the restarts that another version of a chart causes, by the release's name."""


def impact(step: Step, nodes_lost: int, driver_minutes: int) -> list[str]:
    """Sentences about what a change deletes, restarts or installs again; empty if it does none of these.

    Args:
        nodes_lost: Number of nodes that are deleted with the resource.
        driver_minutes: Longest time in minutes that `up` waits for GPUs; 0 if it does not wait.
    """
    if step.op == "update":
        return [MAY_BE_SAME] if step.may_be_same else [*_driver_update(step), *_release_update(step)]
    if step.op not in ("replace", "delete"):
        return []
    sentences: list[str] = []
    if step.kind in ("AgentPool", "ManagedCluster"):
        most = f", up to {step.old['maxCount']} while they are in use" if step.old.get("enableAutoScaling") else ""
        sentences += [f"{nodes_lost} {'node' if nodes_lost == 1 else 'nodes'} lost{most}.", NO_DRAIN]
    if step.op == "replace" and step.kind in ("AgentPool", "ManagedCluster"):
        sentences += _new_nodes(step, driver_minutes)
    if step.type in LOST:
        sentences.append(LOST[step.type])
    return sentences


def is_disruptive(step: Step) -> bool:
    """True if the change deletes state or GPUs, which a reviewer should not overlook."""
    return step.op in ("replace", "delete") and (step.kind == "AgentPool" or step.type in LOST)


def _new_nodes(step: Step, driver_minutes: int) -> list[str]:
    least, most = way_named("pool-replaced").minutes
    sentences = [f"New nodes take {least:g} to {most:g} minutes, and capacity may not be available immediately."]
    labels: Mapping[str, str] = step.new.get("nodeLabels") or {}
    source = labels.get(DRIVER_LABEL, "")
    if source in DRIVERS:
        bound = f"; `up` waits up to {driver_minutes} minutes for the GPUs" if driver_minutes else ""
        sentences.append(f"Then {DRIVERS[source]}{bound}.")
    return sentences


def _driver_update(step: Step) -> list[str]:
    way = way_of(step)
    if way is None or way.way != "driver-installed":
        return []
    return ["The driver is installed again, node by node; GPU pods on each node end."]


def _release_update(step: Step) -> list[str]:
    """Sentences about the restarts that another version of a chart causes, and about a newer version whose number is
    lower.
    """
    if step.kind != "Release" or not _touches(step.properties, ("version", "chart", "repositoryOpts")):
        return []
    name, before, after = str(step.new.get("name")), installed_version(step.old), installed_version(step.new)
    if before is None or after is None or before == after:
        return []
    found = [RESTARTS[name]] if name in RESTARTS else []
    if taken_back := retracted_charts().get((name, before)):
        found.append(f"{before} was retracted ({taken_back.reason}): the change to {after} is no downgrade.")
    return found


def _touches(paths: Sequence[str], names: Sequence[str]) -> bool:
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for path in paths for name in names)
