"""Costs of data services. The catalogue has no sourced price for them, so they are listed but not counted."""

from __future__ import annotations

from collections.abc import Iterator

from parts.in_cluster_data import facts as in_cluster
from physical_ai.settings import Settings
from physical_ai.settings.facts.data_services import data_facts
from workbench.costs.not_counted import NotCounted


def data_services(settings: Settings) -> Iterator[NotCounted]:
    """Costs of the data services that a stack uses; none for a stack without data services."""
    if (given := settings.data_services) is None:
        return
    if given.is_in_cluster:
        yield from _volumes(settings)
        return
    plan, standby = data_facts(settings, given), ""
    if plan.high_availability != "none":
        standby = ", twice: it has a standby"
    copies = "a copy of them in the paired region" if plan.geo_backup else "none elsewhere"
    yield NotCounted(
        f"PostgreSQL: {plan.postgres_size} and {given.postgres.storage_gb} GiB{standby}, and backups of"
        f" {plan.backup_days} days ({copies})",
        ("azure-native:dbforpostgresql:Server",),
    )
    replica = " with a replica" if plan.redis_high_availability else ""
    yield NotCounted(
        f"Managed Redis: {given.redis.size}{replica}, per hour", ("azure-native:redisenterprise:RedisEnterprise",)
    )
    yield NotCounted(f"storage, {plan.redundancy}: per GB, per request", ("azure-native:storage:StorageAccount",))
    yield NotCounted("the vault, per request", ("azure-native:keyvault:Vault", "azure-native:keyvault:Secret"))
    yield NotCounted(
        f"the registry, {plan.registry_sku}: per day, and per GB beyond what it includes",
        ("azure-native:containerregistry:Registry",),
    )


def _volumes(settings: Settings) -> Iterator[NotCounted]:
    """Costs of the disks of data services that run in the cluster. Their Pods cause no further cost: they run on the
    nodes of `cpuPool`, which the estimate counts.
    """
    given = in_cluster.in_cluster(settings)
    if given is None:
        return
    volumes = in_cluster.volumes(given)
    total = sum(each.storage_gb for each in volumes)
    claims = ("kubernetes:core/v1:PersistentVolumeClaim",)
    yield NotCounted(f"disks of data services in the cluster: {len(volumes)}, of {total} GiB together", claims)
    if given.snapshots.enabled:
        kept = given.snapshots.keep
        yield NotCounted(f"snapshots of these disks, {kept} of each: per GB that differs from the one before", ())
