"""Facts that follow from the settings of data services in the cluster: addresses, volumes, buckets, keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from parts.in_cluster_data.model import InCluster
from parts.in_cluster_data.names import CACHE, PORTS, POSTGRES, SERVICES, STORAGE
from physical_ai.catalog.osmo import CONTROL_NAMESPACE, CREDENTIAL_SECRETS
from physical_ai.settings.models.tree import Settings

BUCKETS: Mapping[str, str] = {"data": "workflow_data", "logs": "workflow_log", "apps": "workflow_app"}
"""Names of the S3 buckets, each with the section of OSMO's configuration that refers to the bucket."""


@dataclass(frozen=True)
class Volume:
    """A PersistentVolumeClaim of a data service.

    `snapshot`: name of the snapshot from which the volume is restored; None for a volume that starts empty.
    """

    service: str
    name: str
    storage_gb: int
    snapshot: str | None

    @property
    def is_restored(self) -> bool:
        return self.snapshot is not None


def in_cluster(settings: Settings) -> InCluster | None:
    """Settings of the data services in the cluster. None if the stack has no control plane of OSMO, or if its data
    services are not in the cluster.
    """
    given = settings.data_services
    if given is None or not given.is_in_cluster or not settings.osmo.installs_service:
        return None
    return given.in_cluster


def host(service: str) -> str:
    """Host name of a service in the cluster.

    >>> host("osmo-cache")
    'osmo-cache.osmo-control-plane.svc.cluster.local'
    """
    return f"{service}.{CONTROL_NAMESPACE}.svc.cluster.local"


def storage_url() -> str:
    """Address of the S3 gateway. The gateway has no certificate and serves plain HTTP: only network policies protect it
    from other Pods.
    """
    return f"http://{host(STORAGE)}:{PORTS[STORAGE]}"


def credential_secret(bucket: str) -> str:
    """Name of the Secret from which OSMO reads the address and the key of a bucket."""
    return CREDENTIAL_SECRETS[BUCKETS[bucket]]


def volumes(given: InCluster) -> tuple[Volume, ...]:
    """All PersistentVolumeClaims of the data services. Each service has one volume that started empty, and one more for
    each restore from a snapshot. The last volume of a service is the one in use.
    """
    sizes = {
        POSTGRES: given.postgres.storage_gb,
        CACHE: given.cache.storage_gb,
        STORAGE: given.storage.storage_gb,
    }
    found: list[Volume] = []
    for service in SERVICES:
        found.append(Volume(service, service, sizes[service], None))
        names = [snapshot_name(service, time) for time in given.restores]
        found += [Volume(service, name, sizes[service], name) for name in names]
    return tuple(found)


def volumes_in_use(given: InCluster) -> dict[str, Volume]:
    """The PersistentVolumeClaim that the Pod of each service mounts, by service."""
    return {each.service: each for each in volumes(given)}


def snapshot_name(service: str, time: str) -> str:
    return f"{service}-{time}"
