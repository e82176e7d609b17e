"""CSV file of the DCGM exporter, with the fields that it reports.

All pools have the same CSV, because the GPU Operator mounts one into its single DaemonSet. It also fits pools whose
GPUs support fewer fields, such as vGPUs: the exporter reads each field of each GPU separately, and prints nothing for
a field without a value (NVIDIA/dcgm-exporter internal/pkg/collector/gpu_collector.go, `toMetric` and `skipDCGMValue`).
A field name that the exporter does not know makes it exit at its start, on every node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from physical_ai.catalog import operator_release
from physical_ai.catalog.lookup import UnknownName, nearest
from physical_ai.catalog.telemetry_rows import DcgmField, dcgm_exporters, dcgm_field, dcgm_fields
from physical_ai.telemetry.parameters import PoolFacts

CONFIG_MAP = "dcgm-exporter-counters"
KEY = "dcgm-metrics.csv"
"""Key of the CSV in the ConfigMap, as the operator expects it (NVIDIA/gpu-operator controllers/object_controls.go)."""
HEALTH = "DCGM_EXP_GPU_HEALTH_STATUS"
"""Field that has several series per GPU even without a fault: one for each health watch of DCGM."""
RESOURCE_NAMES = "NVIDIA_RESOURCE_NAMES"
"""Environment variable of the exporter that lists further resource names. For GPUs of these resources, besides
nvidia.com/gpu and MIG resources, the exporter adds the Pod's name to the series.
"""
PER_POD = "KUBERNETES_VIRTUAL_GPUS"
"""Environment variable of the exporter that gives each Pod sharing a GPU its own series."""


def fields_for(exporter: str, added: Sequence[str] = ()) -> tuple[DcgmField, ...]:
    """Fields to report, in order: the default fields that the exporter knows, and the fields in `added`.

    Args:
        exporter: Version of the exporter, such as `4.5.3-4.8.2`.
        added: Names of additional fields.

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
    """CSV for a GPU Operator release. Raises `UnknownName`."""
    return csv(fields_for(exporter_of(release), added))


def csv(fields: Iterable[DcgmField]) -> str:
    """Fields in the exporter's format: name, type and help text, which must not contain a comma.

    >>> print(csv([dcgm_field("DCGM_FI_DEV_GPU_TEMP")]), end="")
    DCGM_FI_DEV_GPU_TEMP, gauge, Temperature of the GPU (celsius).
    """
    return "".join(f"{field.name}, {field.type}, {field.help} ({field.unit}).\n" for field in fields)


def digest(text: str) -> str:
    """Short text that changes with the CSV, to restart the exporter, which reads the CSV only at its start."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def names_each_pod(exporter: str) -> bool:
    """True if the exporter version can report separate series for each Pod that shares a GPU, and also reports GPUs
    that no Pod holds.

    Without the second property, faults of GPUs that no Pod holds would stay unseen.
    """
    return dcgm_exporters()[exporter].unheld == "reported"


@dataclass(frozen=True)
class Cardinality:
    """Lower bound (`least`) and upper bound (`most`) of the number of time series of one node. The lower bound counts
    only fields that the GPUs are known to support.
    """

    unit: Literal["GPU", "MIG instance", "share"]
    """Unit that has its own series; a share is one of the Pods that share a GPU or a MIG instance."""
    units: int
    """Number of units on one node."""
    least_each: int
    most_each: int
    """Largest number of series of a unit, if all units are in use."""
    least: int
    most: int
    """Largest number of series of the node."""


def series_per_node(pool: PoolFacts, fields: Iterable[DcgmField], exporter: str) -> Cardinality:
    """Bounds on the number of time series that the DCGM exporter has on one node of the pool.

    An exporter that cannot report each Pod on a shared GPU names one of the Pods, so sharing adds no series.
    """
    shares = pool.shares if names_each_pod(exporter) else 1
    instances = pool.instances or pool.gpus
    each, whole = {"yes": 0, "unknown": 0, "no": 0}, {"yes": 0, "unknown": 0, "no": 0}
    for field in fields:
        known = field.vgpu if pool.virtual else "yes"
        if field.type == "label" or (pool.instances and field.mig == "none"):
            continue
        if field.name == HEALTH:
            whole[known] += len(dcgm_exporters()[exporter].watches)
        else:
            each[known] += 1
    if instances == pool.gpus:  # each GPU also has a series about its health
        each, whole = {known: each[known] + whole[known] for known in each}, dict.fromkeys(whole, 0)
    least, most = each["yes"], each["yes"] + each["unknown"]
    besides = whole["yes"] * pool.gpus, (whole["yes"] + whole["unknown"]) * pool.gpus
    units = instances * shares
    return Cardinality(
        unit="share" if shares > 1 else "MIG instance" if pool.instances else "GPU",
        units=units,
        least_each=least,
        most_each=most,
        least=units * least + besides[0],
        most=units * most + besides[1],
    )
