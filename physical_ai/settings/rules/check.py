"""All rules about settings, in the order in which they are applied."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator
from typing import cast

from parts.registry import PARTS
from physical_ai.input_errors import PartError
from physical_ai.settings.models.target import TargetKind
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.part_answers import check_path, place_of_function
from physical_ai.settings.rules.capacity import check_capacity
from physical_ai.settings.rules.checkpoints import check_checkpoints
from physical_ai.settings.rules.classes import check_classes, check_no_azure, check_no_classes
from physical_ai.settings.rules.cluster import check_cluster
from physical_ai.settings.rules.data_services import check_data_services
from physical_ai.settings.rules.fabric import check_fabric
from physical_ai.settings.rules.fallbacks import check_fallbacks
from physical_ai.settings.rules.finding import SettingFinding, Trust
from physical_ai.settings.rules.gpu import check_gpu
from physical_ai.settings.rules.grid import check_grid
from physical_ai.settings.rules.health import check_health
from physical_ai.settings.rules.health_modes import check_health_mode
from physical_ai.settings.rules.isolation import check_isolation
from physical_ai.settings.rules.kubelet import check_kubelet
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
from physical_ai.settings.rules.sharing import check_sharing
from physical_ai.settings.rules.tags import check_tags
from physical_ai.settings.target import kind_of

TRUST_ALL = Trust(frozenset())


def check(settings: Settings, trust: Trust = TRUST_ALL, today: datetime.date | None = None) -> list[SettingFinding]:
    """Findings of all rules. `today` decides which versions are out of support; the current date if omitted.

    `trust` tells which settings have usable values. Findings about other settings are dropped, because the user did not
    write the values that the rules see.
    """
    return list(_findings(settings, trust, today or datetime.datetime.now(datetime.UTC).date()))


def _findings(settings: Settings, trust: Trust, today: datetime.date) -> Iterator[SettingFinding]:
    yield from check_record(settings, trust)
    yield from _GROUND[kind_of(settings)](settings, trust, today)
    yield from _of_parts("rules", settings, trust)
    for rules in _EVERYWHERE:
        yield from rules(settings, trust)
    for name, pool in settings.pools.items():
        yield from check_labels(name, pool, trust)
        yield from check_taints(name, pool, trust)


def _of_azure(settings: Settings, trust: Trust, today: datetime.date) -> Iterator[SettingFinding]:
    yield from check_tags(settings, trust)
    yield from check_network(settings, trust)
    yield from check_outbound(settings, trust)
    yield from check_private_network(settings, trust)
    yield from check_monitor_link(settings, trust)
    yield from check_isolation(settings, trust)
    yield from check_cluster(settings, trust, today)
    yield from check_pools(settings, trust)
    yield from check_kubelet(settings, trust)
    yield from check_capacity(settings, trust)
    yield from _of_parts("azure_rules", settings, trust)
    yield from check_fallbacks(settings, trust)
    yield from check_no_classes(settings, trust)


def _of_existing(settings: Settings, trust: Trust, _today: datetime.date) -> Iterator[SettingFinding]:
    yield from check_no_azure(settings, trust)
    yield from check_classes(settings, trust)
    yield from _of_parts("existing_rules", settings, trust)


def _of_parts(field: str, settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings that the rules in a field of each part yield. Raises PartError."""
    for part in PARTS:
        for rule in getattr(part, field):
            yield from _of_rule(place_of_function(part, field, rule), rule(settings, trust))


def _of_rule(place: str, findings: object) -> Iterator[SettingFinding]:
    """Findings that a part's rule returns.

    Raises:
        PartError: The rule returns no list, an object of another type, or a finding about a path that is no setting.
    """
    if not isinstance(findings, Iterable):
        raise PartError(
            f"{place}\n  The rule returns a {type(findings).__name__}, not a list of findings.\n"
            "  Yield the findings, or return a list of them."
        )
    for found in cast("Iterable[object]", findings):
        if not isinstance(found, SettingFinding):
            raise PartError(
                f"{place}\n  The rule yields a {type(found).__name__}, not a SettingFinding.\n"
                "  Yield what physical_ai.settings.rules.finding.finding returns."
            )
        for path in (found.path, *found.others):
            check_path(place, path)
        yield found


_GROUND: dict[TargetKind, Callable[[Settings, Trust, datetime.date], Iterator[SettingFinding]]] = {
    "azure": _of_azure,
    "existing": _of_existing,
}
"""Function that applies the rules about the infrastructure below the GPU software, for each kind of target."""

_EVERYWHERE = (
    check_gpu,
    check_grid,
    check_sharing,
    check_fabric,
    check_osmo,
    check_checkpoints,
    check_data_services,
    check_osmo_access,
    check_placeholders,
    check_monitoring,
    check_health,
    check_health_mode,
)
"""Rules about the installed software, which apply to every kind of target."""
