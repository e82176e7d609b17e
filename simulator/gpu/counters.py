"""The CSV of a DCGM exporter, as the exporter reads it at its start."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from physical_ai.catalog.telemetry_rows import dcgm_fields

KEY = "dcgm-metrics.csv"
"""Key of the exporter's CSV in the ConfigMap that the GPU Operator mounts."""


TYPES = ("gauge", "counter", "histogram", "summary", "label")
"""Metric types that the second column of the CSV may name."""


class UnknownField(Exception):
    """Error that ends the exporter at its start: the CSV names a field that the exporter does not know."""


@dataclass(frozen=True)
class Counter:
    """One line of the exporter's CSV."""

    name: str
    type: str
    help: str


@cache
def counters(text: str) -> tuple[Counter, ...]:
    """The lines of a CSV, without comments.

    Raises:
        UnknownField: a line does not have three columns.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    found: list[Counter] = []
    for row in csv.reader(lines):
        if len(row) != 3:
            raise UnknownField(f"malformed CSV record; {','.join(row)!r} has {len(row)} columns instead of 3")
        found.append(Counter(*(part.strip() for part in row)))
    return tuple(found)


def csv_fault(text: str, exporter: str) -> str:
    """Reason why a DCGM exporter of the version `exporter` ends when it starts; empty if the exporter
    accepts the CSV.
    """
    try:
        for each in counters(text):
            if each.type not in TYPES:
                return f"could not find Prometheus metric type {each.type}"
            field = dcgm_fields().get(each.name)
            if field is None or exporter in field.missing:
                return f"could not find DCGM field; err: {each.name}"
    except UnknownField as fault:
        return str(fault)
    return ""
