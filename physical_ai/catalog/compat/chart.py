"""Check of the GPU Operator's Helm values against the keys that its chart renders in a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from physical_ai.catalog.compat.chart_rules import judge_values
from physical_ai.catalog.compat.keys import KeyTable, Kind, Refused, all_keys, holds, kinds, none_refused, under
from physical_ai.catalog.compat.tables import switches
from physical_ai.catalog.gpu_load import chart_key_groups, chart_key_notes
from physical_ai.catalog.gpu_lookup import operator_release, version
from physical_ai.catalog.gpu_rows import KeyGroup
from physical_ai.findings import Finding, Severity
from physical_ai.nested import is_mapping

CHART = "gpu-operator"
SUBCHARTS = ("node-feature-discovery",)


@dataclass(frozen=True)
class KeyChanges:
    """Keys of the chart's values that differ between two releases."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


@lru_cache(maxsize=16)
def known_keys(release: str) -> Mapping[str, Kind]:
    """Keys of the values that a release's chart uses, by dotted path. Raises `UnknownName` for an unknown release."""
    return kinds_of(chart_key_groups(), release)


def kinds_of(groups: Iterable[KeyGroup], release: str) -> dict[str, Kind]:
    """Kind of each key in those `groups` that apply to a GPU Operator release, by dotted path. Raises `UnknownName` for
    an unknown release.
    """
    read = operator_release(release).values_of
    return kinds(group for group in groups if holds(group, read))


def key_changes(old: str, new: str) -> KeyChanges:
    """Keys of the chart's values that exist only in the release `new` (added), or only in `old` (removed). Raises
    `UnknownName` for an unknown release.
    """
    before, after = known_keys(old).keys(), known_keys(new).keys()
    return KeyChanges(tuple(sorted(after - before)), tuple(sorted(before - after)))


def check_values(
    release: str, values: Mapping[str, Any], refused: Refused = none_refused, around: Mapping[str, Any] | None = None
) -> list[Finding]:
    """Findings about keys that the release's chart would ignore, followed by findings about invalid values. Maps with
    arbitrary keys (labels, resources, affinity …) and lists are not checked.

    Raises `UnknownName` for a release that is not in the catalogue.

    Args:
        refused: Function that returns advice against a key; no finding suggests a key for which it returns advice.
        around: All values of the chart, if `values` is only a part of them. They decide whether drivers are
            NVIDIADriver resources, and so which keys the chart renders.
    """
    table = key_table(release, has_driver_resources=_drivers_are_resources(values if around is None else around))
    return [*table.check(values, refused), *judge_values(release, values)]


@lru_cache(maxsize=16)
def key_table(release: str, *, has_driver_resources: bool) -> KeyTable:
    """Table of the keys that a release's chart renders, with or without separate NVIDIADriver resources.

    Raises `UnknownName` for an unknown release.
    """
    read = operator_release(release).values_of
    notes = {
        path: note
        for note in chart_key_notes()
        if holds(note, read) and (has_driver_resources or note.state != "driver-cr")
        for path in note.paths
    }
    return KeyTable(
        release,
        f"values.yaml of {read}",
        known_keys(release),
        notes,
        lambda path: _of_another_release(release, path),
        switches(CHART),
        SUBCHARTS,
    )


def _drivers_are_resources(values: Mapping[str, Any]) -> bool:
    driver = values.get("driver")
    chosen = driver.get("nvidiaDriverCRD") if is_mapping(driver) else None
    return is_mapping(chosen) and chosen.get("enabled") is True and chosen.get("deployDefaultCR") is False


def _of_another_release(release: str, path: str) -> Finding | None:
    read = operator_release(release).values_of
    for group in chart_key_groups():
        names = [f"{section}.{key}" for section, keys in group.sections.items() for key in all_keys(keys)]
        if not holds(group, read) and any(name == path or under(name, path) for name in names):
            place = (
                f"it is known from {group.since} on"
                if group.since and version(group.since) > version(read)
                else "it was removed"
            )
            fix = "Leave the key out." if place == "it was removed" else "Leave the key out, or upgrade."
            problem = f"The chart of {release} has no key {path}: {place}."
            return Finding(Severity.ERROR, "chart-key-other-release", path, problem, fix, group.source)
    return None
