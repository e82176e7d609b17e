"""The DCGM exporter of one node: the fields of its CSV, with the values that the GPU model and its faults give them."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from physical_ai.catalog.telemetry_rows import dcgm_fields
from physical_ai.simulator.faults import NO_FAULTS, Effects, NodeFaults
from physical_ai.simulator.gpu.counters import counters
from physical_ai.simulator.gpu.hardware import Hardware
from physical_ai.simulator.metrics.page import Page, label_text

DATA = Path(__file__).parent / "data" / "dcgm.yaml"
XID_WINDOW = "300000"
"""DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE, in milliseconds."""
UNSEEN_XIDS = (79, 119, 120)
"""What NVML does not report to DCGM (NVIDIA/DCGM#162)."""
XIDS, XID_COUNT = "DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_XID_ERRORS_COUNT"
HEALTH, DRIVER = "DCGM_EXP_GPU_HEALTH_STATUS", "DCGM_FI_DRIVER_VERSION"
CLOCKS = "DCGM_EXP_CLOCK_EVENTS_COUNT"
FREE, USED, RESERVED = "DCGM_FI_DEV_FB_FREE", "DCGM_FI_DEV_FB_USED", "DCGM_FI_DEV_FB_RESERVED"
LICENCE = "DCGM_FI_DEV_VGPU_LICENSE_STATUS"
LOWER_CASE_HOST = (4, 6, 0)
"""DCGM of the first exporter that calls the label `hostname` (NVIDIA/dcgm-exporter#655)."""
PROFILING = "DCGM_FI_PROF_"
BUSY_MEMORY = 0.7


@dataclass(frozen=True)
class Job:
    """The Pod that holds a GPU."""

    namespace: str
    pod: str
    container: str
    load: float = 1.0
    """Share of the values of a busy GPU."""


class Totals:
    """What the counters of an exporter have reached."""

    def __init__(self) -> None:
        self._reached: dict[tuple[int, str], tuple[float, float]] = {}

    def at(self, gpu: int, name: str, rate: float, now: float) -> float:
        """The counter at a time, in seconds, if it has gained `rate` a second since the last call."""
        then, value = self._reached.get((gpu, name), (now, 0.0))
        value += rate * max(now - then, 0)
        self._reached[gpu, name] = (now, value)
        return round(value)


@dataclass(frozen=True)
class Gpus:
    """The GPUs of a node, as its exporter finds them."""

    node: str
    hardware: Hardware
    driver: str
    exporter: str
    """Version: `4.6.0-4.8.3`."""
    jobs: Sequence[Job | None]
    """By number of the GPU."""
    faults: NodeFaults = NO_FAULTS
    totals: Totals = field(default_factory=Totals)


@dataclass(frozen=True)
class _Values:
    gauges: Mapping[str, Sequence[float]]
    counters: Mapping[str, Sequence[float]]
    csv: str


@cache
def _values() -> _Values:
    document: dict[str, Any] = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return _Values(**document)


def default_csv() -> str:
    """The CSV of the exporter's image."""
    return _values().csv


def modelled() -> frozenset[str]:
    """Names of all fields that a simulated GPU can report."""
    own = {XID_COUNT, HEALTH, DRIVER, CLOCKS, FREE, USED, LICENCE}
    return frozenset(own | set(_values().gauges) | set(_values().counters))


def page(gpus: Gpus, text: str, now: float) -> str:
    """What the exporter prints at a time, in seconds since the epoch, with this CSV."""
    lines = counters(text)
    labels = [each.name for each in lines if each.type == "label"]
    result = Page()
    for index in range(gpus.hardware.gpus):
        gpu = _Gpu(gpus, index, now)
        if gpu.is_lost:
            continue
        own = label_text(gpu.labels({DRIVER: gpus.driver} if DRIVER in labels else {}))
        for line in lines:
            if line.type == "label" or not gpu.has(line.name):
                continue
            result.family(line.name, line.type, line.help)
            for extra, value in gpu.samples(line.name):
                result.line(line.name, f"{own},{label_text(extra)}" if extra else own, value)
    return result.text()


@dataclass
class _Gpu:
    """One GPU at one time."""

    node: Gpus
    index: int
    now: float
    effects: Sequence[tuple[Effects, float]] = field(init=False)

    def __post_init__(self) -> None:
        self.effects = self.node.faults.of_gpu(self.index)

    @property
    def is_lost(self) -> bool:
        return self.node.faults.driver_lost or any(effect.lost for effect, _ in self.effects)

    @property
    def job(self) -> Job | None:
        return self.node.jobs[self.index] if self.index < len(self.node.jobs) else None

    @property
    def load(self) -> float:
        return self.job.load if self.job is not None else 0.0

    def has(self, name: str) -> bool:
        """Whether the GPU reports the field.

        NVML gives a MIG-backed vGPU the profiling metrics if it has all memory of its GPU; not seen on Azure.
        """
        known = dcgm_fields().get(name)
        if known is None or name not in modelled():
            return False
        return not self.node.hardware.vgpu or known.vgpu == "yes" or known.exporter or name.startswith(PROFILING)

    def labels(self, driver: Mapping[str, str]) -> dict[str, str]:
        hardware, mig = self.node.hardware, self.node.hardware.mig[self.index]
        host = "hostname" if _dcgm(self.node.exporter) >= LOWER_CASE_HOST else "Hostname"
        own = {
            "gpu": str(self.index),
            "UUID": f"GPU-{_digest(self.node.node, self.index)}",
            "pci_bus_id": f"{self.index + 1:08X}:00:00.0",
            "device": f"nvidia{self.index}",
            "modelName": hardware.product.replace("-", " ", 1 if hardware.vgpu else -1),
        }
        if mig and len(mig) == 1:
            own |= {"GPU_I_PROFILE": mig[0], "GPU_I_ID": "0"}
        own |= {host: self.node.node, **driver}
        if self.job is not None:
            own |= {"container": self.job.container, "namespace": self.job.namespace, "pod": self.job.pod}
        return own

    def samples(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        if name == XID_COUNT:
            yield from self._xid_counts()
        elif name == HEALTH:
            status = max((effect.health for effect, _ in self.effects), default=0)
            yield {"health_watch": "ALL", "health_error_code": "DCGM_FR_UNKNOWN" if status else ""}, status
        elif name == CLOCKS:
            yield {"clock_event": "gpu_idle", "window_size_in_ms": XID_WINDOW}, float(self.load == 0)
        elif name == XIDS:
            seen = self._xids()
            yield (
                ({"err_code": str(seen[-1]), "err_msg": "See the NVIDIA Xid catalog"} if seen else {}),
                (seen[-1] if seen else 0),
            )
        else:
            yield {}, self._value(name)

    def _xids(self) -> list[int]:
        found = sorted((since, effect.xid) for effect, since in self.effects if effect.xid)
        return [xid for _, xid in found if xid not in UNSEEN_XIDS]

    def _xid_counts(self) -> Iterator[tuple[dict[str, str], float]]:
        window = {"window_size_in_ms": XID_WINDOW}
        seen = sorted(set(self._xids()))
        if not seen:
            yield window, 0
        for xid in seen:
            yield {**window, "xid": str(xid)}, 1

    def _value(self, name: str) -> float:
        for effect, _ in reversed(self.effects):
            if name in effect.fields:
                return effect.fields[name]
        if name in (FREE, USED):
            return self._memory(name)
        if name == LICENCE:
            return float(self.node.hardware.vgpu and not self.node.faults.unlicensed)
        if name in _values().counters:
            return self._count(name)
        idle, busy = _values().gauges[name]
        return round(idle + (busy - idle) * self.load, 4)

    def _memory(self, name: str) -> float:
        total = self.node.hardware.memory_mib - _values().gauges[RESERVED][0]
        used = round(total * BUSY_MEMORY) if self.job is not None else 0
        return used if name == USED else total - used

    def _count(self, name: str) -> float:
        idle, busy = _values().counters[name]
        rate = idle + (busy - idle) * self.load + sum(effect.rates.get(name, 0) for effect, _ in self.effects)
        return self.node.totals.at(self.index, name, rate, self.now)


@cache
def _digest(node: str, index: int) -> str:
    return str(uuid.UUID(hashlib.md5(f"{node}/{index}".encode(), usedforsecurity=False).hexdigest()))


@cache
def _dcgm(exporter: str) -> tuple[int, ...]:
    """Version of DCGM in an exporter's: `4.6.0-4.8.3` → (4, 6, 0)."""
    return tuple(int(part) for part in exporter.partition("-")[0].split(".") if part.isdigit())
