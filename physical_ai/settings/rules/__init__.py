"""Rules that look at more than one setting, or at the catalogue. Pure: settings in, findings out."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.checkpoints import check_checkpoints
from physical_ai.settings.rules.cluster import check_cluster
from physical_ai.settings.rules.cluster_services import check_cluster_services
from physical_ai.settings.rules.data_services import check_data_services
from physical_ai.settings.rules.fallbacks import check_fallbacks
from physical_ai.settings.rules.finding import SettingFinding, Trust
from physical_ai.settings.rules.gpu import check_gpu
from physical_ai.settings.rules.grid import check_grid
from physical_ai.settings.rules.health import check_health
from physical_ai.settings.rules.health_modes import check_health_mode
from physical_ai.settings.rules.isolation import check_isolation
from physical_ai.settings.rules.monitor_link import check_monitor_link
from physical_ai.settings.rules.monitoring import check_monitoring
from physical_ai.settings.rules.network import check_network
from physical_ai.settings.rules.osmo import check_osmo
from physical_ai.settings.rules.osmo_access import check_osmo_access
from physical_ai.settings.rules.outbound import check_outbound
from physical_ai.settings.rules.placeholders import check_placeholders
from physical_ai.settings.rules.placement import check_labels, check_taints
from physical_ai.settings.rules.pools import check_pools
from physical_ai.settings.rules.private_network import check_private_network
from physical_ai.settings.rules.record import check_record
from physical_ai.settings.rules.runners import check_runners
from physical_ai.settings.rules.sharing import check_sharing
from physical_ai.settings.rules.tags import check_tags

TRUST_ALL = Trust(frozenset())


def check(settings: Settings, trust: Trust = TRUST_ALL, today: datetime.date | None = None) -> list[SettingFinding]:
    """Everything the rules find. `today` decides what is out of support; the current date when absent.

    `trust` tells which settings are the user's own: a finding about any other one is dropped.
    """
    return list(_findings(settings, trust, today or datetime.datetime.now(datetime.UTC).date()))


def _findings(settings: Settings, trust: Trust, today: datetime.date) -> Iterator[SettingFinding]:
    yield from check_record(settings, trust)
    yield from check_tags(settings, trust)
    yield from check_network(settings, trust)
    yield from check_outbound(settings, trust)
    yield from check_private_network(settings, trust)
    yield from check_monitor_link(settings, trust)
    yield from check_isolation(settings, trust)
    yield from check_cluster(settings, trust, today)
    yield from check_pools(settings, trust)
    yield from check_runners(settings, trust)
    yield from check_fallbacks(settings, trust)
    yield from check_gpu(settings, trust)
    yield from check_grid(settings, trust)
    yield from check_sharing(settings, trust)
    yield from check_osmo(settings, trust)
    yield from check_checkpoints(settings, trust)
    yield from check_data_services(settings, trust)
    yield from check_cluster_services(settings, trust)
    yield from check_osmo_access(settings, trust)
    yield from check_placeholders(settings, trust)
    yield from check_monitoring(settings, trust)
    yield from check_health(settings, trust)
    yield from check_health_mode(settings, trust)
    for name, pool in settings.pools.items():
        yield from check_labels(name, pool, trust)
        yield from check_taints(name, pool, trust)


__all__ = ["TRUST_ALL", "SettingFinding", "Trust", "check"]
