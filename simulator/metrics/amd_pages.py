"""AMD's device metrics exporter on one node: the configured fields of each GPU, with values of a healthy GPU.

The output includes fields that a guest may not be able to report. Source of the labels: ROCm/device-metrics-exporter
pkg/amdgpu/gpuagent/gpuagent_gpu_metrics.go (gpuMandatoryLables); the labels for Slurm are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from physical_ai.catalog import Gpu
from physical_ai.catalog.telemetry_rows import amd_fields
from physical_ai.catalog.vendors import AMD
from simulator.cluster.objects import Json, at, name
from simulator.metrics.page import Page

CLOCKS = 8
"""Number of clocks of a GPU. GPU_CLOCK has one series for each clock."""
BUSY_MEMORY = 0.7
STEADY = {"GPU_HEALTH": 1.0, "GPU_MEMORY_TEMPERATURE": 55.0}


@dataclass(frozen=True)
class Holder:
    """A container that holds a GPU, with the load of this GPU from 0 (idle) to 1 (busy)."""

    namespace: str
    pod: str
    container: str
    load: float


def fields_of(config: Json | None) -> Sequence[str]:
    """Fields that the exporter's ConfigMap names; all fields if the ConfigMap names none.

    Unknown fields are ignored, as in the real exporter.
    """
    known, given = list(amd_fields()), _parsed(config)
    wanted = at(given, "GPUConfig.Fields", [])
    return [field for field in wanted if field in known] if wanted else known


def prefix_of(config: Json | None) -> str:
    """Prefix that the exporter's configuration gives to the names of its series."""
    return str(at(_parsed(config), "CommonConfig.MetricsFieldPrefix", ""))


def _parsed(config: Json | None) -> Json:
    """Configuration of the exporter; empty if the exporter cannot parse it and therefore uses its defaults."""
    try:
        document: Any = json.loads(at(config or {}, "data", {}).get("config.json", "{}"))
    except ValueError:
        return {}
    return cast("Json", document) if isinstance(document, dict) else {}


def holders(pods: Sequence[Json], node: str, load_of: Mapping[str, float]) -> list[Holder]:
    """Containers that hold the GPUs of a node, one for each GPU, in the order in which their Pods started.

    `load_of`: load by Pod uid.
    """
    here = [pod for pod in pods if at(pod, "spec.nodeName") == node and at(pod, "status.phase") == "Running"]
    here.sort(key=lambda pod: (str(at(pod, "status.startTime", "")), name(pod)))
    return [
        Holder(
            str(at(pod, "metadata.namespace", "")),
            name(pod),
            container["name"],
            load_of.get(str(at(pod, "metadata.uid")), 1.0),
        )
        for pod in here
        for container in pod["spec"]["containers"]
        for _ in range(int(at(container, "resources.limits", {}).get(AMD.resource, 0)))
    ]


def page(node: str, gpu: Gpu, config: Json | None, held: Sequence[Holder]) -> str:
    """Output of AMD's exporter on a node; `held` is the result of `holders`."""
    result, prefix = Page(), prefix_of(config)
    for field in fields_of(config):
        family = f"{prefix}{field.lower()}"
        result.family(family, "gauge", f"{amd_fields()[field].help}.")
        for index in range(gpu.count):
            holder = held[index] if index < len(held) else None
            for extra, value in _samples(field, gpu, holder.load if holder else 0.0):
                result.sample(family, {**_labels(node, gpu, index, holder), **extra}, value)
    return result.text()


def _samples(field: str, gpu: Gpu, load: float) -> Iterator[tuple[Mapping[str, str], float]]:
    memory = gpu.memory_gib * 1024
    values = {
        **STEADY,
        "GPU_GFX_ACTIVITY": round(100 * load),
        "GPU_UMC_ACTIVITY": round(60 * load),
        "GPU_TOTAL_VRAM": memory,
        "GPU_USED_VRAM": round(memory * BUSY_MEMORY * (load > 0)),
        "GPU_JUNCTION_TEMPERATURE": round(45 + 30 * load),
        "GPU_PACKAGE_POWER": round(140 + 560 * load),
    }
    if field == "GPU_CLOCK":
        for clock in range(CLOCKS):
            yield {"clock_index": str(clock), "clock_type": "GPU_CLOCK_TYPE_SYSTEM"}, round(132 + 1968 * load)
        return
    yield {}, values.get(field, 0.0)


def _labels(node: str, gpu: Gpu, index: int, holder: Holder | None) -> dict[str, str]:
    return {
        "gpu_id": str(index),
        "serial_number": "",
        "card_model": "",
        "gpu_partition_id": "0",
        "gpu_compute_partition_type": "spx",
        "gpu_memory_partition_type": "nps1",
        "hostname": node,
        "namespace": holder.namespace if holder else "",
        "pod": holder.pod if holder else "",
        "container": holder.container if holder else "",
        "job_id": "",
        "job_user": "",
        "job_partition": "",
    }
