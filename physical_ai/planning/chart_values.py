"""Final Helm values of a chart: the user's values file, without keys that only the program may set, merged with the
program's own values.

A file may not set a key that the program sets for the stack. Tables of owners say what to change instead; they also
contain keys that the program sets only for other stacks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from physical_ai.catalog.charts import Chart
from physical_ai.catalog.compat import check_chart
from physical_ai.catalog.compat.exposure import exposing, judge_exposure
from physical_ai.catalog.compat.keys import Refused, none_refused
from physical_ai.catalog.compat.needs import JOINED, judge_needs, pattern, refusing
from physical_ai.findings import Finding
from physical_ai.nested import is_mapping
from physical_ai.planning.values_files import identity, located, merge_values, read_values
from physical_ai.repository import ROOT
from physical_ai.settings.faults import Fault, fault
from physical_ai.settings.guards import is_list
from physical_ai.settings.layers.document import Document
from physical_ai.settings.layers.paths import Path

WHOLE = frozenset({"nodeSelector", "affinity", "securityContext", "podSecurityContext"})
"""Keys of maps that are set as a whole, by the program or by the file. An entry added to the program's entries could
exclude every node, or violate Pod Security.
"""
GENERIC = "nothing: it follows from the stack's settings"
IGNORED = ("chart-key-dead", "chart-key-driver-cr", "chart-key-removed", "chart-key-other-release", "chart-key-unknown")
"""Names of rules about keys that the chart does not render. The value of such a key has no effect, so nothing depends
on it.
"""
Check = Callable[[Mapping[str, Any], Refused], list[Finding]]


@dataclass(frozen=True)
class Owned:
    """Keys in the values of a chart that the program decides."""

    owners: Mapping[str, str]
    """Chart keys that a values file may not set, as dotted paths; the step `*` stands for any key. Each value names the
    setting to change instead, or says why there is none.
    """
    ours: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values that the program sets for this stack."""

    @cached_property
    def _units(self) -> frozenset[str]:
        return frozenset(units(self.ours))

    @cached_property
    def _patterns(self) -> tuple[tuple[Any, str], ...]:
        return tuple((pattern(path), owner) for path, owner in self.owners.items() if "*" in path)

    def owner(self, path: str) -> str | None:
        """Setting to change instead of the value at a path; None where a file may set the path."""
        if path in self.owners:
            return self.owners[path]
        if (found := next((owner for each, owner in self._patterns if each.fullmatch(path)), None)) is not None:
            return found
        if path in self._units:
            return GENERIC
        parent = path.removesuffix(".affinity.nodeAffinity")
        placed = f"{parent}.nodeSelector"
        return (self.owner(placed) or GENERIC) if parent != path and placed in self._units else None

    def owner_of_any(self, path: str) -> str | None:
        """Setting to change instead of the value at `path`, or instead of a section that contains `path`. None if a
        values file may set both the path and all these sections.
        """
        steps = path.split(".")
        found = (self.owner(".".join(steps[:end])) for end in range(1, len(steps) + 1))
        return next((owner for owner in found if owner is not None), None)

    def split(self, document: Document, data: Mapping[str, Any], at: Path = ()) -> tuple[dict[str, Any], list[Fault]]:
        """Returns `data`, the values of a file, without the values that the file may not set, and a fault for each
        value that was left out.
        """
        faults: list[Fault] = []
        return self._kept(document, data, at, "", faults), faults

    def _kept(
        self, document: Document, data: Mapping[str, Any], at: Path, prefix: str, faults: list[Fault]
    ) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, value in data.items():
            here, path = (*at, key), f"{prefix}{key}"
            if (owner := self.owner(path)) is not None:
                faults.append(_refusal(document, here, path, owner))
            elif is_mapping(value):
                kept[key] = self._kept(document, value, here, f"{path}.", faults)
            elif key in JOINED and is_list(value):
                kept[key] = list(self._entries(document, value, here, path, faults))
            else:
                kept[key] = value
        return kept

    def _entries(
        self, document: Document, entries: list[Any], at: Path, path: str, faults: list[Fault]
    ) -> Iterator[Any]:
        ours = self._joined(path)
        for index, entry in enumerate(entries):
            name = identity(entry)
            owner = self.owner(f"{path}.{name}") if name and ours.get(name) != entry else None
            if owner is None:
                yield entry
            else:
                faults.append(_refusal(document, (*at, index), name or "", owner))

    def _joined(self, path: str) -> dict[str, Any]:
        """Entries that the program sets in the list at `path`, by the entry's name or mount path."""
        found: Any = self.ours
        for step in path.split("."):
            found = found.get(step) if is_mapping(found) else None
        return {name: each for each in found if (name := identity(each)) is not None} if is_list(found) else {}


def units(values: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Dotted paths that are each set as a unit: leaves, lists, maps in `WHOLE`, and the entries of lists in
    `JOINED`.
    """
    for key, value in values.items():
        path = f"{prefix}{key}"
        if key in JOINED and is_list(value):
            yield from (f"{path}.{name}" for each in value if (name := identity(each)) is not None)
        elif is_mapping(value) and value and key not in WHOLE:
            yield from units(value, f"{path}.")
        elif not is_mapping(value) or key in WHOLE:
            yield path


def instead(owner: str) -> str:
    """Instruction for a user whose values file sets a key that has the value `owner` in `Owned.owners`."""
    kind, _, reason = owner.partition(": ")
    return f"Leave it out: {reason}." if kind == "nothing" else f"Set {owner} instead."


def _refusal(document: Document, at: Path, path: str, owner: str) -> Fault:
    return document.fault(at, f"The program sets {path} itself, from the stack's settings.", instead(owner))


def completed(
    document: Document, owners: Mapping[str, str], ours: Mapping[str, Any], check: Check, *, chart: str, module: str
) -> tuple[dict[str, Any], list[Fault]]:
    """Values of a file merged with the program's, and the faults of the file; warnings are among the faults.

    Args:
        document: The file.
        owners: Keys that the file may not set, each with the setting to change instead.
        ours: Values that the program sets.
        check: Function that returns the findings about values.
        chart: Name of the chart.
        module: Path of the module that makes `ours`. A fault in a value that only the program sets names this module.
    """
    owned = Owned(owners, ours)
    written, faults = owned.split(document, document.data)
    values = merge_values(written, ours)

    def refused(path: str, value: Any) -> str | None:
        if (owner := owned.owner_of_any(path)) is not None:
            return instead(owner)
        need = refusing(chart, path, value)
        return need.advice if need is not None else exposing(path, value)

    # The file is also checked on its own: after the merge, the program's values would have replaced a value that stands
    # in place of a section.
    merged = [(finding, _is_set(written, finding.where)) for finding in check(values, refused)]
    found = [*check(written, refused), *(finding for finding, is_written in merged if is_written)]
    unknown = [finding for finding, is_written in merged if not is_written]
    ignored = [f"{each.where}." for each in found if each.is_error and each.rule.startswith(IGNORED)]
    depended = (*judge_needs(chart, written), *judge_exposure(written))
    needed = (each for each in depended if not f"{each.where}.".startswith(tuple(ignored)))
    faults += [located(document, finding) for finding in (*needed, *found)]
    # The advice for a file, such as another setting, is none for a module.
    plain = {finding.where: finding for finding in (check(ours, none_refused) if unknown else ())}
    faults += [_of_module(module, plain.get(finding.where, finding)) for finding in unknown]
    return values, [*document.faults, *dict.fromkeys(faults)]


def _is_set(values: Mapping[str, Any], path: str) -> bool:
    """True if `values` contains the key `path`, or if a key above it has a value that is not a map."""
    found: Any = values
    for step in path.split("."):
        if not is_mapping(found):
            return True
        if step not in found:
            return False
        found = found[step]
    return True


def _of_module(module: str, finding: Finding) -> Fault:
    """Fault for a finding about a value that the program sets. The fault points to the first line of `module` that
    contains the key, or has no line if no line contains it.
    """
    file, key = ROOT / module, f'"{finding.where.rpartition(".")[2]}"'
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    line = next((number for number, text in enumerate(lines, 1) if key in text), None)
    found = fault(module, finding.where, finding.problem, finding.fix, severity=finding.severity, line=line)
    return replace(found, rule=finding.rule, source=finding.source)


def chart_values(
    root: FilePath, file: str, pinned: Chart, owners: Mapping[str, str], ours: Mapping[str, Any], *, module: str = ""
) -> tuple[dict[str, Any], list[Fault]]:
    """Values of a pinned chart, from a file below `root` and from the program, and the faults of the file.

    `module`: dotted name of the module that makes the program's values; by default `plan.py` in the file's folder.
    """
    made = f"{module.replace('.', '/') or f'parts/{FilePath(file).parent}/plan'}.py"
    document = read_values(root, file)

    def check(values: Mapping[str, Any], refused: Refused) -> list[Finding]:
        return check_chart(pinned.name, pinned.version, values, refused)

    values, faults = completed(document, owners, ours, check, chart=pinned.name, module=made)
    if not module and (expected := f"{pinned.name}-values.yaml") != FilePath(file).name:
        problem = f"The values of the chart {pinned.name} are read from {FilePath(file).name}."
        faults.append(fault(made, "file", problem, f"Write {expected}."))
    return values, faults
