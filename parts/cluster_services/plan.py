"""Longhorn and MetalLB: values of their charts, and the objects that follow their releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from parts.cluster_services import names
from parts.cluster_services.model import Longhorn, MetalLb
from parts.part import PartPlan, Planned, ReleasePlan
from physical_ai.catalog.charts import Chart, newest_chart
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.gpu import all_tolerations
from physical_ai.settings.faults import Fault
from physical_ai.settings.models.tree import Settings

TIMEOUT_SECONDS = 900
CONTROL_PLANE = {"key": names.CONTROL_PLANE_TAINT, "operator": "Exists", "effect": "NoSchedule"}
_EVERYWHERE = "nothing: it runs on every node that mounts volumes"
OWNED: Mapping[str, Mapping[str, str]] = {
    names.LONGHORN_CHART: {
        "persistence.defaultClass": "storage.longhorn.defaultClass",
        "persistence.defaultClassReplicaCount": "storage.longhorn.replicas",
        "persistence.reclaimPolicy": "storage.longhorn.reclaimPolicy",
        "defaultSettings.createDefaultDiskLabeledNodes": "nothing: storage.longhorn.nodes counts labeled nodes",
        "defaultSettings.defaultDataPath": "storage.longhorn.dataPath",
        "defaultSettings.defaultReplicaCount": "storage.longhorn.replicas",
        "defaultSettings.deletingConfirmationFlag": "storage.longhorn.deletable",
        "defaultSettings.taintToleration": "pools.<pool>.taints",
        "longhornManager.tolerations": _EVERYWHERE,
        "longhornDriver.tolerations": _EVERYWHERE,
    },
    names.METALLB_CHART: {
        "speaker.tolerations": "nothing: any node may announce an address",
        "controller.tolerations": "nothing: it may run on control planes",
        "speaker.frr.enabled": "nothing: addresses are announced by ARP",
        "frrk8s.enabled": "nothing: addresses are announced by ARP",
    },
}
"""Keys that the values files may not set, by chart, each with the setting to change instead."""


def cluster_services_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of storage and addresses, and the faults of the values files; the plan is None where the stack asks for
    neither.
    """
    found: list[ReleasePlan] = []
    faults: list[Fault] = []
    longhorn, metallb = settings.storage.longhorn, settings.load_balancer.metallb
    if longhorn is not None:
        release, wrong = _release(
            names.LONGHORN_RELEASE,
            names.LONGHORN_NAMESPACE,
            newest_chart(names.LONGHORN_CHART),
            root,
            longhorn_values(settings, longhorn),
        )
        found.append(replace(release, objects=(snapshot_class(),) if longhorn.snapshots else ()))
        faults += wrong
    if metallb is not None:
        release, wrong = _release(
            names.METALLB_RELEASE,
            names.METALLB_NAMESPACE,
            newest_chart(names.METALLB_CHART),
            root,
            metallb_values(settings),
        )
        found.append(replace(release, objects=address_objects(metallb)))
        faults += wrong
    return PartPlan(tuple(found)) if found else None, faults


def _release(
    name: str, namespace: str, pinned: Chart, root: FilePath, ours: Mapping[str, Any]
) -> tuple[ReleasePlan, list[Fault]]:
    file = f"cluster_services/{pinned.name}-values.yaml"
    values, faults = values_of_chart(root, file, pinned, OWNED[pinned.name], ours)
    return ReleasePlan(name, name, (namespace,), pinned, values, timeout_seconds=TIMEOUT_SECONDS), faults


def longhorn_values(settings: Settings, longhorn: Longhorn) -> dict[str, Any]:
    """Values of Longhorn's chart that follow from settings.

    Longhorn's manager runs on every node, GPU nodes included: volumes are attached where their Pods run. Replicas are
    on labeled nodes only.
    """
    tolerations = [CONTROL_PLANE, *all_tolerations(settings)]
    return {
        "persistence": {
            "defaultClass": longhorn.default_class,
            "defaultClassReplicaCount": longhorn.replicas,
            "reclaimPolicy": longhorn.reclaim_policy,
        },
        "defaultSettings": {
            "createDefaultDiskLabeledNodes": True,
            "defaultDataPath": longhorn.data_path,
            "defaultReplicaCount": longhorn.replicas,
            "deletingConfirmationFlag": longhorn.deletable,
            # Tolerations of the Pods that Longhorn itself creates: engines, share managers, the driver for volumes.
            "taintToleration": ";".join(f"{each['key']}:{each['effect']}" for each in tolerations),
        },
        "longhornManager": {"tolerations": tolerations},
        "longhornDriver": {"tolerations": tolerations},
    }


def snapshot_class() -> dict[str, Any]:
    """Manifest of the VolumeSnapshotClass. Longhorn stores its snapshots (`type: snap`) with the volume, and deletes
    them with the volume.
    """
    return {
        "apiVersion": "snapshot.storage.k8s.io/v1",
        "kind": "VolumeSnapshotClass",
        "metadata": {"name": names.SNAPSHOT_CLASS},
        "driver": names.LONGHORN_DRIVER,
        "deletionPolicy": "Delete",
        "parameters": {"type": "snap"},
    }


def metallb_values(settings: Settings) -> dict[str, Any]:
    """Values of MetalLB's chart that follow from settings: layer 2 alone, without the programs that speak BGP."""
    return {
        "controller": {"tolerations": [CONTROL_PLANE]},
        "speaker": {"tolerations": [CONTROL_PLANE, *all_tolerations(settings)], "frr": {"enabled": False}},
        "frrk8s": {"enabled": False},
    }


def address_objects(metallb: MetalLb) -> tuple[dict[str, Any], ...]:
    """Manifests of the address pool, and of the L2Advertisement that announces it."""
    metadata = {"name": names.ADDRESS_POOL, "namespace": names.METALLB_NAMESPACE}
    announced: dict[str, Any] = {"ipAddressPools": [names.ADDRESS_POOL]}
    if metallb.interfaces:
        announced["interfaces"] = list(metallb.interfaces)
    return (
        {
            "apiVersion": names.METALLB_API,
            "kind": "IPAddressPool",
            "metadata": metadata,
            "spec": {"addresses": list(metallb.addresses), "autoAssign": True, "avoidBuggyIPs": True},
        },
        {"apiVersion": names.METALLB_API, "kind": "L2Advertisement", "metadata": metadata, "spec": announced},
    )
