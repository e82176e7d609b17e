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
from tests.support.grid_agent_fake import GPU_POD, NEW, OLD, serving


def test_an_upgrade_fetches_first_and_changes_the_driver_behind_a_closed_gate() -> None:
    fake = serving()
    fake.run(State.READY)
    assert fake.serves(NEW)
    assert fake.done == [
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
    fake = serving()
    fake.gpu_pods = (GPU_POD,)
    fake.run_until("GpuPodsRunning")
    fake.run_for(600)
    assert fake.memory.state is State.WAITING
    assert "training/job-1" in fake.memory.sentence
    assert fake.serves(OLD)
    assert Step.GATE not in fake.done
    fake.gpu_pods = ()
    fake.run(State.READY)
    assert fake.serves(NEW)


@pytest.mark.parametrize("policy", ["drain", "force"])
def test_an_upgrade_removes_gpu_pods_if_the_policy_says_so(policy: str) -> None:
    fake = serving(upgrade=policy)
    fake.gpu_pods = (GPU_POD,)
    fake.run(State.READY)
    assert fake.serves(NEW)
    assert "job-1" in fake.deleted


def test_an_eviction_that_a_budget_refuses_is_retried_and_reported() -> None:
    fake = serving(upgrade="drain")
    fake.gpu_pods = (GPU_POD,)
    fake.fail[Step.EVICT] = [(0, "Cannot evict pod as it would violate the pod's disruption budget")] * 20
    fake.run_until("EvictionRefused")
    assert "disruption budget" in fake.memory.sentence
    assert Step.UNLOAD not in fake.done
    fake.run(State.READY)
    assert fake.serves(NEW)


def test_operands_that_linger_behind_the_gate_are_deleted_and_then_passed_over() -> None:
    fake = serving()
    stuck = Pod("gpu-operator", "dcgm-1", "d-1", "nvidia-dcgm-exporter", begun=fake.now)
    fake.operands["stuck"] = stuck
    fake.run_until("PodsLeaving")
    fake.run(State.READY)
    assert "nvidia-dcgm-exporter" in fake.deleted
    assert fake.serves(NEW)


def test_a_process_on_the_gpu_holds_the_change_back_by_name() -> None:
    fake = serving()
    fake.facts = replace(fake.facts, gpu_processes=(Process("python", 4711),))
    fake.run_until("GpuInUse")
    assert "python (4711)" in fake.memory.sentence
    fake.run_for(300)
    assert Step.UNLOAD not in fake.done


def test_a_wrong_checksum_stops_the_agent_and_leaves_the_old_driver_in_service() -> None:
    fake = serving()
    fake.fail[Step.FETCH] = [(11, "the file has sha256 0000…")] * 9
    fake.run(State.BLOCKED)
    assert "sha256" in fake.memory.sentence
    assert fake.serves(OLD)
    assert fake.done == [Step.FETCH, Step.FETCH]


def test_an_old_driver_that_can_not_be_unloaded_stays_in_service() -> None:
    fake = serving()
    fake.fail[Step.UNLOAD] = [(0, "module nvidia_uvm is in use")] * 99
    fake.run(State.BLOCKED)
    fake.events.clear()
    before, gated, start = len(fake.done), 0.0, fake.now
    for _ in range(1000):
        began = fake.now
        fake.tick()
        gated += (fake.now - began) if fake.gated else 0.0
    assert fake.memory.reason == "UnloadFailed"
    assert not fake.events, "each attempt is reported again"
    assert gated < 0.03 * (fake.now - start), "the gate is closed for long under a driver that serves"
    assert 0 < fake.done[before:].count(Step.UNLOAD) < 40
    fake.fail.clear()
    fake.run(State.READY)
    assert fake.serves(NEW)


def test_the_first_failed_unload_opens_the_gate_again() -> None:
    fake = serving()
    fake.fail[Step.UNLOAD] = [(0, "module nvidia_uvm is in use")]
    fake.run_until("UnloadFailed")
    fake.tick()
    assert not fake.gated
    assert fake.memory.state is State.WAITING
    fake.run(State.READY)
    assert fake.serves(NEW)


@pytest.mark.parametrize(
    "holder",
    [{"gpu_processes": (Process("nvidia-smi", 12),)}, {"kernel_users": ("nvidia_fs",)}],
    ids=["nvidia-smi that runs on", "a module of others"],
)
def test_a_known_holder_is_waited_for_with_the_gate_open_and_one_event(holder: dict[str, object]) -> None:
    fake = serving()
    fake.facts = replace(fake.facts, **holder)  # type: ignore[arg-type]
    fake.run_until("GpuInUse")
    fake.events.clear()
    before = list(fake.operands)
    fake.run_for(7200)
    assert not fake.gated
    assert Step.GATE not in fake.done
    assert fake.memory.reason == "GpuInUse"
    assert not fake.events
    assert list(fake.operands) == before
    fake.facts = replace(fake.facts, gpu_processes=(), kernel_users=())
    fake.run(State.READY)
    assert fake.serves(NEW)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(4, 12))])
def test_a_driver_that_serves_is_not_taken_away_by_what_prevents_its_change(seed: int) -> None:
    """Holders that come and go, and unloads that fail, in any order: the gate is open nearly always, and in the end."""
    random = Random(seed)  # noqa: S311 - no secret
    fake = serving(upgrade=random.choice(["wait", "drain", "force"]))
    began, closed = fake.now, 0.0
    fake.fail[Step.UNLOAD] = [(0, "module nvidia_uvm is in use")] * 10_000
    for _ in range(600):
        if random.random() < 0.05:
            fake.facts = replace(fake.facts, gpu_processes=random.choice([(), (Process("nvidia-smi", 7),)]))
        if random.random() < 0.05:
            fake.facts = replace(fake.facts, kernel_users=random.choice([(), ("gdrdrv",)]))
        before = fake.now
        fake.tick()
        closed += fake.now - before if fake.gated else 0
        assert fake.facts.smi.version == OLD
    assert closed < 0.05 * (fake.now - began)
    assert len(fake.events) < 40
    fake.facts = replace(fake.facts, gpu_processes=(), kernel_users=())
    fake.fail.clear()
    fake.run(State.READY)
    assert fake.serves(NEW)


def test_a_build_that_never_installs_gives_way_to_the_old_one_once() -> None:
    fake = serving()
    fake.fail[Step.INSTALL] = [(30, "NVIDIA's installer failed (1): ERROR: no compiler")] * 3
    fake.run(State.BLOCKED)
    assert fake.memory.reason == "RolledBack"
    assert fake.serves(OLD)
    assert not fake.gated
    assert "no compiler" in fake.memory.sentence
    fake.run_for(7200)
    assert fake.memory.reason == "RolledBack"
    assert fake.done.count(Step.INSTALL) == 4
    assert fake.conditions[-1].status == "False"


def test_a_build_that_fails_its_checks_gives_way_to_the_old_one() -> None:
    fake = serving()

    def unlicensed(facts: HostFacts) -> HostFacts:
        new = facts.on_disk is not None and facts.on_disk.version == NEW
        return replace(facts, smi=replace(facts.smi, licence="unlicensed")) if new else facts

    fake.after[Step.LOAD] = unlicensed
    fake.run(State.BLOCKED)
    assert fake.memory.reason == "RolledBack"
    assert "licence" in fake.memory.sentence
    assert fake.serves(OLD)


def test_a_failed_rollback_ends_with_a_closed_gate_and_both_reasons() -> None:
    fake = serving()
    fake.fail[Step.INSTALL] = [(30, "the new one fails")] * 3 + [(30, "the old one fails too")] * 3
    fake.run(State.BLOCKED)
    assert fake.memory.reason == "RollbackFailed"
    assert "the new one fails" in fake.memory.sentence
    assert "the old one fails too" in fake.memory.sentence
    assert fake.gated or fake.tick().state is State.BLOCKED
    fake.tick()
    assert fake.gated


def test_other_settings_end_a_rollback() -> None:
    fake = serving()
    fake.fail[Step.INSTALL] = [(30, "no")] * 3
    fake.run(State.BLOCKED)
    fake.wanted = replace(fake.wanted, dkms=False)
    fake.run(State.READY)
    assert fake.serves(NEW)


def test_an_annotation_ends_a_rollback() -> None:
    fake = serving()
    fake.fail[Step.INSTALL] = [(30, "no")] * 3
    fake.run(State.BLOCKED)
    fake.annotations[RETRY_ANNOTATION] = "1"
    fake.run(State.READY)
    assert fake.serves(NEW)
