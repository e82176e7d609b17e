"""Costs of data services that depend on use: they are listed but not counted."""

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
    plan = data_facts(settings, given)
    copies = "a copy of them in the paired region" if plan.geo_backup else "none elsewhere"
    yield NotCounted(
        f"PostgreSQL's backups of {plan.backup_days} days beyond the size of its storage ({copies})",
        ("azure-native:dbforpostgresql:Server",),
    )
    yield NotCounted("requests to the storage, and what is stored beyond what the range assumes", ())
    yield NotCounted("the vault, per request", ("azure-native:keyvault:Vault", "azure-native:keyvault:Secret"))
    yield NotCounted("images in the registry, per GB beyond what it includes", ())


def _volumes(settings: Settings) -> Iterator[NotCounted]:
    """Costs of snapshots of data services that run in the cluster. Their Pods cause no further cost: they run on the
    nodes of `cpuPool`, which the estimate counts.
    """
    given = in_cluster.in_cluster(settings)
    if given is not None and given.snapshots.enabled:
        kept = given.snapshots.keep
        what = f"snapshots of the data services' disks, {kept} of each: per GB that differs from the one before"
        yield NotCounted(what, ())
