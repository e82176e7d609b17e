"""The rules against what exporters print: healthy stacks have no alert for a day, and each fault has its one alert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from physical_ai.catalog import machine as machine_of
from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.parameters import Parameters
from physical_ai.telemetry.rule_rows import alert_rows
from simulator.faults import Fault, faults
from simulator.gpu.hardware import of_size
from simulator.metrics.dcgm_units import Job
from tests.support.alert_series import KAI, LISTENER, WORKER, phase
from tests.support.genuine_series import Machine, injected, series
from tests.support.rule_tests import Scene, check

GPU = "nvidia.com/gpu"
CHANGE = 5
"""When a fault begins."""


def node(name: str, pool: str, sku: str, *jobs: Job, **more: object) -> Machine:
    hardware = of_size(machine_of(sku))
    assert hardware is not None
    count = {GPU: hardware.gpus}
    given = Machine(name, pool, hardware, count, jobs)
    return replace(given, **more)  # type: ignore[arg-type]


def job(pod: str, load: float = 0.9, resource: str = GPU, namespace: str = "osmo-workflows") -> Job:
    return Job(namespace, pod, "main", load, resource)


NC40 = "Standard_NC40ads_H100_v5"
RTX = "Standard_NC144ds_xl_RTXPRO6000BSE_v6"
ND = "Standard_ND96isr_H100_v5"
AKS = (
    node("aks-h100gpu-1-vmss000000", "h100gpu", NC40, job("train")),
    node("aks-rtxprogpu-1-vmss000000", "rtxprogpu", RTX, job("sim"), grid=True),
)
LAB = (
    node("b200-1", "b200", "hgx-b200", job("train"), job("serve")),
    node("rtxpro-1", "rtxpro", "rtx-pro-server", job("sim")),
)


@cache
def parameters(stack: str, *changes: str) -> Parameters:
    return rule_parameters(load(stack, [Overlay.assign(list(changes))] if changes else []).settings)


def agents(minutes: int) -> dict[str, str]:
    return {phase(pod, "Running"): f"1x{minutes}" for pod in (LISTENER, WORKER, KAI)}


def scene(name: str, before: Sequence[Machine], after: Sequence[Machine], fired: Sequence[tuple[str, str]]) -> Scene:
    # Most alerts hold 25 minutes at most; those that hold longer get their time.
    longest = max((alert_rows()[alert].hold_minutes for alert, _ in fired), default=0)
    minutes = CHANGE + (32 if longest <= 25 else longest + 35)
    given = series(before, after, CHANGE, minutes) | agents(minutes)
    return Scene(name, given, {}, ever={minutes - 1: fired})


def at(row: Fault, machines: Sequence[Machine]) -> Machine | None:
    """The first node on which a fault can happen."""
    for machine in machines:
        kind = "grid" if machine.grid else "operator"
        fits = not row.needs or machine.infiniband
        if fits and (not row.drivers or kind in row.drivers) and machine.jobs:
            return machine
    return None


QUICK = ("xid-48", "exporter-dead", "node-notready")
"""Of the GPU itself, of an operand, of the node."""


@pytest.mark.parametrize(("stack", "machines"), [("dev-westus2", AKS), ("onprem-lab", LAB)])
def test_a_fault_of_each_kind_has_its_alert_once_and_no_other(
    stack: str, machines: Sequence[Machine], tmp_path: Path
) -> None:
    check(parameters(stack), scenes_of(stack, machines, QUICK), tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize(("stack", "machines"), [("dev-westus2", AKS), ("onprem-lab", LAB)])
def test_each_fault_has_its_alert_once_and_no_other(stack: str, machines: Sequence[Machine], tmp_path: Path) -> None:
    scenes = scenes_of(stack, machines, tuple(faults()))
    assert len(scenes) > 20
    check(parameters(stack), scenes, tmp_path)


def scenes_of(stack: str, machines: Sequence[Machine], names: Sequence[str]) -> list[Scene]:
    """A fault begins on the first node on which it can."""
    scenes = list[Scene]()
    for row in (each for each in faults().values() if each.name in names):
        found = at(row, machines)
        if found is None or (row.name == "spot-eviction" and stack == "onprem-lab"):
            continue
        after = [injected(each, row.name) if each is found else each for each in machines]
        scenes.append(scene(row.name, machines, after, [(alert, found.name) for alert in row.alerts]))
    return scenes


def test_a_bad_cable_is_one_alert_of_its_node(tmp_path: Path) -> None:
    """On a node with InfiniBand; the other stacks have none, and the fault happens to none of their nodes."""
    machines = (node("nd-1", "h100gpu", ND, job("train"), infiniband=True),)
    own = parameters("dev-westus2")
    pool = replace(own.pools[0], resources={GPU: 8}, gpus=8, infiniband=True, nvlink=True)
    scenes = scenes_of("dev-westus2", machines, ("infiniband-cable",))
    assert [each.name for each in scenes] == ["infiniband-cable"]
    check(replace(own, pools=(pool, *own.pools[1:])), scenes, tmp_path)
    assert scenes_of("dev-westus2", AKS, ("infiniband-cable",)) == []


SHARED = Machine("shared-1", "h100gpu", AKS[0].hardware, {GPU: 2}, (job("a", 0.9), job("b", 0.0)), per_pod=True)
CLAIMED = replace(AKS[0], resources={}, claims=True)
SLURM = node("slurm-1", "h100gpu", NC40, job("slurmd", 0.0, namespace="slurm"))


LONG = 100
"""Minutes in which every alert of an idle GPU holds."""


@pytest.mark.deep  # in `make test`: the stacks of test_quiet_days.py
def test_healthy_stacks_of_every_kind_are_quiet(tmp_path: Path) -> None:
    """A PCIe board whose links are down for ever, an idle Slurm node, and no GPU node at all."""
    quiet = {"aks": AKS, "slurm": (SLURM, AKS[1]), "empty": ()}
    scenes = [
        Scene(name, series(given, given, CHANGE, LONG) | agents(LONG), {}, ever={LONG - 1: ()})
        for name, given in quiet.items()
    ]
    check(parameters("dev-westus2"), scenes, tmp_path)


def test_one_idle_share_is_one_alert(tmp_path: Path) -> None:
    given = series([SHARED], [SHARED], CHANGE, LONG) | agents(LONG)
    busy = 'sum(physical_ai:gpus_busy{pod="%s"})'
    idle = Scene(
        "shared",
        given,
        {},
        {"sum(physical_ai:gpus_busy)": (30, 0.87), busy % "a": (30, 0.87), busy % "b": (30, 0)},
        ever={LONG - 1: [("GPUAllocatedButIdle", "shared-1")]},
    )
    check(parameters("dev-westus2", "pools.h100gpu.sharing.timeSlicing.replicas=2"), [idle], tmp_path)


def test_a_healthy_pool_of_claims_is_quiet(tmp_path: Path) -> None:
    minutes = 60
    given = series([CLAIMED, AKS[1]], [CLAIMED, AKS[1]], CHANGE, minutes) | agents(minutes)
    claims = replace(parameters("dev-westus2").pools[0], resources={}, claims=True)
    found = replace(parameters("dev-westus2"), pools=(claims, *parameters("dev-westus2").pools[1:]))
    assert claims.name == "h100gpu"
    check(found, [Scene("claims", given, {}, ever={minutes - 1: ()})], tmp_path)
