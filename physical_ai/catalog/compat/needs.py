"""Values of charts that must stay as they are for the platform to work, although the program does not set them.

>>> [finding.where for finding in judge_needs("gpu-operator", {"nfd": {"enabled": False}})]
['nfd.enabled']
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal, cast

from physical_ai.catalog.gpu_load import CHARTS
from physical_ai.catalog.load import read_all_rows, row
from physical_ai.catalog.row import Row, Text
from physical_ai.findings import Finding, Severity
from physical_ai.nested import is_mapping

Scalar = bool | int | str
JOINED = frozenset(
    {"env", "extraArgs", "extraEnv", "extraEnvs", "extraVolumes", "extraVolumeMounts", "volumes", "volumeMounts"}
)
"""Keys of lists that are merged: the list in the values file and the program's own list are joined.

A path to an entry of such a list contains the entry's name.
"""
RULE = "chart-value-needed"


class Need(Row):
    """Chart values that a part of the platform relies on, and the harm that other values do."""

    charts: tuple[Text, ...]
    """Names of charts; `*` stands for all charts."""
    paths: tuple[Text, ...]
    """Dotted paths of the values.

    A `*` matches any one step. In a list whose key is in `JOINED`, the name of an entry is a step.
    """
    keep: tuple[Scalar, ...] | None = None
    """The only values that do no harm; None if the harmless values are not a fixed set."""
    least: int | None = None
    """Smallest number that does no harm. If neither `keep` nor `least` is set, every non-empty value does harm."""
    severity: Literal["error", "warning", "info"] = "error"
    """Severity of a value that is not allowed. error: the value is refused. warning: it is reported whenever the stack
    is loaded. info: it is no problem for the platform.
    """
    costs: Text
    gates: tuple[Text, ...] = ()
    """Readiness gates that never open after a harmful value."""
    fix: Text | None = None
    source: Text
    date: datetime.date

    def allows(self, value: Any) -> bool:
        if self.keep is not None:
            if value is None:
                return "" in self.keep
            return any(value == kept and isinstance(value, bool) == isinstance(kept, bool) for kept in self.keep)
        if self.least is not None:
            return isinstance(value, int) and not isinstance(value, bool) and value >= self.least
        return value in (None, "", [], {})

    def finding(self, path: str, value: Any) -> Finding:
        # Where no value at all is right, the value may be a secret, so it is not shown.
        given = _shown(value) if self.keep is not None or self.least is not None else "this value"
        problem = f"With {given}, {self.costs}"
        if self.gates:
            several = len(self.gates) > 1
            problem += f" The gate{'s' if several else ''} {', '.join(self.gates)} would never open."
        return Finding(Severity(self.severity), RULE, path, problem, self.advice, self.source)

    @property
    def advice(self) -> str:
        if self.fix is not None:
            return self.fix
        if self.keep is not None and "" in self.keep:
            return "Leave it out."
        if self.keep is not None:
            return f"Leave it out, or write {' or '.join(map(_shown, self.keep))}."
        return f"Leave it out, or write {self.least} or more." if self.least is not None else "Leave it out."


@lru_cache(maxsize=1)
def needs() -> tuple[Need, ...]:
    return tuple(row(Need, data, file) for file, data in read_all_rows(CHARTS / "needs.yaml"))


@lru_cache(maxsize=64)
def needs_of(chart: str) -> tuple[Need, ...]:
    """Rows of the table of needs about a chart."""
    return tuple(each for each in needs() if chart in each.charts or "*" in each.charts)


@lru_cache(maxsize=64)
def _exact(chart: str) -> Mapping[str, tuple[Need, ...]]:
    found: dict[str, tuple[Need, ...]] = {}
    for each in needs_of(chart):
        for path in each.paths:
            if "*" not in path:
                found[path] = (*found.get(path, ()), each)
    return found


@lru_cache(maxsize=64)
def _patterns(chart: str) -> tuple[tuple[re.Pattern[str], Need], ...]:
    return tuple((pattern(path), each) for each in needs_of(chart) for path in each.paths if "*" in path)


def pattern(path: str) -> re.Pattern[str]:
    """Regular expression for a dotted path, in which `*` matches any one step."""
    return re.compile(re.escape(path).replace(r"\*", "[^.]+"))


def judge_needs(chart: str, values: Mapping[str, Any]) -> Iterator[Finding]:
    """Findings about `values` that do harm according to the table of needs, in the order of `values`."""
    for path, value in _each(values, ""):
        if (need := need_against(chart, path, value)) is not None and need.severity != "info":
            yield need.finding(path, value)


def about(chart: str, path: str) -> list[Need]:
    """Rows of the table of needs about a path in a chart's values; rows with exactly this path take precedence over
    patterns.
    """
    found = _exact(chart).get(path)
    return list(found) if found else [each for matches, each in _patterns(chart) if matches.fullmatch(path)]


def need_against(chart: str, path: str, value: Any) -> Need | None:
    """Row of the table of needs that does not allow `value` at `path`: the most severe row if there are several, None
    if all rows allow the value.
    """
    found = [each for each in about(chart, path) if not each.allows(value)]
    return max(found, key=lambda each: Severity(each.severity).rank, default=None)


def refusing(chart: str, path: str, value: Any) -> Need | None:
    """Row of the table of needs, with severity `error`, that does not allow `value`; None if all such rows allow it."""
    steps = path.split(".")
    around = (need_against(chart, ".".join(steps[:end]), {steps[end]: value}) for end in range(1, len(steps)))
    found = (*around, need_against(chart, path, value))
    return next((each for each in found if each is not None and each.severity == "error"), None)


def _each(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        path = f"{prefix}{key}"
        yield path, value
        if is_mapping(value):
            yield from _each(value, f"{path}.")
        elif key in JOINED and isinstance(value, list):
            for entry in cast("Sequence[Any]", value):
                if is_mapping(entry) and isinstance(entry.get("name"), str):
                    yield f"{path}.{entry['name']}", entry.get("value")


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if not isinstance(value, Scalar):
        return "this value"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, int) else f"'{value}'"
    return text if len(text) < 50 else "this value"
