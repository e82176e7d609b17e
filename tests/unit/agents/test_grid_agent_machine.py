"""The GRID agent's machine from first boot to rollback, against a host and a cluster in memory."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from grid_agent.facts import (
    GATE_LABELS,
    PAUSED,
    RETRY_ANNOTATION,
    TOOLKIT,
    VALIDATOR,
    ClusterError,
    HostFacts,
    Pod,
    Process,
)
from grid_agent.memory import Memory
from grid_agent.steps import State, Step
from tests.support.grid_agent_world import DEVICE_PLUGIN, NEW, OLD, SHA, World, installed, wanted

GPU_POD = Pod("training", "job-1", "u-1", gpus=1)


def serving(version: str = OLD, **changes: object) -> World:
    """A node on which this agent proved a build, and whose operands run."""
    world = World(facts=installed(version), wanted=wanted(version))
    world.run(State.READY)
    world.stay(60)
    world.done.clear()
    world.path.clear()
    world.wanted = wanted(NEW, **changes)
    return world


def test_a_fresh_node_gets_the_driver_and_its_operands() -> None:
    world = World()
    world.run(State.READY)
    assert world.serves(NEW)
    assert not world.gated
    assert world.done == [
        Step.GATE,
        Step.FETCH,
        Step.CONFIGURE,
        Step.INSTALL,
        Step.CONFIGURE,
        Step.LOAD,
        Step.UNGATE,
    ]
    assert world.conditions[-1].status == "True"


def test_nothing_is_done_on_a_node_that_is_right() -> None:
    world = World(facts=installed())
    world.run(State.READY)
    world.stay(3600)
    assert world.done == []
    assert world.deleted == []
    assert len(world.events) == 1


def test_operands_that_came_before_the_driver_are_started_anew() -> None:
    world = World(labels={})
    world.run_until("Fetch")
    world.labels = dict.fromkeys(GATE_LABELS, "true")  # the operator strips labels and sets its own
    world.tick()
    world.run(State.READY)
    world.stay(300)
    assert world.serves(NEW)


def test_pods_in_init_after_a_reboot_are_started_anew() -> None:
    world = serving(NEW)
    world.wanted = wanted(NEW)
    world.run(State.READY)
    world.reboot()
    world._operate()  # pyright: ignore[reportPrivateUsage]
    assert world.operands[VALIDATOR].looking
    world.run(State.READY)
    world.stay(300)
    assert world.serves(NEW)
    assert {TOOLKIT, VALIDATOR} <= set(world.deleted)
    assert Step.INSTALL not in world.done
    assert Step.GATE not in world.done


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


def test_a_first_install_that_never_succeeds_stops_behind_a_closed_gate() -> None:
    world = World()
    world.fail[Step.INSTALL] = [(30, "no compiler")] * 9
    world.run(State.BLOCKED)
    assert world.memory.reason == "InstallFailed"
    assert world.gated
    assert world.events[-1][0] == "Warning"
    assert "No GPU Pod can start" in world.memory.sentence


def test_downloads_are_tried_forever_with_growing_pauses() -> None:
    world = World()
    world.fail[Step.FETCH] = [(10, "connection refused")] * 12
    world.run_until("FetchFailed")
    assert "connection refused" in world.memory.sentence
    assert world.gated
    world.run(State.READY)
    assert world.serves(NEW)
    assert world.done.count(Step.FETCH) == 13


def test_a_wrong_checksum_stops_the_agent_and_leaves_the_old_driver_in_service() -> None:
    world = serving()
    world.fail[Step.FETCH] = [(11, "the file has sha256 0000…")] * 9
    world.run(State.BLOCKED)
    assert "sha256" in world.memory.sentence
    assert world.serves(OLD)
    assert world.done == [Step.FETCH, Step.FETCH]


def test_a_transient_unit_that_vanished_counts_as_an_attempt() -> None:
    world = World()
    world.run_until("Install")
    world.tick()
    world.reboot(half_install=True)
    world.run(State.READY)
    assert world.serves(NEW)
    assert world.memory.failed == {"install": 1}
    assert Step.REMOVE in world.done


def test_an_install_that_changed_nothing_is_a_failure() -> None:
    world = World()
    world.after[Step.INSTALL] = lambda facts: replace(
        facts, on_disk=None, library="", smi=replace(facts.smi, found=False)
    )
    world.run(State.BLOCKED)
    assert world.memory.reason == "InstallFailed"
    assert "did not help" in world.memory.sentence


def test_nothing_is_changed_while_the_api_server_is_silent() -> None:
    world = World(api=ClusterError("unreachable", "connection refused"))
    world.stay(600)
    assert world.done == []
    assert world.memory.reason == "ApiUnreachable"
    assert "connection refused" in world.memory.sentence
    world.api = None
    world.run(State.READY)
    assert world.serves(NEW)


def test_a_silent_api_server_takes_no_proven_node_down() -> None:
    world = serving()
    world.wanted = wanted(OLD)
    world.api = ClusterError("unreachable", "connection refused")
    world.stay(600)
    assert world.memory.state is State.READY


def test_a_forbidden_request_is_named() -> None:
    world = World(api=ClusterError("forbidden", "the API server refused GET /api/v1/nodes/node-1 (403): nope"))
    world.stay(60)
    assert world.memory.reason == "ApiForbidden"
    assert "403" in world.memory.sentence


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


def test_a_memory_that_is_lost_costs_nothing_but_time() -> None:
    world = World()
    ticks = 0
    while world.memory.state is not State.READY:
        world.tick()
        world.memory = Memory()
        world.tick()
        ticks += 1
        assert ticks < 200
    assert world.serves(NEW)
    assert world.done.count(Step.INSTALL) == 1


def test_the_gate_is_reported_from_other_peoples_labels() -> None:
    world = World()
    dcgm = "nvidia.com/gpu.deploy.dcgm"
    world.labels[dcgm] = "false"
    world.run_until("Fetch")
    assert world.labels[dcgm] == "false"
    assert {value for label, value in world.labels.items() if label != dcgm} == {PAUSED}
    world.run(State.READY)
    assert world.labels[dcgm] == "false"


def test_the_seed_profile_gets_its_marks_after_success_only() -> None:
    world = World(wanted=wanted(legacy_validation_markers=True))
    world.run_until("Install")
    assert not world.facts.legacy_marker
    world.run(State.READY)
    assert world.facts.legacy_marker
    assert world.facts.legacy_mount == "root"
    world.wanted = wanted(OLD, legacy_validation_markers=True)
    world.run_until("Unload")
    assert not world.facts.legacy_marker
    assert world.facts.legacy_mount == "none"
    world.run(State.READY)
    assert world.facts.legacy_marker


def test_legacy_marks_under_a_running_driver_go_and_operands_start_anew() -> None:
    world = serving(NEW)
    world.facts = replace(world.facts, legacy_marker=True, legacy_mount="root", driver_ready="container")
    world.run(State.READY)
    world.stay(300)
    assert not world.facts.legacy_marker
    assert {TOOLKIT, VALIDATOR, DEVICE_PLUGIN} <= set(world.deleted)


def test_legacy_marks_stay_while_gpu_pods_run() -> None:
    world = serving(NEW)
    world.facts = replace(world.facts, legacy_marker=True, legacy_mount="root", driver_ready="container")
    world.gpu_pods = (GPU_POD,)
    world.run(State.READY)
    world.stay(600)
    assert world.facts.legacy_marker
    assert world.deleted == []
    world.gpu_pods = ()
    world.tick()
    world.run(State.READY)
    assert not world.facts.legacy_marker


def test_the_images_own_marker_goes_without_a_restart_of_anything() -> None:
    world = serving(NEW)
    world.facts = replace(world.facts, prebaked="580.159.04")
    world.run(State.CLEANING)
    world.run(State.READY)
    world.stay(600)
    assert not world.facts.prebaked
    assert world.deleted == []


def test_removal_on_request_ends_with_a_clean_host_and_a_closed_gate() -> None:
    world = serving()
    world.wanted = replace(world.wanted, present=False)
    world.run(State.REMOVED)
    world.tick()
    assert world.facts.on_disk is None
    assert world.facts.loaded == {}
    assert world.gated
    world.stay(3600)
    assert world.done.count(Step.REMOVE) == 1


def test_a_machine_that_dies_while_loading_does_not_do_so_forever() -> None:
    world = World()
    deaths = 0
    for _ in range(2000):
        world.tick()
        if world.done and world.done[-1] is Step.LOAD and "nvidia" in world.facts.loaded:
            deaths += 1
            world.memory = replace(world.memory, begun="load", done="")  # what was saved before it
            world.reboot()
            world.done.append(Step.WAIT)
        if world.memory.state is State.BLOCKED:
            break
    assert world.memory.state is State.BLOCKED
    assert deaths == 3
    assert "restarted" in world.memory.sentence


def test_the_wrong_kernel_after_an_image_upgrade_is_built_for_from_the_cache() -> None:
    world = serving(NEW)
    world.reboot(kernel="6.8.0-1040-azure", on_disk=None)
    world.run(State.READY)
    assert world.serves(NEW)
    assert Step.FETCH not in world.done


def test_a_lost_licence_is_reported_and_the_gate_stays_open() -> None:
    world = serving(NEW)
    world.run(State.READY)
    world.after[Step.LOAD] = lambda facts: replace(facts, smi=replace(facts.smi, licence="unlicensed"))
    world.facts = replace(world.facts, smi=replace(world.facts.smi, licence="unlicensed"))
    world.run(State.BLOCKED)
    assert "licence" in world.memory.sentence
    assert not world.gated
    world.facts = replace(world.facts, smi=replace(world.facts.smi, licence="licensed"))
    world.run(State.READY)


def test_conditions_are_written_when_they_change_and_not_at_every_step() -> None:
    world = serving()
    world.conditions.clear()
    world.gpu_pods = (GPU_POD,)
    world.run_until("GpuPodsRunning")
    world.stay(3600)
    assert len(world.conditions) < 10
    assert SHA[OLD] != SHA[NEW]


def test_a_module_in_use_is_asked_for_again_and_again_with_the_node_blocked_meanwhile() -> None:
    world = World()
    world.facts = replace(world.facts, nouveau=True)
    world.fail[Step.UNLOAD] = [(0, "module nouveau is in use")] * 8
    world.run(State.BLOCKED)
    assert "nouveau is in use" in world.memory.sentence
    assert Step.INSTALL not in world.done
    world.run(State.READY)
    assert world.serves(NEW)


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
    assert not world.events, "each attempt is told anew"
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


def test_a_parameter_that_the_driver_does_not_take_is_not_tried_for_ever_on_a_node_in_service() -> None:
    world = serving(NEW)
    world.wanted = wanted(NEW, module_parameters={"nvidia": {"NVreg_EnableMSI": "7"}})
    other = {"nvidia": {"NVreg_EnableMSI": "1"}}
    world.facts = replace(world.facts, parameters=other, configured=False)
    world.after[Step.LOAD] = lambda facts: replace(facts, parameters=other)
    world.stay(6 * 3600)
    assert world.done.count(Step.UNLOAD) <= 4
    assert not world.gated
    assert world.conditions[-1].status == "False"
    assert "NVreg_EnableMSI is 1, not 7" in world.memory.sentence


def test_a_parameter_that_the_driver_does_not_take_is_retried_with_pauses_on_a_new_node() -> None:
    world = World(wanted=wanted(module_parameters={"nvidia": {"NVreg_EnableMSI": "7"}}))
    world.after[Step.LOAD] = lambda facts: replace(facts, parameters={"nvidia": {"NVreg_EnableMSI": "1"}})
    world.run(State.BLOCKED)
    before = world.done.count(Step.UNLOAD)
    world.stay(3600)
    assert world.done.count(Step.UNLOAD) - before <= 5
    assert world.gated


def test_persistence_mode_is_turned_on_again_and_one_that_can_not_be_keeps_the_node_ready() -> None:
    world = serving(NEW)
    world.facts = replace(world.facts, smi=replace(world.facts.smi, persistence=False))
    world.run_until("DriverVerified")
    world.tick()
    assert world.facts.smi.persistence
    world.after[Step.PERSIST] = lambda facts: replace(facts, smi=replace(facts.smi, persistence=False))
    world.facts = replace(world.facts, smi=replace(world.facts.smi, persistence=False))
    world.done.clear()
    world.path.clear()
    world.stay(7200)
    assert {after for _, _, after in world.path} == {State.READY}
    assert world.done.count(Step.PERSIST) < 15


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
