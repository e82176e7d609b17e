"""The known causes (`data/causes.yaml`) and the search for the one that fits."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parent / "data" / "causes.yaml"


@dataclass(frozen=True)
class Cause:
    """A reason for a closed gate."""

    id: str
    gates: tuple[str, ...]
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
    """All known causes by id, in the order of the search."""
    rows: Mapping[str, Mapping[str, Any]] = yaml.safe_load(FILE.read_text())
    return {
        key: Cause(
            id=key,
            gates=tuple(row["gates"]),
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
    for cause in causes().values():
        if gate in cause.gates and cause.pattern is not None and (found := cause.pattern.search(text)):
            return cause, {key: value for key, value in found.groupdict().items() if value}
    return None
