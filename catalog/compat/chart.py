"""Helm values of the GPU Operator against the keys its chart renders.

Helm takes any key; one that no template reads has no effect, and nobody says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeGuard

from catalog.compat.chart_rules import KeyFinding, judge_values
from catalog.gpu_load import chart_key_groups, chart_key_notes
from catalog.gpu_lookup import operator_release, version
from catalog.gpu_rows import KeyGroup, KeyNote, SectionKeys
from catalog.lookup import nearest

Kind = Literal["value", "list", "map"]
SUBCHARTS = ("node-feature-discovery",)
"""Charts whose own keys are not listed completely, so that an unknown one is doubtful, not wrong."""
_WORDS = {
    "dead": "The chart has never rendered it",
    "removed": "It was removed from the chart's values",
    "renamed": "This is an old name, which the chart still reads",
    "driver-cr": "With NVIDIADriver resources of your own the chart does not render it",
}


@dataclass(frozen=True)
class KeyChanges:
    """Values keys that differ between two releases."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


@lru_cache(maxsize=16)
def known_keys(release: str) -> Mapping[str, Kind]:
    """The keys that a release's chart renders, by dotted path. Raises `UnknownName`."""
    return kinds_of(chart_key_groups(), release)


def kinds_of(groups: Iterable[KeyGroup], release: str) -> dict[str, Kind]:
    """The keys that a release has of some groups, by dotted path. Raises `UnknownName`."""
    read = operator_release(release).values_of
    found: dict[str, Kind] = {}
    for group in groups:
        if _holds(group, read):
            for section, keys in group.sections.items():
                kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
                    ("value", keys.values),
                    ("list", keys.lists),
                    ("map", keys.maps),
                )
                found |= {f"{section}.{key}" if section else key: kind for kind, names in kinds for key in names}
    return found


def key_changes(old: str, new: str) -> KeyChanges:
    """What a values file written for `old` finds different in `new`. Raises `UnknownName`."""
    before, after = known_keys(old).keys(), known_keys(new).keys()
    return KeyChanges(tuple(sorted(after - before)), tuple(sorted(before - after)))


def check_values(release: str, values: Mapping[str, Any]) -> list[KeyFinding]:
    """Keys that the release's chart would ignore, and values it can't work with, in the order they are written.

    Maps that are free below (labels, resources, affinity …) and lists are not looked into. Raises `UnknownName` for a
    release that is not in the catalogue.
    """
    read = operator_release(release).values_of
    notes = {path: note for note in chart_key_notes() if _holds(note, read) for path in note.paths}
    if not _drivers_are_resources(values):
        notes = {path: note for path, note in notes.items() if note.state != "driver-cr"}
    return [*_walk(release, values, "", notes), *judge_values(release, values)]


def _holds(item: KeyGroup | KeyNote, read: str) -> bool:
    after = item.since is None or version(item.since) <= version(read)
    return after and (item.until is None or version(read) <= version(item.until))


def _drivers_are_resources(values: Mapping[str, Any]) -> bool:
    driver = values.get("driver")
    chosen = driver.get("nvidiaDriverCRD") if _is_map(driver) else None
    return _is_map(chosen) and chosen.get("enabled") is True and chosen.get("deployDefaultCR") is False


def _is_map(value: Any) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def _walk(release: str, values: Mapping[str, Any], prefix: str, notes: Mapping[str, KeyNote]) -> Iterator[KeyFinding]:
    known = known_keys(release)
    for key, value in values.items():
        path = f"{prefix}{key}"
        if path in notes:
            yield _noted(release, path, notes[path])
        elif path in known:
            if known[path] == "value" and _is_map(value):
                problem = f"{path} takes one value, not a map."
                yield KeyFinding(path, problem, f"{path}: …", "error", "chart-key-shape", release)
        elif any(name.startswith(f"{path}.") for name in known):
            if _is_map(value):
                yield from _walk(release, value, f"{path}.", notes)
            elif value is not None:
                children = dict.fromkeys(
                    name[len(path) + 1 :].partition(".")[0] for name in known if _under(name, path)
                )
                fix = f"Keys it has: {', '.join(children)}."
                yield KeyFinding(path, f"{path} is a section, not a value.", fix, "error", "chart-key-shape", release)
        elif _is_map(value) and any(_under(name, path) for name in notes):
            yield from _walk(release, value, f"{path}.", notes)
        else:
            yield _unknown(release, path)


def _under(name: str, path: str) -> bool:
    return name.startswith(f"{path}.")


def _noted(release: str, path: str, note: KeyNote) -> KeyFinding:
    problem = f"{_WORDS[note.state]}, so it has no effect." if note.state != "renamed" else f"{_WORDS[note.state]}."
    place = f"Write {note.instead} instead." if note.instead else None
    fix = "  ".join(text for text in (place, note.fix) if text) or "Leave the key out."
    severity = "warning" if note.state == "renamed" else "error"
    return KeyFinding(path, f"{release}: {problem}", fix, severity, f"chart-key-{note.state}", note.source)


def _unknown(release: str, path: str) -> KeyFinding:
    read = operator_release(release).values_of
    for group in chart_key_groups():
        names = [f"{section}.{key}" for section, keys in group.sections.items() for key in _all(keys)]
        if not _holds(group, read) and any(name == path or _under(name, path) for name in names):
            place = (
                f"it is known from {group.since} on"
                if group.since and version(group.since) > version(read)
                else "it is gone"
            )
            fix = "Leave the key out." if place == "it is gone" else "Leave the key out, or upgrade."
            problem = f"The chart of {release} has no key {path}: {place}."
            return KeyFinding(path, problem, fix, "error", "chart-key-other-release", group.source)
    near = _suggestion(release, path)
    fix = f"Did you mean {near}?" if near else "Leave the key out."
    subchart = path.partition(".")[0] in SUBCHARTS
    problem = f"The chart of {release} has no key {path}" + (" that is known here." if subchart else ".")
    rule = "chart-key-unverified" if subchart else "chart-key-unknown"
    return KeyFinding(path, problem, fix, "warning" if subchart else "error", rule, f"values.yaml of {read}")


def _all(keys: SectionKeys) -> tuple[str, ...]:
    return (*keys.values, *keys.lists, *keys.maps)


def _suggestion(release: str, path: str) -> str | None:
    """The nearest key: first among the siblings, then one of the same name elsewhere, then any."""
    known = known_keys(release)
    parent, _, leaf = path.rpartition(".")
    prefix = f"{parent}." if parent else ""
    siblings = {name[len(prefix) :].partition(".")[0] for name in known if name.startswith(prefix)}
    if near := nearest(leaf, sorted(siblings)):
        return f"{prefix}{near}"
    namesakes = [name for name in known if name.rpartition(".")[2].lower() == leaf.lower()]
    return nearest(path, namesakes, 0.0) or nearest(path, known, 0.75)
