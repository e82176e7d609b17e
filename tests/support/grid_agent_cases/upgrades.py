"""Cases of a node in service whose driver is to be changed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from grid_agent.facts import (
    TOOLKIT,
    Pod,
    Process,
)
from grid_agent.memory import Failure, Memory
from grid_agent.steps import State, Step
from tests.support.grid_agent_cases.case import (
    CACHED,
    CLOSED,
    NOW,
    OPEN,
    OURS,
    POD,
    Case,
    failing,
    working,
)
from tests.support.grid_agent_fake import NEW, OLD, SHA, installed, wanted

FETCHED = installed(OLD, cached=(SHA[NEW],))
"""Host on which the old build is in service and the new one is downloaded."""


def fetched(name: str, state: State, reason: str, step: Step, says: str = "", **changes: Any) -> Case:
    """Case on a node that is ready for the change: the old build is in service, and the new one is downloaded."""
    return Case(name, state, reason, step, says, **{"host": FETCHED, "memory": OURS, **changes})


CASES = [
    # Upgrades of a node in service.
    Case(
        "upgrade fetches with the gate open",
        State.FETCHING,
        "Fetch",
        Step.FETCH,
        host=installed(OLD),
        node=OPEN,
        memory=OURS,
    ),
    Case(
        "a download for a driver that serves opens the gate",
        State.FETCHING,
        "Fetch",
        Step.UNGATE,
        "serves meanwhile",
        host=installed(OLD),
        memory=OURS,
    ),
    fetched(
        "upgrade waits for GPU pods",
        State.WAITING,
        "GpuPodsRunning",
        Step.WAIT,
        "training/job-1",
        node=replace(OPEN, gpu_pods=(POD,)),
    ),
    fetched(
        "upgrade gates an idle node",
        State.GATING,
        "Gate",
        Step.GATE,
        node=OPEN,
    ),
    fetched(
        "upgrade drains",
        State.DRAINING,
        "Draining",
        Step.EVICT,
        "training/job-1",
        node=replace(CLOSED, gpu_pods=(POD,)),
        wanted=wanted(upgrade="drain"),
    ),
    fetched(
        "upgrade waits for pods that end",
        State.DRAINING,
        "Draining",
        Step.WAIT,
        node=replace(CLOSED, gpu_pods=(replace(POD, terminating=True),)),
        wanted=wanted(upgrade="drain"),
    ),
    fetched(
        "pods may not be listed",
        State.WAITING,
        "MayNotListPods",
        Step.UNGATE,
        "list the Pods",
        host=replace(FETCHED, gpu_processes=(Process("python", 7),)),
        node=replace(CLOSED, gpu_pods=None),
        wanted=wanted(upgrade="drain"),
    ),
    fetched(
        "a process on the host",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "Xorg (7)",
        host=replace(FETCHED, gpu_processes=(Process("Xorg", 7),)),
        node=OPEN,
    ),
    fetched(
        "a process on the host opens the gate",
        State.WAITING,
        "GpuInUse",
        Step.UNGATE,
        "Xorg (7)",
        host=replace(FETCHED, gpu_processes=(Process("Xorg", 7),)),
    ),
    Case(
        "a process behind the gate of a driver that does not serve",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "Xorg (7)",
        host=replace(FETCHED, gpu_processes=(Process("Xorg", 7),)),
    ),
    fetched(
        "a module of others uses the driver",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "module gdrdrv",
        host=replace(FETCHED, kernel_users=("gdrdrv",)),
        node=OPEN,
    ),
    fetched(
        "processes of operands end behind the gate",
        State.GATING,
        "Gate",
        Step.GATE,
        host=replace(FETCHED, gpu_processes=(Process("nv-hostengine", 8, "t"),)),
        node=replace(OPEN, operands=(Pod("gpu-operator", "dcgm-1", "t", "nvidia-dcgm"),)),
    ),
    fetched(
        "processes of operands that have just gone",
        State.WAITING,
        "GpuInUse",
        Step.WAIT,
        "nv-hostengine (8)",
        host=replace(FETCHED, gpu_processes=(Process("nv-hostengine", 8, "t"),)),
    ),
    fetched(
        "processes of Pods that do not end",
        State.WAITING,
        "GpuInUse",
        Step.UNGATE,
        "nv-hostengine (8)",
        host=replace(FETCHED, gpu_processes=(Process("nv-hostengine", 8, "t"),)),
        memory=replace(OURS, gated_at=NOW - 400),
    ),
    fetched(
        "no pod is evicted for a driver that can not be unloaded",
        State.BLOCKED,
        "UnloadFailed",
        Step.WAIT,
        "training/job-1",
        node=replace(OPEN, gpu_pods=(POD,)),
        wanted=wanted(upgrade="drain"),
        memory=replace(OURS, failures={"unload": Failure(9, 9, "module nvidia_uvm is in use", NOW - 1, tired=True)}),
    ),
    Case(
        "a marker that can not be removed closes no gate",
        State.UNGATING,
        "Ungate",
        Step.UNGATE,
        host=working(prebaked="unknown"),
        memory=Memory(gated_at=NOW - 30, failures={"clean": Failure(3, 3, "Read-only file system", NOW + 60)}),
    ),
    fetched(
        "a driver that could not be unloaded serves until the next attempt",
        State.WAITING,
        "UnloadFailed",
        Step.UNGATE,
        "remains in service",
        memory=replace(OURS, failures={"unload": Failure(2, 2, "module nvidia_uvm is in use", NOW + 60)}),
    ),
    fetched(
        "another attempt at unloading is no other reason",
        State.GATING,
        "UnloadFailed",
        Step.GATE,
        node=OPEN,
        memory=replace(OURS, failures={"unload": Failure(9, 9, "module nvidia_uvm is in use", NOW - 1, tired=True)}),
    ),
    fetched(
        "operands on their way out",
        State.GATING,
        "PodsLeaving",
        Step.WAIT,
        node=replace(CLOSED, operands=(Pod("gpu-operator", "toolkit-1", "t", TOOLKIT),)),
    ),
    fetched(
        "operands that linger",
        State.GATING,
        "PodsLeaving",
        Step.DELETE_OPERAND,
        node=replace(CLOSED, operands=(Pod("gpu-operator", "toolkit-1", "t", TOOLKIT),)),
        memory=replace(OURS, gated_at=NOW - 400),
    ),
    Case(
        "unknown checksum of the new build leaves the old one in service",
        State.BLOCKED,
        "UnknownChecksum",
        Step.WAIT,
        "remains in service",
        host=installed(OLD),
        node=OPEN,
        wanted=wanted(sha256=""),
        memory=OURS,
    ),
    Case(
        "a gate that is closed for nothing opens",
        State.BLOCKED,
        "UnknownChecksum",
        Step.UNGATE,
        host=installed(OLD),
        wanted=wanted(sha256=""),
        memory=OURS,
    ),
    Case(
        "installs failed, old build cached",
        State.INSTALLING,
        "RollingBack",
        Step.WAIT,
        OLD,
        host=replace(CACHED, configured=True, cached=(SHA[NEW], SHA[OLD])),
        memory=failing(Step.INSTALL, "no compiler", final=True, previous=wanted(OLD).target),
    ),
    Case(
        "rolled back",
        State.BLOCKED,
        "RolledBack",
        Step.WAIT,
        "change the settings",
        host=installed(OLD),
        node=OPEN,
        memory=Memory(rolled_back="no compiler", previous=wanted(OLD).target, driver_since=NOW - 9),
    ),
]
