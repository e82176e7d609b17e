"""The CSV of the DCGM exporter: which fields it reports.

There is one CSV for all pools, because the GPU Operator mounts one into its one DaemonSet. A field that a GPU does not
support has no series; a name that the exporter does not know makes it exit at its start, on every node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from physical_ai.catalog import operator_release
from physical_ai.catalog.lookup import UnknownName, nearest
from physical_ai.catalog.telemetry_rows import DcgmField, dcgm_field, dcgm_fields
from physical_ai.telemetry.parameters import PoolFacts

CONFIG_MAP = "dcgm-exporter-counters"
KEY = "dcgm-metrics.csv"
"""The key that the operator mounts (NVIDIA/gpu-operator controllers/object_controls.go)."""
SERIES_OF_FIELD = {"DCGM_EXP_GPU_HEALTH_STATUS": 9}
"""Fields with several series a GPU while nothing is wrong: one for each health watch of DCGM."""


def fields_for(exporter: str, added: Sequence[str] = ()) -> tuple[DcgmField, ...]:
    """The fields to report, in order: those of the catalogue that the exporter knows, and the added ones.

    Args:
        exporter: Version of the exporter, as `4.5.3-4.8.2`.
        added: Names beside the default ones.

    Raises:
        UnknownName: an added name is unknown, or unknown to this exporter, which would exit.
    """
    for name in added:
        if exporter in dcgm_field(name).missing:
            known = [other.name for other in dcgm_fields().values() if exporter not in other.missing]
            raise UnknownName(f"field of DCGM exporter {exporter}", name, nearest(name, known))
    wanted = (field for field in dcgm_fields().values() if field.default or field.name in added)
    return tuple(field for field in wanted if exporter not in field.missing)


def exporter_of(release: str) -> str:
    """Version of the DCGM exporter in a GPU Operator release. Raises `UnknownName`."""
    return operator_release(release).dcgm_exporter


def csv_for(release: str, added: Sequence[str] = ()) -> str:
    """The CSV for a GPU Operator release. Raises `UnknownName`."""
    return csv(fields_for(exporter_of(release), added))


def csv(fields: Iterable[DcgmField]) -> str:
    """The exporter's format: name, type and help, without a comma in the help.

    >>> print(csv([dcgm_field("DCGM_FI_DEV_GPU_TEMP")]), end="")
    DCGM_FI_DEV_GPU_TEMP, gauge, Temperature of the GPU (celsius).
    """
    return "".join(f"{field.name}, {field.type}, {field.help} ({field.unit}).\n" for field in fields)


def read_csv(text: str, exporter: str) -> tuple[str, ...]:
    """Names in a CSV, checked as the exporter checks them at its start. Raises ValueError with its reason."""
    names: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        columns = [column.strip() for column in line.split(",")]
        if len(columns) != 3:
            raise ValueError(f"line {number}: malformed; {len(columns)} columns instead of 3")
        name, kind, _ = columns
        if kind not in ("gauge", "counter", "histogram", "summary", "label"):
            raise ValueError(f"line {number}: could not find Prometheus metric type {kind}")
        field = dcgm_fields().get(name)
        if field is None or exporter in field.missing:
            raise ValueError(f"line {number}: could not find DCGM field {name}")
        if name in names:
            raise ValueError(f"line {number}: {name} is a duplicate")
        names.append(name)
    return tuple(names)


def digest(text: str) -> str:
    """A short text that changes with the CSV. The exporter reads it only at its start."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Cardinality:
    """Series that one node of a pool costs."""

    least: int
    """With the fields that are known to be supported."""
    most: int
    """With those of which it is not known, too."""


def series_per_node(pool: PoolFacts, fields: Iterable[DcgmField]) -> Cardinality:
    """Series of the DCGM exporter on one node. Sharing adds none: the exporter names one Pod for each GPU.

    A field of instances has a series for each MIG instance that the guest cuts, and one for each GPU otherwise.
    """
    counts = {"yes": 0, "unknown": 0, "no": 0}
    for field in fields:
        if field.type == "label":
            continue
        of_instances = field.each == "instance" and pool.instances
        series = (pool.instances if of_instances else pool.gpus) * SERIES_OF_FIELD.get(field.name, 1)
        counts[field.vgpu if pool.virtual else "yes"] += series
    return Cardinality(counts["yes"], counts["yes"] + counts["unknown"])
