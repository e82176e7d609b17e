"""Helm values against the keys that a chart renders.

Helm accepts any key; a key that no template reads has no effect and causes no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from physical_ai.catalog.gpu_lookup import version
from physical_ai.catalog.gpu_rows import KeyGroup, KeyNote, SectionKeys
from physical_ai.catalog.lookup import nearest
from physical_ai.findings import Finding, Severity
from physical_ai.nested import is_mapping

Kind = Literal["value", "list", "map"]
_STATES = {
    "dead": "The chart has never rendered it",
    "removed": "It was removed from the chart's values",
    "renamed": "This is an old name, which the chart still reads",
    "driver-cr": "With separate NVIDIADriver resources the chart does not render it",
}


def kinds(groups: Iterable[KeyGroup]) -> dict[str, Kind]:
    """The keys of some groups, by dotted path."""
    found: dict[str, Kind] = {}
    for group in groups:
        for section, keys in group.sections.items():
            of_kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
                ("value", keys.values),
                ("list", keys.lists),
                ("map", keys.maps),
            )
            found |= {f"{section}.{key}" if section else key: kind for kind, names in of_kinds for key in names}
    return found


def holds(item: KeyGroup | KeyNote, release: str) -> bool:
    """Whether a version of the chart has some keys, or is concerned by a note."""
    here = version(release)
    return (item.since is None or version(item.since) <= here) and (item.until is None or here <= version(item.until))


def all_keys(keys: SectionKeys) -> tuple[str, ...]:
    return (*keys.values, *keys.lists, *keys.maps)


def under(name: str, path: str) -> bool:
    return name.startswith(f"{path}.")


def _above(paths: Iterable[str]) -> frozenset[str]:
    """Every path that another one is under.

    >>> sorted(_above(["driver.rdma.enabled"]))
    ['driver', 'driver.rdma']
    """
    return frozenset(path[:end] for path in paths for end, letter in enumerate(path) if letter == ".")


def _nowhere(path: str) -> Finding | None:
    return None


@dataclass(frozen=True)
class KeyTable:
    """The keys that one version of a chart renders."""

    title: str
    """The version, as shown in messages."""
    source: str
    known: Mapping[str, Kind]
    notes: Mapping[str, KeyNote] = field(default_factory=dict[str, KeyNote])
    """Notes on keys that users write and the chart does not render, by path."""
    elsewhere: Callable[[str], Finding | None] = _nowhere
    """Text for a key that another version has."""
    unlisted: tuple[str, ...] = ()
    """Subcharts whose own keys are not listed completely, so that an unknown one is a warning, not an error."""

    @cached_property
    def _sections(self) -> frozenset[str]:
        """Every path that has known keys below it."""
        return _above(self.known)

    @cached_property
    def _noted_sections(self) -> frozenset[str]:
        return _above(self.notes)

    def check(self, values: Mapping[str, Any]) -> list[Finding]:
        """Keys that the chart would ignore, in the order they are written.

        Maps with arbitrary keys (labels, resources, affinity …) and lists are not checked.
        """
        return list(self._walk(values, ""))

    def _walk(self, values: Mapping[str, Any], prefix: str) -> Iterator[Finding]:
        for key, value in values.items():
            path = f"{prefix}{key}"
            if path in self.notes:
                yield self._noted(path, self.notes[path])
            elif path in self.known:
                if self.known[path] == "value" and is_mapping(value):
                    yield self._misshapen(path, f"{path} takes one value, not a map.", f"{path}: …")
            elif path in self._sections:
                if is_mapping(value):
                    yield from self._walk(value, f"{path}.")
                elif value is not None:
                    inner = dict.fromkeys(
                        name[len(path) + 1 :].partition(".")[0] for name in self.known if under(name, path)
                    )
                    yield self._misshapen(
                        path, f"{path} is a section, not a value.", f"Keys it has: {', '.join(inner)}."
                    )
            elif is_mapping(value) and path in self._noted_sections:
                yield from self._walk(value, f"{path}.")
            else:
                yield self.elsewhere(path) or self._unknown(path)

    def _misshapen(self, path: str, problem: str, fix: str) -> Finding:
        return Finding(Severity.ERROR, "chart-key-shape", path, problem, fix, self.title)

    def _noted(self, path: str, note: KeyNote) -> Finding:
        problem = (
            f"{_STATES[note.state]}, so it has no effect." if note.state != "renamed" else f"{_STATES[note.state]}."
        )
        place = f"Write {note.instead} instead." if note.instead else None
        fix = "  ".join(text for text in (place, note.fix) if text) or "Leave the key out."
        severity = Severity.WARNING if note.state == "renamed" else Severity.ERROR
        return Finding(severity, f"chart-key-{note.state}", path, f"{self.title}: {problem}", fix, note.source)

    def _unknown(self, path: str) -> Finding:
        near = self._suggestion(path)
        fix = f"Did you mean {near}?" if near else "Leave the key out."
        unlisted = path.partition(".")[0] in self.unlisted
        problem = f"The chart of {self.title} has no key {path}" + (" that is known here." if unlisted else ".")
        rule = "chart-key-unverified" if unlisted else "chart-key-unknown"
        return Finding(Severity.WARNING if unlisted else Severity.ERROR, rule, path, problem, fix, self.source)

    def _suggestion(self, path: str) -> str | None:
        """The nearest key: first among the siblings, then one of the same name elsewhere, then any."""
        parent, _, leaf = path.rpartition(".")
        prefix = f"{parent}." if parent else ""
        siblings = {name[len(prefix) :].partition(".")[0] for name in self.known if name.startswith(prefix)}
        if near := nearest(leaf, sorted(siblings)):
            return f"{prefix}{near}"
        namesakes = [name for name in self.known if name.rpartition(".")[2].lower() == leaf.lower()]
        return nearest(path, namesakes, 0.0) or nearest(path, self.known, 0.75)
