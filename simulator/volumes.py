"""Disks of a simulated cluster, as AKS's disk driver creates them: classes, volumes for claims, snapshots.

Kubernetes' own controllers and scheduler do the rest: they select the node, bind claim and volume, and protect both. A
claim whose class, source or size the driver refuses stays Pending, with an event of the driver.
"""

from __future__ import annotations

from typing import Any

from simulator.azure.own_facts import DISK_DRIVER, SNAPSHOT_API, SNAPSHOT_VERSION
from simulator.cluster.definitions import definition
from simulator.cluster.loop import Loop
from simulator.cluster.objects import Json, annotations_of, at, name, timestamp
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from simulator.kubernetes.definitions import DEFINITIONS

MANAGER = "disk-csi"
CLASSES = {"default": "StandardSSD_LRS", "managed-csi": "StandardSSD_LRS", "managed-csi-premium": "Premium_LRS"}
"""Storage classes, with the kind of disk of each (AKS docs, concepts-storage; from memory, page not opened)."""
SELECTED = "volume.kubernetes.io/selected-node"
DEFAULT = "storageclass.kubernetes.io/is-default-class"
SNAPSHOTS = f"/apis/{SNAPSHOT_API}/{SNAPSHOT_VERSION}/volumesnapshots"
SNAPSHOT_CLASSES = f"/apis/{SNAPSHOT_API}/{SNAPSHOT_VERSION}/volumesnapshotclasses"
_OPEN: Json = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_KINDS = {"VolumeSnapshot": "Namespaced", "VolumeSnapshotClass": "Cluster"}


def classes() -> list[Json]:
    """The StorageClasses that AKS creates."""
    return [
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": each, "annotations": {DEFAULT: "true"} if each == "default" else {}},
            "provisioner": DISK_DRIVER,
            "parameters": {"skuName": kind},
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowVolumeExpansion": True,
        }
        for each, kind in CLASSES.items()
    ]


def definitions() -> list[Json]:
    """The CustomResourceDefinitions for volume snapshots, with the fields that a program sees
    (kubernetes-csi/external-snapshotter, client/config/crd).
    """
    return [_definition(kind, scope) for kind, scope in _KINDS.items()]


def _definition(kind: str, scope: str) -> Json:
    plural = f"{kind.lower()}es" if kind.endswith("s") else f"{kind.lower()}s"
    policy = {"type": "string", "enum": ["Delete", "Retain"]}
    fields: Json = (
        {"driver": {"type": "string"}, "deletionPolicy": policy, "parameters": _OPEN}
        if scope == "Cluster"
        else {"spec": {**_OPEN, "required": ["source"]}, "status": _OPEN}
    )
    schema: Json = {"type": "object", "properties": fields}
    schema["required"] = ["driver", "deletionPolicy"] if scope == "Cluster" else ["spec"]
    made = definition(SNAPSHOT_API, "v1", kind, plural, schema, scope=scope)
    approval = "https://github.com/kubernetes-csi/external-snapshotter"
    made["metadata"]["annotations"] = {"api-approved.kubernetes.io": approval}
    if scope == "Namespaced":
        made["spec"]["versions"][0]["subresources"] = {"status": {}}
    return made


def refusal(claim: Json, snapshots: dict[tuple[str, str], Json]) -> str:
    """Reason why the driver creates no volume for a claim; empty if it does."""
    source = at(claim, "spec.dataSource")
    if not source:
        return ""
    found = snapshots.get((str(at(claim, "metadata.namespace")), str(source.get("name"))))
    if found is None:
        return f"error getting snapshot {source.get('name')} from api server: not found"
    if at(found, "status.readyToUse") is not True:
        return f"snapshot {source.get('name')} is not Ready"
    return ""


def volume(claim: Json) -> Json:
    """The PersistentVolume for a claim, bound to the claim."""
    uid = str(at(claim, "metadata.uid"))
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": name(claim), "uid": uid}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pvc-{uid}", "annotations": {"pv.kubernetes.io/provisioned-by": DISK_DRIVER}},
        "spec": {
            "capacity": {"storage": at(claim, "spec.resources.requests.storage")},
            "accessModes": at(claim, "spec.accessModes"),
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": at(claim, "spec.storageClassName"),
            "volumeMode": "Filesystem",
            "claimRef": {**reference, "namespace": at(claim, "metadata.namespace")},
            "csi": {"driver": DISK_DRIVER, "volumeHandle": f"disks/pvc-{uid}", "fsType": "ext4"},
        },
    }


class Volumes:
    """Simulation of AKS's disk driver for one cluster; `loop` runs it."""

    def __init__(self, client: Client) -> None:
        self._client, self._installed = client, False
        self.loop = Loop("volumes", self.round)
        self._claims = Watch(client, "/api/v1/persistentvolumeclaims", self.loop.wake)
        self._volumes = Watch(client, "/api/v1/persistentvolumes", self.loop.wake)
        self._snapshots: Watch | None = None

    def round(self) -> float | None:
        """Runs one round. The first round installs the objects that AKS creates itself; every round creates the volumes
        and snapshots that are asked for. Returns None: the next round is needed only after a change.
        """
        if not self._installed:
            for item in classes():
                self._apply(f"/apis/storage.k8s.io/v1/storageclasses/{name(item)}", item)
            for item in definitions():
                self._apply(f"{DEFINITIONS}/{name(item)}", item)
            self._snapshots = Watch(self._client, SNAPSHOTS, self.loop.wake)
            self._installed = True
        snapshots = {_key(item): item for item in (self._snapshots.all() if self._snapshots else [])}
        for item in self._claims.all():
            if at(item, "status.phase") == "Pending" and at(item, "spec.storageClassName") in CLASSES:
                self._serve(item, snapshots)
        for item in self._volumes.all():
            if at(item, "status.phase") in ("Released", "Failed") and at(item, "spec.csi.driver") == DISK_DRIVER:
                self._delete(f"/api/v1/persistentvolumes/{name(item)}")
        bound = {_key(item) for item in self._claims.all() if at(item, "status.phase") == "Bound"}
        for item in snapshots.values():
            if at(item, "status.readyToUse") is not True:
                self._snapshot(item, bound)
        return None

    def _serve(self, claim: Json, snapshots: dict[tuple[str, str], Json]) -> None:
        if SELECTED in annotations_of(claim) and not refusal(claim, snapshots):
            item = volume(claim)
            self._apply(f"/api/v1/persistentvolumes/{name(item)}", item)

    def _snapshot(self, item: Json, bound: set[tuple[str, str]]) -> None:
        space, source = _key(item)[0], str(at(item, "spec.source.persistentVolumeClaimName", ""))
        wanted = at(item, "spec.volumeSnapshotClassName")
        problem = ""
        if self._client.find(f"{SNAPSHOT_CLASSES}/{wanted}") is None:
            problem = f"failed to get input parameters: volumesnapshotclass {wanted} not found"
        elif (space, source) not in bound:
            problem = f"the PVC {source} is not yet bound to a PV"
        status: Json = {"readyToUse": True, "creationTime": timestamp()}
        if problem:
            status = {"readyToUse": False, "error": {"message": problem}}
        if at(item, "status") != status:
            path = f"/apis/{SNAPSHOT_API}/{SNAPSHOT_VERSION}/namespaces/{space}/volumesnapshots/{name(item)}/status"
            self._client.patch(path, {"status": status}, MERGE_PATCH)

    def _apply(self, path: str, item: Json) -> None:
        self._client.patch(path, item, APPLY_PATCH, {"fieldManager": MANAGER, "force": "true"})

    def _delete(self, path: str) -> None:
        try:
            self._client.request("DELETE", path)
        except ApiError as refused:
            if refused.code != 404:
                raise


def _key(item: Any) -> tuple[str, str]:
    return str(at(item, "metadata.namespace", "")), name(item)
