"""Check of Helm values against the keys that a chart renders.

Helm accepts any key; a key that no template reads has no effect and causes no error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast

from physical_ai.catalog.gpu_lookup import version
from physical_ai.catalog.gpu_rows import KeyGroup, KeyNote, SectionKeys
from physical_ai.catalog.lookup import nearest
from physical_ai.findings import Finding, Severity
from physical_ai.nested import is_mapping

Kind = Literal["value", "list", "map"]
Refused = Callable[[str, Any], str | None]
"""Function of a dotted path and a value. Returns advice if the value may not be written at the path; None if it may."""
EITHER = ("extraManifests", "extraObjects")
"""Keys that charts accept both as a list and as a map."""
VARIABLES = ("env", "extraEnv", "extraEnvs")
"""Keys of lists of a container's environment variables."""
HELM_NULL = "Helm docs, Values Files, Deleting a default key"
_STATES = {
    "dead": "The chart has never rendered it",
    "removed": "It was removed from the chart's values",
    "renamed": "This is an old name, which the chart still reads",
    "driver-cr": "With separate NVIDIADriver resources the chart does not render it",
}


def kinds(groups: Iterable[KeyGroup]) -> dict[str, Kind]:
    """Keys of all groups with their kind, by dotted path."""
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
    """True where a group of keys, or a note, applies to a version of the chart."""
    here = version(release)
    return (item.since is None or version(item.since) <= here) and (item.until is None or here <= version(item.until))


def all_keys(keys: SectionKeys) -> tuple[str, ...]:
    return (*keys.values, *keys.lists, *keys.maps)


def under(name: str, path: str) -> bool:
    return name.startswith(f"{path}.")


def _above(paths: Iterable[str]) -> frozenset[str]:
    """All proper prefixes of the dotted paths.

    >>> sorted(_above(["driver.rdma.enabled"]))
    ['driver', 'driver.rdma']
    """
    return frozenset(path[:end] for path in paths for end, letter in enumerate(path) if letter == ".")


def _called(value: Any) -> str:
    """Word for the type of a value, used in messages."""
    if isinstance(value, bool):
        return "switch"
    if isinstance(value, (int, float)):
        return "number"
    return "text" if isinstance(value, str) else "map" if is_mapping(value) else "list"


def _nowhere(path: str) -> Finding | None:
    return None


def none_refused(path: str, value: Any) -> None:
    return None


@dataclass(frozen=True)
class KeyTable:
    """The keys that one version of a chart renders."""

    title: str
    """Name of the chart version, used in messages."""
    source: str
    known: Mapping[str, Kind]
    notes: Mapping[str, KeyNote] = field(default_factory=dict[str, KeyNote])
    """Notes on keys that users write although the chart does not render them, by path."""
    elsewhere: Callable[[str], Finding | None] = _nowhere
    """Function that returns a finding for a key that another version of the chart has; None for any other key."""
    switches: frozenset[str] = frozenset()
    """Keys that accept only `true` or `false`."""
    unlisted: tuple[str, ...] = ()
    """Subcharts whose own keys are not listed completely: an unknown key there is a warning, not an error."""

    @cached_property
    def _sections(self) -> frozenset[str]:
        """All paths that have known keys below them."""
        return _above(self.known)

    @cached_property
    def _noted_sections(self) -> frozenset[str]:
        return _above(self.notes)

    def has(self, path: str) -> bool:
        """True for a key that the chart renders, for a section with such keys, and for any path inside of a list or
        map.
        """
        steps = path.split(".")
        return path in self._sections or any(".".join(steps[:end]) in self.known for end in range(1, len(steps) + 1))

    def check(self, values: Mapping[str, Any], refused: Refused = none_refused) -> list[Finding]:
        """Findings about keys that the chart would ignore, and about values of the wrong shape, in the order of
        `values`.

        Maps with arbitrary keys (labels, resources, affinity …) and lists are not checked. No finding suggests a key
        for which `refused` returns advice.
        """
        return list(self._walk(values, "", refused))

    def _walk(self, values: Mapping[str, Any], prefix: str, refused: Refused) -> Iterator[Finding]:
        for key, value in values.items():
            path = f"{prefix}{key}"
            if path in self.notes:
                yield self._noted(path, value, self.notes[path], refused)
            elif path in self.known:
                yield from self._shape(path, value)
            elif path in self._sections:
                if is_mapping(value):
                    yield from self._walk(value, f"{path}.", refused)
                else:
                    yield self._no_section(path, value)
            elif is_mapping(value) and path in self._noted_sections:
                yield from self._walk(value, f"{path}.", refused)
            else:
                yield self.elsewhere(path) or self._unknown(path, value, refused)

    def _shape(self, path: str, value: Any) -> Iterator[Finding]:
        kind, name = self.known[path], path.rpartition(".")[2]
        if path in self.switches:
            if not isinstance(value, bool):
                yield self._no_switch(path, value)
        elif kind == "value" and is_mapping(value):
            yield self._misshapen(path, f"{path} takes one value, not a map.", f"{path}: …")
        elif value is None or name in EITHER or (isinstance(value, str) and "\n" in value):
            return  # a text of several lines is a template
        elif kind == "list" and not isinstance(value, list):
            yield self._misshapen(path, f"{path} takes a list, and no {_called(value)}.", f"{path}: [ … ]")
        elif name in VARIABLES and isinstance(value, list):
            yield from self._variables(path, cast("list[Any]", value))
        elif kind == "map" and not is_mapping(value):
            yield self._misshapen(path, f"{path} takes a map, and no {_called(value)}.", f"{path}: {{ … }}")

    def _variables(self, path: str, entries: list[Any]) -> Iterator[Finding]:
        """Findings about environment variables whose value is no text, which the API server refuses."""
        for entry in entries:
            if not is_mapping(entry) or not isinstance(entry.get("name"), str):
                yield self._misshapen(path, "Each entry is a variable with a name.", "- {name: …, value: …}")
            elif not isinstance(value := entry.get("value", ""), str):
                said = str(value).lower() if isinstance(value, bool) else value
                problem = f"The variable {entry['name']} takes a text, and no {_called(value)}."
                fix = f'value: "{said}"' if isinstance(value, (bool, int, float)) else "Write a text in quotes."
                yield self._misshapen(path, problem, fix)

    def _no_switch(self, path: str, value: Any) -> Finding:
        if value is None:
            problem = f"null removes the chart's default of {path}, and whether that means true or false differs."
            return Finding(Severity.ERROR, "chart-null", path, problem, "Write true or false.", HELM_NULL)
        said = str(value).lower() if isinstance(value, str) else ""
        problem = f"{path} takes true or false, and no {_called(value)}."
        if said in ("true", "false", "yes", "no", "on", "off"):
            problem += " Helm's conditions take any text for true, 'false' too; elsewhere it is written as it is."
        near = {"true": "true", "yes": "true", "on": "true"}.get(said, "false") if said else "true or false"
        return self._misshapen(path, problem, f"{path}: {near}" if said else "Write true or false.")

    def _no_section(self, path: str, value: Any) -> Finding:
        inner = dict.fromkeys(name[len(path) + 1 :].partition(".")[0] for name in self.known if under(name, path))
        if value is None:
            problem = f"null removes every default that the chart has below {path}."
            fix = f"Leave {path} out, or write the keys to change: {', '.join(inner)}."
            return Finding(Severity.ERROR, "chart-null", path, problem, fix, HELM_NULL)
        return self._misshapen(path, f"{path} is a section, not a value.", f"Keys it has: {', '.join(inner)}.")

    def _misshapen(self, path: str, problem: str, fix: str) -> Finding:
        return Finding(Severity.ERROR, "chart-key-shape", path, problem, fix, self.title)

    def _noted(self, path: str, value: Any, note: KeyNote, refused: Refused) -> Finding:
        problem = (
            f"{_STATES[note.state]}, so it has no effect." if note.state != "renamed" else f"{_STATES[note.state]}."
        )
        place = f"Write {note.instead} instead." if note.instead else None
        if note.instead and (other := self._against(note.instead, value, refused)):
            place = f"The chart's key is {note.instead}.  {other}"
        fix = "  ".join(text for text in (place, note.fix) if text) or "Leave the key out."
        severity = Severity.WARNING if note.state == "renamed" else Severity.ERROR
        return Finding(severity, f"chart-key-{note.state}", path, f"{self.title}: {problem}", fix, note.source)

    def _unknown(self, path: str, value: Any, refused: Refused) -> Finding:
        near = self._suggestion(path)
        fix = f"Did you mean {near}?" if near else "Leave the key out."
        if near and (other := self._against(near, value, refused)):
            fix = f"The chart's key is {near}.  {other}"
        unlisted = path.partition(".")[0] in self.unlisted
        problem = f"The chart of {self.title} has no key {path}" + (" that is known here." if unlisted else ".")
        rule = "chart-key-unverified" if unlisted else "chart-key-unknown"
        return Finding(Severity.WARNING if unlisted else Severity.ERROR, rule, path, problem, fix, self.source)

    def _against(self, path: str, value: Any, refused: Refused) -> str | None:
        """Advice against a key that a finding would otherwise suggest; None if the finding may suggest the key."""
        if (other := refused(path, value)) is not None:
            return other
        steps = path.split(".")
        above = (self.notes.get(".".join(steps[: end + 1])) for end in range(len(steps)))
        note = next((each for each in above if each is not None), None)
        return f"{self.title}: {_STATES[note.state]}.  {note.fix or 'Leave the key out.'}" if note else None

    def _suggestion(self, path: str) -> str | None:
        """The nearest known key: first among the siblings, then among keys of the same name elsewhere, then among
        all.
        """
        parent, _, leaf = path.rpartition(".")
        prefix = f"{parent}." if parent else ""
        siblings = {name[len(prefix) :].partition(".")[0] for name in self.known if name.startswith(prefix)}
        if near := nearest(leaf, sorted(siblings)):
            return f"{prefix}{near}"
        namesakes = [name for name in self.known if name.rpartition(".")[2].lower() == leaf.lower()]
        return nearest(path, namesakes, 0.0) or nearest(path, self.known, 0.75)
