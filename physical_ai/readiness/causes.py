"""The table of known causes (`data/causes.yaml`) and the search in it."""

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
    """Why a gate can be shut."""

    id: str
    gates: tuple[str, ...]
    symptom: str
    reason: str
    way_out: str
    source: str
    words: re.Pattern[str] | None
    """In what a pod or node says; None for what follows from the objects."""
    waits: bool
    """It opens by itself when things go well."""

    def told(self, facts: Mapping[str, str]) -> tuple[str, str]:
        """Reason and way out with the facts of a case filled in; what is not known shows as `?`."""
        known = defaultdict(lambda: "?", {key: value for key, value in facts.items() if value})
        return self.reason.format_map(known), self.way_out.format_map(known)


@cache
def causes() -> Mapping[str, Cause]:
    """All known causes by id, in the order they are looked for."""
    rows: Mapping[str, Mapping[str, Any]] = yaml.safe_load(FILE.read_text())
    return {
        key: Cause(
            id=key,
            gates=tuple(row["gates"]),
            symptom=row["symptom"],
            reason=row["reason"],
            way_out=row["wayOut"],
            source=row["source"],
            words=re.compile(row["words"], re.IGNORECASE) if "words" in row else None,
            waits=bool(row.get("waits", False)),
        )
        for key, row in rows.items()
    }


def cause_of(gate: str, text: str) -> tuple[Cause, Mapping[str, str]] | None:
    """The first cause of a shut gate whose words stand in `text`, with the groups its pattern names."""
    for cause in causes().values():
        if gate in cause.gates and cause.words is not None and (found := cause.words.search(text)):
            return cause, {key: value for key, value in found.groupdict().items() if value}
    return None
