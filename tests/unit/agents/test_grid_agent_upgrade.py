"""The GRID agent changes the driver of a node in service: what uses it, and unloads and builds that fail."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from grid_agent.facts import (
    RETRY_ANNOTATION,
    HostFacts,
    Pod,
    Process,
)
from grid_agent.steps import State, Step
from tests.support.grid_agent_world import GPU_POD, NEW, OLD, serving


def test_an_upgrade_fetches_first_and_changes_the_driver_behind_a_closed_gate() -> None:
    world = serving()
    world.run(State.READY)
    assert world.serves(NEW)
    assert world.done == [
        Step.FETCH,
        Step.GATE,
        Step.UNLOAD,
        Step.REMOVE,
        Step.INSTALL,
        Step.CONFIGURE,
        Step.LOAD,
        Step.UNGATE,
    ]


def test_an_upgrade_waits_for_gpu_pods_with_the_gate_open() -> None:
    world = serving()
    world.gpu_pods = (GPU_POD,)
    world.run_until("GpuPodsRunning")
    world.stay(600)
    assert world.memory.state is State.WAITING
    assert "training/job-1" in world.memory.sentence
    assert world.serves(OLD)
    assert Step.GATE not in world.done
    world.gpu_pods = ()
    world.run(State.READY)
    assert world.serves(NEW)


@pytest.mark.parametrize("policy", ["drain", "force"])
def test_an_upgrade_removes_gpu_pods_if_the_policy_says_so(policy: str) -> None:
    world = serving(upgrade=policy)
    world.gpu_pods = (GPU_POD,)
    world.run(State.READY)
    assert world.serves(NEW)
    assert "job-1" in world.deleted


def test_an_eviction_that_a_budget_refuses_is_retried_and_reported() -> None:
    world = serving(upgrade="drain")
    world.gpu_pods = (GPU_POD,)
    world.fail[Step.EVICT] = [(0, "Cannot evict pod as it would violate the pod's disruption budget")] * 20
    world.run_until("EvictionRefused")
    assert "disruption budget" in world.memory.sentence
    assert Step.UNLOAD not in world.done
    world.run(State.READY)
    assert world.serves(NEW)


def test_operands_that_linger_behind_the_gate_are_deleted_and_then_passed_over() -> None:
    world = serving()
    stuck = Pod("gpu-operator", "dcgm-1", "d-1", "nvidia-dcgm-exporter", begun=world.now)
    world.operands["stuck"] = stuck
    world.run_until("PodsLeaving")
    world.run(State.READY)
    assert "nvidia-dcgm-exporter" in world.deleted
    assert world.serves(NEW)


def test_a_process_on_the_gpu_holds_the_change_back_by_name() -> None:
    world = serving()
    world.facts = replace(world.facts, gpu_processes=(Process("python", 4711),))
    world.run_until("GpuInUse")
    assert "python (4711)" in world.memory.sentence
    world.stay(300)
    assert Step.UNLOAD not in world.done


def test_a_wrong_checksum_stops_the_agent_and_leaves_the_old_driver_in_service() -> None:
    world = serving()
    world.fail[Step.FETCH] = [(11, "the file has sha256 0000…")] * 9
    world.run(State.BLOCKED)
    assert "sha256" in world.memory.sentence
    assert world.serves(OLD)
    assert world.done == [Step.FETCH, Step.FETCH]


def test_an_old_driver_that_can_not_be_unloaded_goes_on_serving() -> None:
    world = serving()
    world.fail[Step.UNLOAD] = [(0, "module nvidia_uvm is in use")] * 99
    world.run(State.BLOCKED)
    world.events.clear()
    before, gated, start = len(world.done), 0.0, world.now
    for _ in range(1000):
        began = world.now
        world.tick()
        gated += (world.now - began) if world.gated else 0.0
    assert world.memory.reason == "UnloadFailed"
    assert not world.events, "each attempt is reported again"
    assert gated < 0.03 * (world.now - start), "the gate is closed for long under a driver that serves"
    assert 0 < world.done[before:].count(Step.UNLOAD) < 40
    world.fail.clear()
    world.run(State.READY)
    assert world.serves(NEW)


def test_the_first_failed_unload_opens_the_gate_again() -> None:
    world = serving()
    world.fail[Step.UNLOAD] = [(0, "module nvidia_uvm is in use")]
    world.run_until("UnloadFailed")
    world.tick()
    assert not world.gated
    assert world.memory.state is State.WAITING
    world.run(State.READY)
    assert world.serves(NEW)


@pytest.mark.parametrize(
    "holder",
    [{"gpu_processes": (Process("nvidia-smi", 12),)}, {"kernel_users": ("nvidia_fs",)}],
    ids=["nvidia-smi that runs on", "a module of others"],
)
def test_a_known_holder_is_waited_for_with_the_gate_open_and_one_event(holder: dict[str, object]) -> None:
    world = serving()
    world.facts = replace(world.facts, **holder)  # type: ignore[arg-type]
    world.run_until("GpuInUse")
    world.events.clear()
    before = list(world.operands)
    world.stay(7200)
    assert not world.gated
    assert Step.GATE not in world.done
    assert world.memory.reason == "GpuInUse"
    assert not world.events
    assert list(world.operands) == before
    world.facts = replace(world.facts, gpu_processes=(), kernel_users=())
    world.run(State.READY)
    assert world.serves(NEW)


@pytest.mark.parametrize("seed", range(12))
def test_a_driver_that_serves_is_not_taken_away_by_what_prevents_its_change(seed: int) -> None:
    """Holders that come and go, and unloads that fail, in any order: the gate is open nearly always, and in the end."""
    random = Random(seed)  # noqa: S311 - no secret
    world = serving(upgrade=random.choice(["wait", "drain", "force"]))
    began, closed = world.now, 0.0
    world.fail[Step.UNLOAD] = [(0, "module nvidia_uvm is in use")] * 10_000
    for _ in range(600):
        if random.random() < 0.05:
            world.facts = replace(world.facts, gpu_processes=random.choice([(), (Process("nvidia-smi", 7),)]))
        if random.random() < 0.05:
            world.facts = replace(world.facts, kernel_users=random.choice([(), ("gdrdrv",)]))
        before = world.now
        world.tick()
        closed += world.now - before if world.gated else 0
        assert world.facts.smi.version == OLD
    assert closed < 0.05 * (world.now - began)
    assert len(world.events) < 40
    world.facts = replace(world.facts, gpu_processes=(), kernel_users=())
    world.fail.clear()
    world.run(State.READY)
    assert world.serves(NEW)


def test_a_build_that_never_installs_gives_way_to_the_old_one_once() -> None:
    world = serving()
    world.fail[Step.INSTALL] = [(30, "NVIDIA's installer failed (1): ERROR: no compiler")] * 3
    world.run(State.BLOCKED)
    assert world.memory.reason == "RolledBack"
    assert world.serves(OLD)
    assert not world.gated
    assert "no compiler" in world.memory.sentence
    world.stay(7200)
    assert world.memory.reason == "RolledBack"
    assert world.done.count(Step.INSTALL) == 4
    assert world.conditions[-1].status == "False"


def test_a_build_that_fails_its_checks_gives_way_to_the_old_one() -> None:
    world = serving()

    def unlicensed(facts: HostFacts) -> HostFacts:
        new = facts.on_disk is not None and facts.on_disk.version == NEW
        return replace(facts, smi=replace(facts.smi, licence="unlicensed")) if new else facts

    world.after[Step.LOAD] = unlicensed
    world.run(State.BLOCKED)
    assert world.memory.reason == "RolledBack"
    assert "licence" in world.memory.sentence
    assert world.serves(OLD)


def test_a_failed_rollback_ends_with_a_closed_gate_and_both_reasons() -> None:
    world = serving()
    world.fail[Step.INSTALL] = [(30, "the new one fails")] * 3 + [(30, "the old one fails too")] * 3
    world.run(State.BLOCKED)
    assert world.memory.reason == "RollbackFailed"
    assert "the new one fails" in world.memory.sentence
    assert "the old one fails too" in world.memory.sentence
    assert world.gated or world.tick().state is State.BLOCKED
    world.tick()
    assert world.gated


def test_other_settings_end_a_rollback() -> None:
    world = serving()
    world.fail[Step.INSTALL] = [(30, "no")] * 3
    world.run(State.BLOCKED)
    world.wanted = replace(world.wanted, dkms=False)
    world.run(State.READY)
    assert world.serves(NEW)


def test_an_annotation_ends_a_rollback() -> None:
    world = serving()
    world.fail[Step.INSTALL] = [(30, "no")] * 3
    world.run(State.BLOCKED)
    world.annotations[RETRY_ANNOTATION] = "1"
    world.run(State.READY)
    assert world.serves(NEW)
