"""The GRID agent on a node in service: reboots, licences, parameters, marks of others, removal."""

from __future__ import annotations

from dataclasses import replace

from grid_agent.facts import (
    TOOLKIT,
    VALIDATOR,
    ClusterError,
)
from grid_agent.steps import State, Step
from tests.support.grid_agent_fake import DEVICE_PLUGIN, GPU_POD, NEW, OLD, SHA, FakeNode, serving, wanted


def test_pods_in_init_after_a_reboot_are_started_anew() -> None:
    fake = serving(NEW)
    fake.wanted = wanted(NEW)
    fake.run(State.READY)
    fake.reboot()
    fake._operate()  # pyright: ignore[reportPrivateUsage]
    assert fake.operands[VALIDATOR].looking
    fake.run(State.READY)
    fake.run_for(300)
    assert fake.serves(NEW)
    assert {TOOLKIT, VALIDATOR} <= set(fake.deleted)
    assert Step.INSTALL not in fake.done
    assert Step.GATE not in fake.done


def test_the_wrong_kernel_after_an_image_upgrade_is_built_for_from_the_cache() -> None:
    fake = serving(NEW)
    fake.reboot(kernel="6.8.0-1040-azure", on_disk=None)
    fake.run(State.READY)
    assert fake.serves(NEW)
    assert Step.FETCH not in fake.done


def test_a_lost_licence_is_reported_and_the_gate_stays_open() -> None:
    fake = serving(NEW)
    fake.run(State.READY)
    fake.after[Step.LOAD] = lambda facts: replace(facts, smi=replace(facts.smi, licence="unlicensed"))
    fake.facts = replace(fake.facts, smi=replace(fake.facts.smi, licence="unlicensed"))
    fake.run(State.BLOCKED)
    assert "licence" in fake.memory.sentence
    assert not fake.gated
    fake.facts = replace(fake.facts, smi=replace(fake.facts.smi, licence="licensed"))
    fake.run(State.READY)


def test_conditions_are_written_when_they_change_and_not_at_every_step() -> None:
    fake = serving()
    fake.conditions.clear()
    fake.gpu_pods = (GPU_POD,)
    fake.run_until("GpuPodsRunning")
    fake.run_for(3600)
    assert len(fake.conditions) < 10
    assert SHA[OLD] != SHA[NEW]


def test_a_silent_api_server_takes_no_proven_node_down() -> None:
    fake = serving()
    fake.wanted = wanted(OLD)
    fake.api = ClusterError("unreachable", "connection refused")
    fake.run_for(600)
    assert fake.memory.state is State.READY


def test_a_parameter_that_the_driver_does_not_take_is_not_tried_for_ever_on_a_node_in_service() -> None:
    fake = serving(NEW)
    fake.wanted = wanted(NEW, module_parameters={"nvidia": {"NVreg_EnableMSI": "7"}})
    other = {"nvidia": {"NVreg_EnableMSI": "1"}}
    fake.facts = replace(fake.facts, parameters=other, configured=False)
    fake.after[Step.LOAD] = lambda facts: replace(facts, parameters=other)
    fake.run_for(6 * 3600)
    assert fake.done.count(Step.UNLOAD) <= 4
    assert not fake.gated
    assert fake.conditions[-1].status == "False"
    assert "NVreg_EnableMSI is 1, not 7" in fake.memory.sentence


def test_persistence_mode_is_turned_on_again_and_one_that_can_not_be_keeps_the_node_ready() -> None:
    fake = serving(NEW)
    fake.facts = replace(fake.facts, smi=replace(fake.facts.smi, persistence=False))
    fake.run_until("DriverVerified")
    fake.tick()
    assert fake.facts.smi.persistence
    fake.after[Step.PERSIST] = lambda facts: replace(facts, smi=replace(facts.smi, persistence=False))
    fake.facts = replace(fake.facts, smi=replace(fake.facts.smi, persistence=False))
    fake.done.clear()
    fake.path.clear()
    fake.run_for(7200)
    assert {after for _, _, after in fake.path} == {State.READY}
    assert fake.done.count(Step.PERSIST) < 15


def test_the_seed_profile_gets_its_marks_after_success_only() -> None:
    fake = FakeNode(wanted=wanted(legacy_validation_markers=True))
    fake.run_until("Install")
    assert not fake.facts.legacy_marker
    fake.run(State.READY)
    assert fake.facts.legacy_marker
    assert fake.facts.legacy_mount == "root"
    fake.wanted = wanted(OLD, legacy_validation_markers=True)
    fake.run_until("Unload")
    assert not fake.facts.legacy_marker
    assert fake.facts.legacy_mount == "none"
    fake.run(State.READY)
    assert fake.facts.legacy_marker


def test_legacy_marks_under_a_running_driver_go_and_operands_start_anew() -> None:
    fake = serving(NEW)
    fake.facts = replace(fake.facts, legacy_marker=True, legacy_mount="root", driver_ready="container")
    fake.run(State.READY)
    fake.run_for(300)
    assert not fake.facts.legacy_marker
    assert {TOOLKIT, VALIDATOR, DEVICE_PLUGIN} <= set(fake.deleted)


def test_legacy_marks_stay_while_gpu_pods_run() -> None:
    fake = serving(NEW)
    fake.facts = replace(fake.facts, legacy_marker=True, legacy_mount="root", driver_ready="container")
    fake.gpu_pods = (GPU_POD,)
    fake.run(State.READY)
    fake.run_for(600)
    assert fake.facts.legacy_marker
    assert fake.deleted == []
    fake.gpu_pods = ()
    fake.tick()
    fake.run(State.READY)
    assert not fake.facts.legacy_marker


def test_the_images_own_marker_goes_without_a_restart_of_anything() -> None:
    fake = serving(NEW)
    fake.facts = replace(fake.facts, prebaked="580.159.04")
    fake.run(State.CLEANING)
    fake.run(State.READY)
    fake.run_for(600)
    assert not fake.facts.prebaked
    assert fake.deleted == []


def test_removal_on_request_ends_with_a_clean_host_and_a_closed_gate() -> None:
    fake = serving()
    fake.wanted = replace(fake.wanted, present=False)
    fake.run(State.REMOVED)
    fake.tick()
    assert fake.facts.on_disk is None
    assert fake.facts.loaded == {}
    assert fake.gated
    fake.run_for(3600)
    assert fake.done.count(Step.REMOVE) == 1
