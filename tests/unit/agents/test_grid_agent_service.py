"""The GRID agent on a node in service: reboots, licences, parameters, marks of others, removal."""

from __future__ import annotations

from dataclasses import replace

from grid_agent.facts import (
    TOOLKIT,
    VALIDATOR,
    ClusterError,
)
from grid_agent.steps import State, Step
from tests.support.grid_agent_world import DEVICE_PLUGIN, GPU_POD, NEW, OLD, SHA, World, serving, wanted


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


def test_a_silent_api_server_takes_no_proven_node_down() -> None:
    world = serving()
    world.wanted = wanted(OLD)
    world.api = ClusterError("unreachable", "connection refused")
    world.stay(600)
    assert world.memory.state is State.READY


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
