"""Settings of the data services that OSMO's control plane uses.

Omitted settings follow from the environment and the region: `physical_ai.settings.facts.data_services`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from parts.in_cluster_data.model import InCluster
from physical_ai.settings.models.base import Generation, Model, written

PostgresVersion = Literal["15", "16", "17", "18"]
"""Major version of PostgreSQL; OSMO 6.3 needs 15 or later."""
PostgresSize = Annotated[
    str,
    written(
        r"^Standard_(B|D|E)[0-9]{1,2}[a-z]*(_v[0-9])?$",
        "a compute size of PostgreSQL Flexible Server, like Standard_D2ds_v5",
    ),
]
StorageGb = Literal[32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32767]
HighAvailability = Literal["none", "sameZone", "zoneRedundant"]
RedisSize = Annotated[
    str,
    written(
        r"^(Balanced_B|MemoryOptimized_M|ComputeOptimized_X)[0-9]{1,4}$",
        "a size of Azure Managed Redis, like Balanced_B5",
    ),
]
Redundancy = Literal["LRS", "ZRS", "GRS", "GZRS"]
RegistryHost = Annotated[
    str, written(r"^[a-z0-9-]+(\.[a-z0-9-]+)+$", "the host name of a container registry, like nvcr.io")
]
ImportedImage = Annotated[
    str,
    written(
        r"^[a-z0-9-]+(\.[a-z0-9-]+)+/[a-z0-9._/-]+:[A-Za-z0-9_.-]+(@sha256:[0-9a-f]{64})?$",
        "an image with its registry and tag, like docker.io/library/alpine:3.20",
    ),
]
Days = Annotated[int, Field(ge=1, le=36500)]


class Restore(Model):
    """Settings of a second database server, restored to a point in time, which OSMO's control plane then uses."""

    at: Annotated[
        str,
        written(
            r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z$",
            "a time in UTC, in quotes, like '2026-11-20T08:00:00Z'",
        ),
    ] = Field(description="The point in time, in UTC and in quotes; at most backupDays ago when the server is made.")
    source: (
        Annotated[
            str,
            written(
                r"^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.DBforPostgreSQL/flexibleServers/[^/]+$",
                "the ARM id of a PostgreSQL flexible server",
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="ARM id of the server to restore, such as one of a deleted stack; its key has to be this stack's"
        " secret osmoMek. Absent: the stack's own server.",
    )
    standby: bool = Field(
        default=False,
        description="Azure restores a server without a standby. True, in a later deployment: highAvailability applies.",
    )


class Postgres(Model):
    """Settings of the database: Azure Database for PostgreSQL, Flexible Server."""

    version: PostgresVersion = Field(default="16", description="Major version, in quotes. It can be raised later.")
    size: PostgresSize | None = Field(
        default=None,
        description="Compute size: B is burstable, D general purpose, E memory optimized. Absent: Standard_D2ds_v5, or"
        " an older generation in a region that does not offer it.",
    )
    storage_gb: StorageGb = Field(default=128, description="Storage in GiB; it can grow and never shrinks.")
    high_availability: HighAvailability | None = Field(
        default=None,
        description="A standby server: zoneRedundant in another zone, sameZone beside it. Absent: in production"
        " zoneRedundant where the region is known to offer it to new servers, otherwise sameZone; none elsewhere.",
    )
    backup_days: Annotated[int, Field(ge=7, le=35)] | None = Field(
        default=None,
        description="Days for which any point in time can be restored. Absent: 35 in production, otherwise 7.",
    )
    geo_backup: bool | None = Field(
        default=None,
        description="Keep a copy of the backups in the paired region; fixed at creation. Absent: in production only,"
        " where the region is known to offer it.",
    )
    password_generation: Generation = Field(
        default=1, description="Raise it by one to replace the password of the administrator."
    )
    restore: Restore | None = Field(
        default=None, description="Use the database as it was at a point in time: docs/data-services.md."
    )


class Redis(Model):
    """Settings of the cache: Azure Managed Redis."""

    size: RedisSize = Field(
        default="Balanced_B5", description="Size; the number is about the memory in GB. It can be raised later."
    )
    high_availability: bool | None = Field(
        default=None, description="A replica; it cannot be removed later. Absent: in production only."
    )
    key: Literal["primary", "secondary"] = Field(
        default="primary", description="The access key in use. To rotate: change to the other key, renew this one."
    )


class Storage(Model):
    """Settings of the storage account, which has containers for data, logs and apps. Logins are by Entra only."""

    redundancy: Redundancy | None = Field(
        default=None,
        description="Copies of the data: LRS in one zone, ZRS in several, GRS and GZRS also in the paired region."
        " Absent: in production ZRS where the region has zones; otherwise LRS.",
    )
    hierarchical_namespace: bool = Field(
        default=False, description="Folders with rights of their own (Data Lake Storage); fixed at creation."
    )
    soft_delete_days: Annotated[int, Field(ge=1, le=365)] = Field(
        default=7, description="Days for which deleted blobs and containers can be restored."
    )
    cool_data_after_days: Days | None = Field(
        default=None, description="Move data to the cool tier after so many days without a change; absent: never."
    )
    delete_logs_after_days: Days = Field(
        default=90, description="Delete logs of workflows so many days after the last change."
    )


class Vault(Model):
    """Settings of the key vault, which uses Azure RBAC."""

    retention_days: Annotated[int, Field(ge=7, le=90)] | None = Field(
        default=None,
        description="Days for which a deleted vault and its secrets can be recovered; fixed at creation. Absent: 90 in"
        " production, otherwise 7.",
    )
    purge_protection: bool | None = Field(
        default=None,
        description="A deleted vault cannot be purged within its retention days. Cannot be turned off again. Absent: in"
        " production only.",
    )


class Registry(Model):
    """Settings of the container registry through which nodes pull images. It caches images of other registries."""

    sku: Literal["Standard", "Premium"] | None = Field(
        default=None,
        description="Premium has private endpoints, zones and export control. Absent: Premium in production and where"
        " network.mode is not public; otherwise Standard.",
    )
    upstreams: tuple[RegistryHost, ...] = Field(
        default=("nvcr.io", "ghcr.io", "quay.io", "registry.k8s.io"),
        description="Registries whose images it caches, each below its own host name, without a login.",
    )
    imported: tuple[ImportedImage, ...] = Field(
        default=(),
        description="Images that you import with `az acr import` under their full name, since no upstream has them"
        " without a login: `physai check` prints the commands.",
    )
    only: bool = Field(
        default=False,
        description="Pods pull images from this registry only, but for those of AKS: the image of another registry is"
        " replaced by the one below its host name, which the registry caches or which was imported. From Kubernetes"
        " 1.36.",
    )


class DataServices(Model):
    """Settings of OSMO's database, cache, storage, secret vault and image registry."""

    source: Literal["azure", "inCluster"] = Field(
        description="azure: managed services of Azure, beside the cluster. inCluster: Pods with volumes, for"
        " development and clusters without a cloud; no vault and no registry."
    )
    deletion: str | None = Field(
        default=None,
        description="Consent to the deletion of data: with protect: false, database, storage, vault, registry and"
        " generated secrets of a production stack are deleted only if this says `delete the data of <stack>`.",
    )
    postgres: Postgres = Field(default_factory=Postgres, description="Database.")
    redis: Redis = Field(default_factory=Redis, description="Cache.")
    storage: Storage = Field(default_factory=Storage, description="Storage for data, logs and apps.")
    vault: Vault = Field(default_factory=Vault, description="Vault for the secrets of the platform.")
    registry: Registry = Field(default_factory=Registry, description="Registry for images.")
    in_cluster: InCluster = Field(
        default_factory=InCluster,
        description="Sizes and volumes with source: inCluster, where postgres to registry do not apply.",
    )

    @property
    def is_in_cluster(self) -> bool:
        """True where database, cache and storage are Pods of the cluster."""
        return self.source == "inCluster"
