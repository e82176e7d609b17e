"""Configuration of AMD's device metrics exporter: which fields it reports, and the names of its series.

A prefix is set because the fields' own names begin with gpu_, like those of other exporters; AMD's dashboards use the
same prefix. Without a list, the exporter reports all fields, which are hundreds of series for each GPU.
"""

from __future__ import annotations

import json

from physical_ai.catalog.telemetry_rows import amd_fields
from physical_ai.telemetry.counters import Cardinality

CONFIG_MAP = "amd-exporter-fields"
KEY = "config.json"
"""Key of the configuration in the ConfigMap, as the exporter expects it (ROCm/gpu-operator
docs/metrics/exporter.md).
"""
PREFIX = "amd_"


def exporter_config() -> str:
    """Configuration of AMD's device metrics exporter, as JSON text.

    >>> json.loads(exporter_config())["CommonConfig"]
    {'MetricsFieldPrefix': 'amd_'}
    """
    config = {"GPUConfig": {"Fields": list(amd_fields())}, "CommonConfig": {"MetricsFieldPrefix": PREFIX}}
    return json.dumps(config, indent=2) + "\n"


def series(field: str) -> str:
    """Name of the time series that AMD's exporter makes from a field.

    >>> series("GPU_GFX_ACTIVITY")
    'amd_gpu_gfx_activity'
    """
    return f"{PREFIX}{field.lower()}"


def amd_series_per_node(gpus: int) -> Cardinality:
    """Number of time series that AMD's exporter has on a node with `gpus` GPUs. Upper bound: all configured fields;
    lower bound: the fields that are known to be reported in VMs.
    """
    fields = amd_fields().values()
    least = sum(1 for each in fields if each.guest == "yes")
    return Cardinality("GPU", gpus, least, len(fields), gpus * least, gpus * len(fields))
