"""The DCGM exporter of one node: the fields of its CSV, with values from the simulated GPU and its faults.

All Pods that share a GPU get the values of the whole GPU (NVIDIA/dcgm-exporter#587). From 4.5.3-4.8.2 on, there are
additional series with the label pod_uid: the memory and utilization of each Pod's own processes (#594;
internal/pkg/transformation/kubernetes.go, createPerProcessMetrics).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.catalog.telemetry_rows import dcgm_exporters, dcgm_fields
from simulator.faults import NO_FAULTS, Effects, NodeFaults
from simulator.gpu.counters import counters
from simulator.gpu.hardware import Hardware, card_digest
from simulator.metrics.dcgm_health import incidents
from simulator.metrics.dcgm_units import Job, Unit, holders, units
from simulator.metrics.dcgm_values import (
    BUSY_MEMORY,
    BY_PROCESS,
    CLOCKS,
    DRIVER,
    FREE,
    HEALTH,
    LICENCE,
    LINK,
    PROFILING,
    REASONS,
    RESERVED,
    USED,
    XID_COUNT,
    XIDS,
    modelled,
    values,
)
from simulator.metrics.page import Page, label_text

XID_WINDOW = "300000"
"""Value of DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE: the window, in milliseconds, in which the exporter counts Xids."""
UNSEEN_XIDS = (79, 119, 120)
"""Xids that NVML does not report to DCGM (NVIDIA/DCGM#162)."""


class Totals:
    """Counters and remembered Xids of one exporter, kept between two scrapes."""

    def __init__(self) -> None:
        self._reached: dict[tuple[int, str], tuple[float, float]] = {}
        self._xids: dict[int, set[int]] = {}

    def seen(self, gpu: int, xids: Sequence[int]) -> set[int]:
        """All Xids that a GPU has had since the start of the exporter, including the new `xids`. A running DCGM never
        forgets an Xid.
        """
        kept = self._xids.setdefault(gpu, set())
        kept.update(xids)
        return kept

    def at(self, gpu: int, name: str, rate: float, now: float) -> float:
        """Value of the counter `name` at time `now` in seconds. Since the last call it has gained `rate` per second."""
        then, value = self._reached.get((gpu, name), (now, 0.0))
        value += rate * max(now - then, 0)
        self._reached[gpu, name] = (now, value)
        return round(value)


@dataclass(frozen=True)
class Gpus:
    """The GPUs of a node and their use, as the node's exporter sees them."""

    node: str
    hardware: Hardware
    driver: str
    exporter: str
    """Version of the exporter: `4.6.0-4.8.3`."""
    jobs: Sequence[Job]
    """Jobs in the order in which they got their GPUs."""
    faults: NodeFaults = NO_FAULTS
    totals: Totals = field(default_factory=Totals)
    per_pod: bool = False
    """True if KUBERNETES_VIRTUAL_GPUS is set: each of the Pods that share a GPU then has its own series."""
    shared: bool = False
    """True if the device plugin offers shares of GPUs."""


def page(gpus: Gpus, text: str, now: float) -> str:
    """Output of the exporter with the CSV `text` at the time `now`, in seconds since the epoch."""
    lines = counters(text)
    driver = {DRIVER: gpus.driver} if any(each.name == DRIVER for each in lines if each.type == "label") else {}
    monitored = units(gpus.hardware.mig)
    held = dict(zip(monitored, holders(monitored, gpus.jobs), strict=True))
    result, complete = Page(), set[int]()
    for unit in monitored:
        gpu = _Unit(gpus, unit, held, now)
        if gpu.is_lost:
            continue
        shown = [label_text({**gpu.labels(driver), **each}) for each in gpu.pods()]
        for line in lines:
            if line.type == "label" or not gpu.has(line.name) or (line.name == HEALTH and unit.gpu in complete):
                continue
            result.family(line.name, line.type, line.help)
            for extra, value in gpu.by_process(line.name):
                result.line(line.name, label_text({**gpu.labels(driver), **extra}), value)
            if gpu.is_by_process(line.name):
                continue
            for own in shown if line.name != HEALTH else [label_text(gpu.labels(driver, whole=True))]:
                for extra, value in gpu.samples(line.name):
                    result.line(line.name, f"{own},{label_text(extra)}" if extra else own, value)
        complete.add(unit.gpu)
    return result.text()


@dataclass
class _Unit:
    """One GPU or MIG instance at a point in time."""

    node: Gpus
    unit: Unit
    held: Mapping[Unit, Sequence[Job]]
    """Jobs that hold each GPU or MIG instance of the node."""
    now: float
    effects: Sequence[tuple[Effects, float]] = field(init=False)

    def __post_init__(self) -> None:
        self.effects = self.node.faults.of_gpu(self.unit.gpu)

    @property
    def is_lost(self) -> bool:
        return self.node.faults.driver_lost or any(effect.lost for effect, _ in self.effects)

    @property
    def jobs(self) -> Sequence[Job]:
        return self.held[self.unit]

    @property
    def load(self) -> float:
        return max((job.load for job in self.jobs), default=0.0)

    @property
    def gpu_load(self) -> float:
        """Load of the whole GPU: the mean load of its instances."""
        loads = [
            max((job.load for job in jobs), default=0.0)
            for unit, jobs in self.held.items()
            if unit.gpu == self.unit.gpu
        ]
        return sum(loads) / len(loads)

    def has(self, name: str) -> bool:
        """True if the exporter reports the field for this unit.

        A MIG-backed vGPU is assumed to have the profiling metrics if the VM has all memory of the GPU; nobody has
        checked this on Azure. A VM with a part of a GPU was seen without these metrics (NVIDIA/dcgm-exporter#661).
        """
        known = dcgm_fields().get(name)
        if known is None or name not in modelled() or (self.unit.instance is not None and known.mig == "none"):
            return False
        if not self.node.hardware.vgpu or known.vgpu == "yes" or known.exporter:
            return True
        return name.startswith(PROFILING) and self.node.hardware.complete

    def labels(self, driver: Mapping[str, str], *, whole: bool = False) -> dict[str, str]:
        """Labels of the unit's series, without labels of Pods. With `whole`, a MIG instance gets the labels of its
        GPU.
        """
        index, hardware = self.unit.gpu, self.node.hardware
        own = {
            "gpu": str(index),
            "UUID": f"GPU-{card_digest(self.node.node, index)}",
            "pci_bus_id": f"{index + 1:08X}:00:00.0",
            "device": f"nvidia{index}",
            "modelName": hardware.product.replace("-", " ", 1 if hardware.vgpu else -1),
        }
        if self.unit.instance is not None and not whole:
            own |= {"GPU_I_PROFILE": self.unit.profile, "GPU_I_ID": str(self.unit.instance)}
        return own | {dcgm_exporters()[self.node.exporter].host_label: self.node.node, **driver}

    def pods(self) -> list[dict[str, str]]:
        """Label sets of the Pods that hold the unit; each set makes one series of a field. For a unit that no Pod
        holds: one empty set if the exporter reports the unit, otherwise no set.

        Without KUBERNETES_VIRTUAL_GPUS, the exporter names only one of the Pods that share a GPU.
        """
        if not self.jobs:
            return [{}] if self._is_reported() else []
        named = list(enumerate(self.jobs))
        if not self.node.per_pod:
            named = named[-1:]
        return [
            {"container": job.container, "namespace": job.namespace, "pod": job.pod}
            | ({"vgpu": str(replica)} if self.node.per_pod and self.node.shared else {})
            for replica, job in named
        ]

    def is_by_process(self, name: str) -> bool:
        """True if the field has one series for each Pod's own processes, in addition to a series for the
        whole device.
        """
        recent = dcgm_exporters()[self.node.exporter].unheld == "reported"
        return self.node.per_pod and recent and bool(self.jobs) and name in BY_PROCESS

    def by_process(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        """Labels and values of a field's series by process. First comes the value of the whole device, without a Pod,
        and then each Pod's share of the value, in proportion to the Pod's load. Empty if the field has no such series.
        """
        if not self.is_by_process(name):
            return
        whole = self._value(name)
        yield {}, whole
        total = sum(job.load for job in self.jobs)
        for own, job in zip(self.pods(), self.jobs, strict=True):
            part = whole * job.load / total if total else 0.0
            yield {**own, "pod_uid": f"uid-of-{job.pod}"}, round(part)

    def _is_reported(self) -> bool:
        """True if the exporter reports the unit even if no Pod holds it. Only exporters with KUBERNETES_VIRTUAL_GPUS
        can leave out such a unit.
        """
        match dcgm_exporters()[self.node.exporter].unheld:
            case "silent" if self.node.per_pod:
                return False
            case "hidden" if self.node.per_pod:
                return not any(self.held.values())
            case _:
                return True

    def samples(self, name: str) -> Iterator[tuple[dict[str, str], float]]:
        if name == XID_COUNT:
            yield from self._xid_counts()
        elif name == HEALTH:
            yield from self._health()
        elif name == CLOCKS:
            yield {"clock_event": "gpu_idle", "window_size_in_ms": XID_WINDOW}, float(self.gpu_load == 0)
        elif name == XIDS:
            seen = self._xids()
            yield (
                ({"err_code": str(seen[-1]), "err_msg": "See the NVIDIA Xid catalog"} if seen else {}),
                (seen[-1] if seen else 0),
            )
        else:
            yield {}, self._value(name)

    def _health(self) -> Iterator[tuple[dict[str, str], float]]:
        hardware, index = self.node.hardware, self.unit.gpu
        seen = self.node.totals.seen(index, self._xids())
        mig = self.unit.instance is not None
        kept = incidents(self.node.exporter, hardware.product, seen, mig=mig)
        found: dict[str, Mapping[str, Any]] = {watch: vars(each) for watch, each in kept.items()}
        found |= {effect.health["watch"]: effect.health for effect, _ in self.effects if effect.health}
        for watch in dcgm_exporters()[self.node.exporter].watches:
            incident = found.get(watch, {})
            labels = {"health_watch": watch, "health_error_code": str(incident.get("code", "DCGM_FR_OK"))}
            yield labels, float(incident.get("status", 0))

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
        if name in values().counters:
            return self._count(name)
        idle, busy = values().gauges[name]
        if name.endswith((REASONS, LINK)):
            return idle if self.gpu_load == 0 else busy
        # Profiling is counted for each instance; clocks, power and temperature are the GPU's.
        return round(idle + (busy - idle) * (self.load if name.startswith(PROFILING) else self.gpu_load), 4)

    def _memory(self, name: str) -> float:
        total = (self.unit.memory_mib or self.node.hardware.memory_mib) - values().gauges[RESERVED][0]
        used = round(total * BUSY_MEMORY) if self.jobs else 0
        return used if name == USED else total - used

    def _count(self, name: str) -> float:
        idle, busy = values().counters[name]
        rate = idle + (busy - idle) * self.gpu_load + sum(effect.rates.get(name, 0) for effect, _ in self.effects)
        return self.node.totals.at(self.unit.gpu, name, rate, self.now)
