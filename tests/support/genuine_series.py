"""Series that the simulator's exporters print for a cluster, before and after a fault.

The exporters' pages are those that a simulated cluster serves. The labels that Prometheus adds and renames are added
here: `node`, and `exported_pod` for an exporter's own `pod`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from physical_ai.telemetry.counters import csv_for
from simulator.faults import Effects, Injected, NodeFaults, faults
from simulator.faults.record import ANNOTATION, annotation, node_faults
from simulator.gpu.hardware import Hardware
from simulator.metrics import dcgm, kube_state, node_exporter
from simulator.metrics.dcgm_units import Job

RELEASE, EXPORTER = "v26.7.0", "4.6.0-4.8.3"
Json = dict[str, Any]
_LINE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
_EXPORTED = re.compile(r"(?<![\w])(pod|namespace|container)=")
NO_FAULTS = NodeFaults()


@dataclass(frozen=True)
class Machine:
    """GPU node, described by everything that its exporters print."""

    name: str
    pool: str
    hardware: Hardware
    resources: Mapping[str, int]
    """Amount of each resource that the node's device plugin offers; empty if resource claims allocate the GPUs."""
    jobs: Sequence[Job] = ()
    grid: bool = False
    per_pod: bool = False
    claims: bool = False
    infiniband: bool = False
    faults: NodeFaults = field(default=NO_FAULTS)
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    scraped: bool = True
    """True if Prometheus scrapes the node's own exporters."""
    taints: Sequence[str] = ()


def injected(machine: Machine, fault: str, gpu: int = 0) -> Machine:
    """Copy of the machine on which only this fault is injected."""
    value = annotation((Injected(fault, gpu, 0.0),))
    assert value is not None
    given = node_faults({"metadata": {"annotations": {ANNOTATION: value}}})
    idle = faults()[fault].effects.idle_job
    jobs = (replace(machine.jobs[0], load=0.0), *machine.jobs[1:]) if idle else machine.jobs
    return replace(machine, faults=given, jobs=jobs)


def series(before: Sequence[Machine], after: Sequence[Machine], change: int, minutes: int) -> dict[str, str]:
    """Series in promtool's notation. The machines are those of `before` until the minute `change`, and then those of
    `after`.
    """
    first, then = sampled(before), sampled(after)
    found: dict[str, str] = {}
    for name in {**first, **then}:
        old, new = first.get(name), then.get(name)
        start = "_" if old is None else run(0.0, old)
        reached = 0.0 if old is None else old[1] * change
        end = "stale" if new is None else f"{run(reached, new)}x{minutes - change}"
        found[name] = f"{start}x{change - 1} {end}"
    return found


def run(start: float, value: tuple[float, float]) -> str:
    base, rise = value
    return f"{base + (start if rise else 0):g}+{rise:g}" if rise else f"{base:g}"


def sampled(machines: Sequence[Machine], minutes: int = 1) -> dict[str, tuple[float, float]]:
    """Value of each series, and the amount by which it rises in some minutes."""
    pages = [_page(machines, clock, totals) for totals in [_totals(machines)] for clock in (0.0, 60.0 * minutes)]
    return {
        name: (value, pages[1].get(name, value) - value if name.split("{")[0].endswith(_RISING) else 0.0)
        for name, value in pages[0].items()
    }


_RISING = ("_COUNTER", "_VIOLATION", "_TOTAL", "_CONSUMPTION", "_ROWS", "_total")


def _totals(machines: Sequence[Machine]) -> dict[str, dcgm.Totals]:
    return {machine.name: dcgm.Totals() for machine in machines}


def _page(machines: Sequence[Machine], clock: float, totals: Mapping[str, dcgm.Totals]) -> dict[str, float]:
    found = {name: value for machine in machines for name, value in _of_node(machine, clock, totals[machine.name])}
    found |= dict(read(_state(machines), ""))
    broken = any(effect.broken or effect.reboots for machine in machines for effect in _effects(machine))
    found["gpu_operator_reconciliation_status"] = float(not broken and not any(each.claims for each in machines))
    return found


def _of_node(machine: Machine, clock: float, totals: dcgm.Totals) -> Iterator[tuple[str, float]]:
    effects = _effects(machine)
    silent = any(each.not_ready for each in effects) or not machine.scraped
    broken = {name for each in effects for name in each.broken}
    toolkit = "nvidia-container-toolkit-ctr" not in broken
    if not silent and toolkit and "nvidia-dcgm-exporter" not in broken:
        yield from read(_dcgm(machine, clock, totals), f'node="{machine.name}"', exported=True)
    if machine.infiniband and machine.scraped:
        yield from read(
            node_exporter.page(machine.hardware.gpus, 0, machine.faults.port_gains(clock)), f'instance="{machine.name}"'
        )
    if silent:
        return
    own = f'{{node="{machine.name}"}}'
    yield f"gpu_operator_node_driver_ready{own}", 1
    yield f"gpu_operator_node_toolkit_ready{own}", float(toolkit)
    yield (
        f"gpu_operator_node_device_plugin_devices_total{own}",
        0 if _is_out(machine) else sum(machine.resources.values()),
    )
    if machine.grid:
        works = not any(each.unlicensed for each in effects)
        for name, value in (("ready", works), ("licensed", works), ("rolled_back", 0), ("agent_faults", 0)):
            yield f"grid_driver_{name}{own}", float(value)
        yield f'grid_driver_info{{node="{machine.name}",installed="595.91.07"}}', 1


def _dcgm(machine: Machine, clock: float, totals: dcgm.Totals) -> str:
    gpus = dcgm.Gpus(
        machine.name,
        machine.hardware,
        "595.91.07",
        EXPORTER,
        machine.jobs,
        machine.faults,
        totals,
        per_pod=machine.per_pod,
        shared=machine.per_pod,
    )
    return dcgm.page(gpus, csv_for(RELEASE), clock)


def _effects(machine: Machine) -> list[Effects]:
    return [faults()[each.fault].effects for each in machine.faults.items]


def _is_out(machine: Machine) -> bool:
    """True if the device plugin does not run, so that the kubelet has dropped its resources."""
    gone = {"nvidia-device-plugin", "nvidia-container-toolkit-ctr"}
    return any(each.driver_lost or gone & set(each.broken) for each in _effects(machine))


def _state(machines: Sequence[Machine]) -> str:
    pods = [pod for machine in machines for pod in _pods(machine)]
    given = kube_state.Objects(
        nodes=[_node(machine) for machine in machines] + [_plain("cpu-1")],
        pods=pods,
        node_labels=("agentpool", "nvidia.com/mig.config.state"),
    )
    return kube_state.KubeState().page(given)


def _plain(name: str) -> Json:
    ready = [{"type": "Ready", "status": "True"}]
    return {"metadata": {"name": name, "labels": {"agentpool": "cpu"}}, "status": {"conditions": ready}}


def _node(machine: Machine) -> Json:
    effects = _effects(machine)
    item = _plain(machine.name)
    item["metadata"]["labels"] = {"agentpool": machine.pool, **machine.labels}
    capacity = {} if _is_out(machine) else {name: str(amount) for name, amount in machine.resources.items()}
    lost = sum(1 for each in effects if each.unhealthy)
    allocatable = {name: str(int(amount) - lost) for name, amount in capacity.items()}
    item["status"] |= {"capacity": capacity, "allocatable": allocatable}
    if any(each.not_ready for each in effects):
        item["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    item["spec"] = {"taints": [{"value": "", **each.taint} for each in effects if each.taint]}
    item["spec"]["taints"] += [{"key": key, "value": "", "effect": "NoSchedule"} for key in machine.taints]
    return item


def _pods(machine: Machine) -> Iterator[Json]:
    if not machine.claims:
        ready = not _is_out(machine)
        yield _pod(machine, "gpu-operator", f"nvidia-device-plugin-daemonset-{machine.name}", ready=ready)
    else:
        # Its validator waits for a device plugin for ever.
        yield _pod(machine, "gpu-operator", f"nvidia-operator-validator-{machine.name}", phase="Pending")
    for job in {job.pod: job for job in machine.jobs}.values():
        yield _pod(machine, job.namespace, job.pod, resources={job.resource: "1"})


def _pod(
    machine: Machine,
    namespace: str,
    name: str,
    *,
    ready: bool = True,
    phase: str = "Running",
    resources: Mapping[str, str] | None = None,
) -> Json:
    container: Json = {"name": "main", "resources": {"requests": dict(resources or {})}}
    status = {"name": "main", "ready": ready, "restartCount": 0, "state": {"running": {}} if ready else {"waiting": {}}}
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}-{ready}"},
        "spec": {"nodeName": machine.name, "containers": [container]},
        "status": {"phase": phase, "containerStatuses": [status]},
    }


def read(page: str, extra: str, *, exported: bool = False) -> Iterator[tuple[str, float]]:
    for line in page.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        labels = _EXPORTED.sub(r"exported_\1=", match[2] or "") if exported else match[2] or ""
        yield f"{match[1]}{{{','.join(filter(None, (extra, labels)))}}}", float(match[3])
