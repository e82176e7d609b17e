"""Settings of data services in the cluster: database, cache and storage as Pods with volumes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from parts.in_cluster_data.names import REGISTRY
from physical_ai.settings.models.base import Generation, Model, written

StorageClassName = Annotated[
    str,
    written(r"^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$", "the name of a class in the cluster, like managed-csi-premium"),
]
SnapshotTime = Annotated[
    str, written(r"^20[0-9]{6}-[0-9]{4}$", "the time of a snapshot as its name has it, like 20261123-0217")
]
CronSchedule = Annotated[
    str,
    written(r"^[0-9*,/-]+( [0-9*,/-]+){4}$", 'a schedule in quotes, like "17 2 * * *" for 02:17 UTC each day'),
]
MirrorHost = Annotated[
    str,
    written(
        r"^[a-z0-9.-]+(:[0-9]{1,5})?(/[a-z0-9._-]+)*$", "a registry, like docker.io or registry.example.com/mirror"
    ),
]
Cpus = Annotated[float, Field(ge=0.1, le=64)]
MemoryGb = Annotated[int, Field(ge=1, le=512)]


class InClusterPostgres(Model):
    """Settings of the database in the cluster: PostgreSQL 16."""

    storage_gb: Annotated[int, Field(ge=4, le=32767)] = Field(
        default=32, description="Volume in GiB; it never shrinks."
    )
    memory_gb: MemoryGb = Field(default=1, description="Memory in GiB.")
    cpus: Cpus = Field(default=0.5, description="CPUs that are reserved; it may use more.")


class InClusterCache(Model):
    """Settings of the cache in the cluster: Valkey, which writes every change to its volume."""

    storage_gb: Annotated[int, Field(ge=4, le=32767)] = Field(
        default=8, description="Volume in GiB, at least four times the memory; it never shrinks."
    )
    memory_gb: MemoryGb = Field(default=1, description="Memory in GiB; three quarters of it for data.")
    cpus: Cpus = Field(default=0.1, description="CPUs that are reserved; it may use more.")


class InClusterStorage(Model):
    """Settings of the storage in the cluster: SeaweedFS with its S3 gateway, and one bucket each for data, logs and
    apps.
    """

    storage_gb: Annotated[int, Field(ge=64, le=32767)] = Field(
        default=256, description="Volume in GiB for all buckets; it never shrinks."
    )
    memory_gb: MemoryGb = Field(default=2, description="Memory in GiB.")
    cpus: Cpus = Field(default=0.5, description="CPUs that are reserved; it may use more.")


class Snapshots(Model):
    """Settings of the volumes' snapshots, which the cluster takes on a schedule."""

    enabled: bool = Field(default=True, description="Take snapshots; the cluster needs a CSI driver that can.")
    class_name: StorageClassName | None = Field(
        default=None,
        description="A VolumeSnapshotClass that exists, such as Longhorn's. Absent: the deployment creates one for"
        " disks of AKS.",
    )
    schedule: CronSchedule = Field(default="17 2 * * *", description="Schedule in UTC.")
    keep: Annotated[int, Field(ge=1, le=100)] = Field(
        default=7,
        description="Number of snapshots of each volume that are kept; older ones are deleted once a new one is"
        " complete.",
    )


class InCluster(Model):
    """Database, cache and storage in the cluster: for development, and where there is no cloud."""

    accept_one_pod: bool = Field(
        default=False,
        description="Production accepts one Pod with one volume for each service: OSMO is unavailable while its node"
        " is drained or lost.",
    )
    storage_class: StorageClassName | None = Field(
        default=None, description="StorageClass of the volumes. Absent: the cluster's default class."
    )
    registry: MirrorHost = Field(
        default=REGISTRY, description="Registry that the images are pulled from: Docker Hub, or a mirror of it."
    )
    key_generation: Generation = Field(
        default=1, description="Raise it by one to replace all passwords and keys of these services."
    )
    restores: tuple[SnapshotTime, ...] = Field(
        default=(),
        description="Times of snapshots that new volumes were made of. The last is in use; the others stay.",
    )
    snapshots: Snapshots = Field(default_factory=Snapshots, description="Snapshots of the volumes.")
    postgres: InClusterPostgres = Field(default_factory=InClusterPostgres, description="Database.")
    cache: InClusterCache = Field(default_factory=InClusterCache, description="Cache.")
    storage: InClusterStorage = Field(default_factory=InClusterStorage, description="Storage.")
