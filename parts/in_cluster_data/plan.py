"""The Kubernetes objects of data services in the cluster: the manifests, completed for a stack."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from parts.in_cluster_data import names
from parts.in_cluster_data.facts import (
    BUCKETS,
    Volume,
    in_cluster,
    storage_url,
    volumes,
    volumes_in_use,
)
from parts.in_cluster_data.model import InCluster, InClusterCache, InClusterPostgres, InClusterStorage
from parts.part import PartPlan, Planned
from physical_ai.catalog import osmo
from physical_ai.catalog.images import MICROSOFT, PYTHON_IMAGE, image
from physical_ai.planning import agents, manifests
from physical_ai.settings.facts.data_services import data_protected
from physical_ai.settings.facts.pools import services_placement
from physical_ai.settings.models.tree import Settings

NAME = "in_cluster_data"
GENERATION = "physical-ai/key-generation"
"""Annotation with the key generation, on Pods that read passwords only when they start. A new generation changes the
annotation, which restarts the Pods.
"""
AGENT = "data_snapshots"
"""Folder in `agents/`, and Python package, of the program that takes snapshots."""
SNAPSHOTS = "data-snapshots"
MEMORY_FOR_DATA = 3 / 4


@dataclass(frozen=True)
class InClusterObjects:
    """Objects of the data services, in the order in which they are declared.

    Secrets are missing here because their values are random; the component declares them before the Pods.
    """

    account: Mapping[str, Any]
    services: Sequence[Mapping[str, Any]]
    claims: Sequence[Mapping[str, Any]]
    stateful_sets: Sequence[Mapping[str, Any]]
    snapshots: SnapshotObjects | None
    """Objects that take snapshots; None where the settings disable snapshots."""


@dataclass(frozen=True)
class SnapshotObjects:
    """Objects that take snapshots. `snapshot_class` is None if the settings name an existing VolumeSnapshotClass."""

    rights: Sequence[Mapping[str, Any]]
    config_map: Mapping[str, Any]
    cron_job: Mapping[str, Any]
    snapshot_class: Mapping[str, Any] | None


@dataclass(frozen=True, kw_only=True)
class InClusterPlan(PartPlan):
    """Plan of the data services in the cluster: it has Kubernetes objects, and no Helm releases.

    With `protected`, volumes and generated secrets are protected from deletion, whatever the component's options say.
    """

    settings: InCluster
    objects: InClusterObjects
    protected: bool


def in_cluster_plan(settings: Settings, _root: FilePath) -> Planned:
    """Plan of the data services for a stack, and an empty list of faults; the plan is None where the data services are
    elsewhere.
    """
    given, objects = in_cluster(settings), in_cluster_objects(settings)
    if given is None or objects is None:
        return None, []
    plan = InClusterPlan(releases=(), settings=given, objects=objects, protected=data_protected(settings))
    return plan, []


def in_cluster_objects(settings: Settings) -> InClusterObjects | None:
    """Kubernetes objects of the data services in the stack's cluster; None if the stack has no data services in the
    cluster.
    """
    given = in_cluster(settings)
    if given is None:
        return None
    objects = manifests.load_of(NAME, "services.yaml")
    stateful_sets = [each for each in objects if each["kind"] == "StatefulSet"]
    for each in stateful_sets:
        _complete(each, given, settings)
    return InClusterObjects(
        account=next(each for each in objects if each["kind"] == "ServiceAccount"),
        services=[each for each in objects if each["kind"] == "Service"],
        claims=[_claim(each, given) for each in volumes(given)],
        stateful_sets=stateful_sets,
        snapshots=_snapshots(given, settings) if given.snapshots.enabled else None,
    )


def _complete(item: dict[str, Any], given: InCluster, settings: Settings) -> None:
    service = str(item["metadata"]["name"])
    template = item["spec"]["template"]
    template["metadata"]["annotations"] = {GENERATION: str(given.key_generation)}
    pod = template["spec"]
    pod |= services_placement(settings)
    (container,) = pod["containers"]
    container["image"] = image(names.IMAGES[service]).at(given.registry)
    container["resources"] = _resources(_sizes(given)[service])
    for variable in container.get("env", ()):
        if variable["name"] == "BUCKETS":
            variable["value"] = " ".join(BUCKETS)
    (data,) = (volume for volume in pod["volumes"] if volume["name"] == "data")
    data["persistentVolumeClaim"]["claimName"] = volumes_in_use(given)[service].name


def _sizes(given: InCluster) -> dict[str, InClusterPostgres | InClusterCache | InClusterStorage]:
    return {names.POSTGRES: given.postgres, names.CACHE: given.cache, names.STORAGE: given.storage}


def _resources(size: InClusterPostgres | InClusterCache | InClusterStorage) -> dict[str, Any]:
    memory = f"{size.memory_gb}Gi"
    # Without a memory limit, a single workflow's query could take all of the node's memory. There is no CPU limit:
    # unused CPU may be used.
    return {"requests": {"cpu": f"{round(size.cpus * 1000)}m", "memory": memory}, "limits": {"memory": memory}}


def _claim(volume: Volume, given: InCluster) -> dict[str, Any]:
    source = {"apiGroup": names.SNAPSHOT_API, "kind": "VolumeSnapshot", "name": volume.snapshot}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {
            "name": volume.name,
            "namespace": osmo.CONTROL_NAMESPACE,
            "labels": {"app.kubernetes.io/name": volume.service, "app.kubernetes.io/part-of": "physical-ai"},
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            **({"storageClassName": given.storage_class} if given.storage_class else {}),
            **({"dataSource": source} if volume.is_restored else {}),
            "resources": {"requests": {"storage": f"{volume.storage_gb}Gi"}},
        },
    }


def _snapshots(given: InCluster, settings: Settings) -> SnapshotObjects:
    program = agents.Program(f"{SNAPSHOTS}-agent", f"physical-ai-{SNAPSHOTS}", agents.package(AGENT))
    *rights, cron_job = copy.deepcopy(manifests.load_of(NAME, "snapshots.yaml"))
    own = given.snapshots.class_name is None
    cron_job["spec"]["schedule"] = given.snapshots.schedule
    cron_job["spec"]["timeZone"] = "Etc/UTC"
    pod = cron_job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    pod |= services_placement(settings)
    (container,) = pod["containers"]
    container["image"] = image(PYTHON_IMAGE).at(MICROSOFT)
    container["args"] = [
        f"--namespace={osmo.CONTROL_NAMESPACE}",
        f"--class={names.SNAPSHOT_CLASS if own else given.snapshots.class_name}",
        f"--keep={given.snapshots.keep}",
        *(f"--volume={service}={volume.name}" for service, volume in volumes_in_use(given).items()),
    ]
    program.mount(pod)
    config_map = program.config_map(osmo.CONTROL_NAMESPACE, cron_job["metadata"]["labels"])
    snapshot_class: dict[str, Any] = {
        "apiVersion": f"{names.SNAPSHOT_API}/{names.SNAPSHOT_VERSION}",
        "kind": "VolumeSnapshotClass",
        "metadata": {"name": names.SNAPSHOT_CLASS},
        "driver": names.AKS_DRIVER,
        # Old snapshots are deleted by deleting their VolumeSnapshot objects.
        "deletionPolicy": "Delete",
    }
    return SnapshotObjects(rights, config_map, cron_job, snapshot_class if own else None)


def cache_config(given: InCluster, password: str) -> str:
    """Valkey's configuration file: a password, every change written to the volume, and eviction of expiring keys, the
    least used first.
    """
    lines = {
        "bind": "* -::*",
        "port": str(names.PORTS[names.CACHE]),
        "dir": "/data",
        "requirepass": password,
        "appendonly": "yes",
        "appendfsync": "everysec",
        "maxmemory": f"{int(given.cache.memory_gb * 1024 * MEMORY_FOR_DATA)}mb",
        "maxmemory-policy": "volatile-lru",
    }
    return "".join(f"{key} {value}\n" for key, value in lines.items())


def identities(keys: Mapping[str, tuple[str, str]]) -> str:
    """SeaweedFS's configuration of identities: one for each bucket, which may read and write this bucket only.

    Args:
        keys: Id and secret of each bucket's key, by bucket.
    """
    rights = ("Read", "Write", "List", "Tagging")
    found = [
        {
            "name": bucket,
            "credentials": [{"accessKey": key_id, "secretKey": secret}],
            "actions": [f"{right}:{bucket}" for right in rights],
        }
        for bucket, (key_id, secret) in keys.items()
    ]
    return json.dumps({"identities": found})


def credential(bucket: str, key_id: str, secret: str) -> str:
    """Content of the Secret with OSMO's access to a bucket. It is JSON, which is YAML too."""
    return json.dumps(
        {
            "endpoint": f"s3://{bucket}",
            "override_url": storage_url(),
            "region": names.REGION,
            "access_key_id": key_id,
            "access_key": secret,
        }
    )
