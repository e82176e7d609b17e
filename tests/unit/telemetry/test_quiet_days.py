"""Healthy stacks of every kind have no alert for a day, with what happens on healthy days."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from physical_ai.telemetry.parameters import Parameters, PoolFacts
from tests.support.alert_series import KAI, LISTENER, WORKER, phase
from tests.support.quiet_days import Phase, amd_series, leaving, phases, silent
from tests.support.rule_tests import Scene, failures, rule_tests
from tests.unit.telemetry.test_genuine_exporters import (
    AKS,
    CLAIMED,
    GPU,
    LAB,
    NC40,
    ND,
    SHARED,
    SLURM,
    job,
    node,
    parameters,
)

INTERVAL = 4
SHORT, DAY = 48, 24 * 60
"""Minutes; the longest time that an alert of a healthy stack could hold is half an hour."""
FIRST = "dev-westus2"
BUSY_SHARES = replace(SHARED, jobs=(job("a", 0.9), job("b", 0.9)))
INSTANCES = ("3g.47gb", "3g.47gb")
SLICED = node(
    "mig-1",
    "h100gpu",
    NC40,
    job("a", resource="nvidia.com/mig-3g.47gb"),
    job("b", resource="nvidia.com/mig-3g.47gb"),
    hardware=replace(AKS[0].hardware, mig=(INSTANCES,)),
    resources={"nvidia.com/mig-3g.47gb": 2},
    labels={"nvidia.com/mig.config.state": "success"},
)
FABRIC = node("nd-1", "h100gpu", ND, job("slurmd", 0.0, namespace="slurm"), infiniband=True)
SPOT = replace(AKS[0], taints=("remediator.kubernetes.azure.com/unschedulable",))


def of_pool(found: Parameters, **changes: object) -> Parameters:
    """The first pool with changes."""
    pool: PoolFacts = replace(found.pools[0], **changes)  # type: ignore[arg-type]
    return replace(found, pools=(pool, *found.pools[1:]))


def kinds(steps: int) -> dict[str, tuple[Parameters, Sequence[Phase], Mapping[str, str]]]:
    """By name: the rules, what is there and for how many values, and other series."""
    own, third = parameters(FIRST), steps // 3
    new = replace(AKS[0], name="aks-h100gpu-1-vmss000001")
    amd = PoolFacts("mi300x", {"amd.com/gpu": 8}, 8, 2, False, False, False, amd=True)
    mig = {"nvidia.com/mig-3g.47gb": 2}
    return {
        "default": (own, [(AKS, steps)], {}),
        "on premises": (parameters("onprem-lab"), [(LAB, steps)], {}),
        "shared": (parameters(FIRST, "pools.h100gpu.sharing.timeSlicing.replicas=2"), [([BUSY_SHARES], steps)], {}),
        "MIG": (of_pool(own, resources=mig, instances=2), [([SLICED], steps)], {}),
        "claims": (of_pool(own, resources={}, claims=True), [([CLAIMED, AKS[1]], steps)], {}),
        "AMD": (replace(own, pools=(*own.pools, amd)), [(AKS, steps)], amd_series("amd-1", steps)),
        "Slurm": (own, [((SLURM, AKS[1]), steps)], {}),
        "InfiniBand with Slurm": (
            of_pool(own, resources={GPU: 8}, gpus=8, infiniband=True, nvlink=True),
            [([FABRIC], steps)],
            {},
        ),
        "scaled to zero and back": (own, [(AKS, third), ((), third), (AKS, steps - 2 * third)], {}),
        "exporters restart": (
            own,
            [(AKS, third), ([silent(each) for each in AKS], 2), (AKS, steps - third - 2)],
            {},
        ),
        "planned upgrade": (
            own,
            [(AKS, third), ((leaving(AKS[0]), AKS[1]), 3), (AKS[1:], 2), ((new, AKS[1]), steps - third - 5)],
            {},
        ),
    }


def quiet(minutes: int, folder: Path, names: Sequence[str] = ()) -> None:
    steps = minutes // INTERVAL
    agents = {phase(pod, "Running"): f"1x{steps}" for pod in (LISTENER, WORKER, KAI)}
    files = [
        rule_tests(
            own,
            [Scene(name, {**phases(given, INTERVAL), **more, **agents}, {}, ever={minutes - INTERVAL: ()})],
            folder,
            f"{number}",
            interval=INTERVAL,
        )
        for number, (name, (own, given, more)) in enumerate(kinds(steps).items())
        if not names or name in names
    ]
    found = failures(files)
    assert not found, found


def test_healthy_stacks_with_a_restart_an_upgrade_or_other_exporters_are_quiet(tmp_path: Path) -> None:
    """Kinds of few GPUs: a scene costs in proportion to its series."""
    quiet(SHORT, tmp_path, ("MIG", "AMD", "scaled to zero and back", "exporters restart", "planned upgrade"))


@pytest.mark.deep
def test_a_healthy_stack_of_each_kind_is_quiet_for_a_day(tmp_path: Path) -> None:
    quiet(DAY, tmp_path)


def test_a_spot_eviction_is_its_own_alert_alone(tmp_path: Path) -> None:
    steps = SHORT // INTERVAL
    given: list[Phase] = [(AKS, 3), ((SPOT, AKS[1]), 1), (AKS[1:], steps - 4)]
    agents = {phase(pod, "Running"): f"1x{steps}" for pod in (LISTENER, WORKER, KAI)}
    fired = {SHORT - INTERVAL: [("GPUNodeEviction", SPOT.name)]}
    scene = Scene("eviction", phases(given, INTERVAL) | agents, {}, ever=fired)
    found = failures([rule_tests(parameters(FIRST), [scene], tmp_path, interval=INTERVAL)])
    assert not found, found
