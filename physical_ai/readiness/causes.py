"""The known causes, of closed gates (`data/causes.yaml`) and of Pods that do not run (`data/workload_causes.yaml`), and
the search for the one that fits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai import safe_yaml

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Cause:
    """A reason for a closed gate, or for a Pod that does not run."""

    id: str
    stages: tuple[str, ...]
    """Where it can occur: gates of a node, or stages of a Pod."""
    symptom: str
    reason: str
    fix: str
    source: str
    pattern: re.Pattern[str] | None
    """In the messages of a pod or node; None for a cause that follows from the objects."""
    waits: bool
    """The gate usually opens without an action."""

    def describe(self, facts: Mapping[str, str]) -> tuple[str, str]:
        """Reason and fix with the facts of one node filled in; an unknown fact appears as `?`."""
        known = defaultdict(lambda: "?", {key: value for key, value in facts.items() if value})
        return self.reason.format_map(known), self.fix.format_map(known)


@cache
def causes() -> Mapping[str, Cause]:
    """The known causes of closed gates by id, in the order of the search."""
    return _read("causes.yaml", "gates")


@cache
def amd_causes() -> Mapping[str, Cause]:
    """The known causes of closed gates on nodes with AMD's GPUs by id, in the order of the search."""
    return _read("amd_causes.yaml", "gates")


@cache
def workload_causes() -> Mapping[str, Cause]:
    """The known causes for which a Pod does not run, by id, in the order of the search."""
    return _read("workload_causes.yaml", "stages")


def _read(file: str, stages: str) -> Mapping[str, Cause]:
    rows: Mapping[str, Mapping[str, Any]] = safe_yaml.load((DATA / file).read_text())
    return {
        key: Cause(
            id=key,
            stages=tuple(row[stages]),
            symptom=row["symptom"],
            reason=row["reason"],
            fix=row["fix"],
            source=row["source"],
            pattern=re.compile(row["pattern"], re.IGNORECASE) if "pattern" in row else None,
            waits=bool(row.get("waits", False)),
        )
        for key, row in rows.items()
    }


def cause_of(gate: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    """The first cause of a closed gate whose pattern matches `text`, with the pattern's named groups."""
    return _matching(causes(), gate, text)


def amd_cause_of(gate: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    """The same on nodes with AMD's GPUs."""
    return _matching(amd_causes(), gate, text)


def workload_cause_of(stage: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    """The same for a stage of a Pod."""
    return _matching(workload_causes(), stage, text)


def _matching(known: Mapping[str, Cause], stage: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    for cause in known.values():
        if stage in cause.stages and cause.pattern is not None and (found := cause.pattern.search(text)):
            return cause, {key: value for key, value in found.groupdict().items() if value}
    return None
