"""Rules that look at more than one setting, or at the catalogue. Pure: settings in, findings out."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from settings.checks.cluster import check_cluster
from settings.checks.finding import Finding, Trust
from settings.checks.gpu import check_gpu
from settings.checks.grid import check_grid
from settings.checks.network import check_network
from settings.checks.osmo import check_osmo
from settings.checks.placement import check_labels, check_taints
from settings.checks.pools import check_pools
from settings.checks.record import check_record
from settings.checks.sharing import check_sharing
from settings.checks.tags import check_tags
from settings.model import Settings

TRUST_ALL = Trust(frozenset())


def check(settings: Settings, trust: Trust = TRUST_ALL, today: datetime.date | None = None) -> list[Finding]:
    """Everything the rules find. `today` decides what is out of support; the current date when absent.

    `trust` says which settings are the user's own: a rule that reads another one is not asked.
    """
    return list(_findings(settings, trust, today or datetime.datetime.now(datetime.UTC).date()))


def _findings(settings: Settings, trust: Trust, today: datetime.date) -> Iterator[Finding]:
    yield from check_record(settings, trust)
    yield from check_tags(settings, trust)
    yield from check_network(settings, trust)
    yield from check_cluster(settings, trust, today)
    yield from check_pools(settings, trust)
    yield from check_gpu(settings, trust)
    yield from check_grid(settings, trust)
    yield from check_sharing(settings, trust)
    yield from check_osmo(settings, trust)
    for name, pool in settings.pools.items():
        yield from check_labels(name, pool, trust)
        yield from check_taints(name, pool, trust)


__all__ = ["TRUST_ALL", "Finding", "Trust", "check"]
