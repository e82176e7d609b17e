"""Rules about data services in the cluster: whether the cluster has the resources for them, and which settings have no
effect because they are for Azure's data services.
"""

from __future__ import annotations

from collections.abc import Iterator

from parts.in_cluster_data.model import InCluster
from parts.in_cluster_data.names import AKS_DISK_CLASSES, AKS_FILE_CLASSES
from physical_ai.settings.facts.data_services import PRODUCTION
from physical_ai.settings.facts.network_access import private_api_server, private_endpoints
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.data_services import DataServices, Postgres, Redis, Registry, Storage, Vault
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

SETTING: Path = ("dataServices", "inCluster")
_SOURCE: Path = ("dataServices", "source")
CACHE_VOLUME_FACTOR = 4
"""Smallest allowed ratio of the cache's volume to the cache's memory.

Valkey's log of changes grows to twice the size of the data before Valkey rewrites it. During the rewrite, the old and
the new log are both on the volume.
"""

ONE_POD = Rule("data-one-pod", "docs/data-services.md#in-the-cluster")
DISKS = Rule("data-disks", "AKS docs, concepts-storage; PostgreSQL docs, creating a database cluster, file systems")
CACHE_VOLUME = Rule("cache-volume", "Valkey docs, persistence, append-only file")
REMOTE_STORAGE = Rule("remote-storage", "docs/data-services.md#in-the-cluster")


def check_in_cluster(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about data services in the cluster. If the stack uses Azure's data services, the only
    finding is a warning about settings under `inCluster`, which have no effect.
    """
    given = settings.data_services
    if given is None or not trust(("dataServices",)):
        return
    if not given.is_in_cluster:
        if given.in_cluster != InCluster():
            yield warning(SETTING, "The stack's data services are Azure's.", "source: inCluster.", others=(_SOURCE,))
        return
    yield from _availability(settings, given.in_cluster)
    yield from _volumes(given.in_cluster)
    yield from _unused(given)
    yield from _network(settings)
    if not settings.osmo.installs_service:
        problem = "These data services are for a control plane in the cluster. The stack has none: they are left out."
        yield warning(_SOURCE, problem, "mode: platform.", others=(("osmo", "mode"),))


def _availability(settings: Settings, given: InCluster) -> Iterator[SettingFinding]:
    setting = (*SETTING, "acceptOnePod")
    if settings.environment != PRODUCTION:
        if given.accept_one_pod:
            yield warning(setting, "It is about production only.", "Remove it.")
        return
    if not given.accept_one_pod:
        problem = "Each data service in the cluster is one Pod with one volume, without a standby."
        fix = "source: azure, or acceptOnePod: true: OSMO is unavailable while its node is drained or lost."
        yield error(setting, problem, fix, others=(_SOURCE,), rule=ONE_POD)
    if not given.snapshots.enabled:
        problem = "Production would have no copy of its database, of workflows' data and of users' credentials."
        yield error((*SETTING, "snapshots", "enabled"), problem, "enabled: true.", rule=ONE_POD)


def _volumes(given: InCluster) -> Iterator[SettingFinding]:
    here, name = (*SETTING, "storageClass"), given.storage_class
    if name in AKS_FILE_CLASSES:
        problem = f"The volumes of {name} are file shares, which a database cannot rely on."
        yield error(here, problem, f"One of {', '.join(sorted(AKS_DISK_CLASSES))}.", rule=DISKS)
    elif name not in {None, *AKS_DISK_CLASSES} and given.snapshots.enabled and given.snapshots.class_name is None:
        problem = f"Snapshots of {name}, which AKS does not create, need the class of its own driver."
        fix = "className: the VolumeSnapshotClass of that driver, or enabled: false."
        yield error((*SETTING, "snapshots", "className"), problem, fix, others=(here,), rule=DISKS)
    if given.cache.storage_gb < CACHE_VOLUME_FACTOR * given.cache.memory_gb:
        needed = CACHE_VOLUME_FACTOR * given.cache.memory_gb
        problem = (
            f"The cache writes its data of up to {given.cache.memory_gb} GiB again, in addition to its log of changes."
        )
        yield error((*SETTING, "cache", "storageGb"), problem, f"storageGb: {needed}.", rule=CACHE_VOLUME)
    if not given.snapshots.enabled and given.restores:
        problem = "A volume cannot be made of a snapshot where there are none."
        yield error((*SETTING, "snapshots", "enabled"), problem, "enabled: true.", others=((*SETTING, "restores"),))
    if len(set(given.restores)) < len(given.restores):
        yield error((*SETTING, "restores"), "A snapshot is listed twice.", "List each once; the last is in use.")


def _unused(given: DataServices) -> Iterator[SettingFinding]:
    """Errors about settings of Azure's managed services that have no counterpart in the cluster, and so would have no
    effect.
    """
    sections = {
        "postgres": given.postgres != Postgres(),
        "redis": given.redis != Redis(),
        "storage": given.storage != Storage(),
        "vault": given.vault != Vault(),
        "registry": given.registry != Registry(),
    }
    for name, is_set in sections.items():
        if is_set:
            problem = f"{name} is about a managed service, and the stack's data services are in the cluster."
            fix = "Remove it; inCluster has their sizes, snapshots and keys."
            yield error(("dataServices", name), problem, fix, others=(_SOURCE,))


def _network(settings: Settings) -> Iterator[SettingFinding]:
    if private_endpoints(settings) and not private_api_server(settings):
        problem = "hybrid gives data services private endpoints, and Pods of the cluster have none."
        yield warning(("network", "mode"), problem, "mode: public, or private.", others=(_SOURCE,))
    if settings.osmo.backends:
        problem = "Tasks in other clusters cannot reach storage in this one: it has an address inside the cluster only."
        fix = "source: azure, or remove the backends."
        yield error(("osmo", "backends"), problem, fix, others=(_SOURCE,), rule=REMOTE_STORAGE)
