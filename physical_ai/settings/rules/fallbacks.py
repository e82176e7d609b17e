"""Rules about fallbacks of pools. The pool must be deployable with the values of each fallback."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import judge
from physical_ai.settings.facts.fallbacks import applied
from physical_ai.settings.faults import SettingsError
from physical_ai.settings.layers.names import StackName
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Fallback, Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error

_FIELDS = {"sku": "sku", "zones": "zones", "priority": "priority"}


def check_fallbacks(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings about the fallbacks of all pools."""
    for name, pool in settings.pools.items():
        path: Path = ("pools", name)
        if not pool.fallbacks or not trust(path):
            continue
        for index, fallback in enumerate(pool.fallbacks):
            yield from _fallback((*path, "fallbacks", index), pool, fallback, settings)


def _fallback(path: Path, pool: Pool, fallback: Fallback, settings: Settings) -> Iterator[SettingFinding]:
    if fallback.stack is not None:
        yield from _stack((*path, "stack"), fallback.stack, settings)
        return
    other = applied(pool, fallback)
    found = judge(
        other.sku,
        settings.region,
        other.driver.source.value,
        other.os_disk.type,
        other.os_disk.size_gb,
        other.zones,
        os_sku=other.os_sku,
        spot=other.is_spot,
        trusted_launch=other.secure_boot,
    )
    for each in found:
        if not each.is_error or each.where == "region":
            continue
        # A conflict with one of the pool's values is reported at the field that the fallback changes.
        named = _FIELDS.get(each.where)
        here = named if named is not None and getattr(fallback, named) is not None else None
        place = (*path, here) if here is not None else path
        yield error(place, each.problem, each.fix, rule=Rule(each.rule, each.source or ""))


def _stack(path: Path, name: str, settings: Settings) -> Iterator[SettingFinding]:
    if name == settings.stack:
        yield error(path, "The stack is its own fallback.", "The name of another stack.")
        return
    try:
        StackName.parse(name)
    except SettingsError as problem:
        (first, *_) = problem.faults
        yield error(path, first.problem, first.fix)
