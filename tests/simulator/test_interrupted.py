"""Commands that are interrupted, run at the same time or meet an obstacle: the next one completes the work."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from filelock import FileLock

from simulator import engine_errors, processes, program
from simulator.azure import Cloud
from simulator.control_plane import ControlPlane
from simulator.errors import ControlPlaneFailed
from simulator.home import Home
from simulator.simulation import Simulation
from tests.simulator.physai import COMMAND, killed_at, physai
from tests.simulator.release_upgrade import OLD, the_release_is_upgraded_and_never_back
from tests.support.waiting import LIMIT

pytestmark = pytest.mark.usefixtures("saved_at_each_step")

STACK = "dev-westus2"
SMALL = ("--set", "osmo.mode=namespaces")
"""Without OSMO's charts, of which these tests show nothing; test_year.py kills an `up` while it installs one."""
PROTECTED = ("--set", "protect=true")


def in_state(simulation: Simulation) -> set[str]:
    """Ids of the Azure resources the engine believes in."""
    (file,) = (simulation.folder / "backend").glob(f".pulumi/stacks/*/{simulation.stack}.json")
    resources: list[dict[str, Any]] = json.loads(file.read_text())["checkpoint"]["latest"]["resources"]
    return {r["id"].lower() for r in resources if r["type"].startswith("azure-native:")}


@pytest.mark.deep  # in `make test`: a `down` that is cut off, and an engine that is lost, below
def test_an_up_that_is_interrupted_and_killed_is_completed_by_the_next(home: Home) -> None:
    """Each `up` continues what the one before it left."""
    interrupted_without_an_orphan(signal.SIGINT)
    killed_at("created AgentPool", "up", STACK, *SMALL)
    is_completed()
    is_protected(home)


@pytest.mark.deep
def test_an_up_that_is_refused_is_completed_by_the_next_and_upgraded(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In `make test`: quota in tests/unit/simulator/test_azure_pool_rules.py, upgrades of a release in
    test_helm_releases.py, and no way back in tests/unit/components/test_components_gpu_operator.py."""
    construct = Cloud.__init__

    def with_little_quota(self: Cloud, *arguments: object, **more: object) -> None:
        construct(self, *arguments, **{**more, "quota": {"lowPriorityCores": 100}})  # pyright: ignore[reportArgumentType]

    with monkeypatch.context() as patch:
        patch.setattr(Cloud, "__init__", with_little_quota)
        before = physai("up", STACK, *SMALL, *OLD, expect=1)
        refused = physai("up", STACK, *SMALL, *OLD, "--set", "preflight.quota=false", expect=1)
    assert "Azure would refuse this deployment, of which nothing was created" in before.err
    assert "ErrCode_InsufficientVCPUQuota" in refused.err
    assert "Traceback" not in refused.err

    is_completed(*OLD)
    the_release_is_upgraded_and_never_back(STACK, *SMALL, *PROTECTED)


@pytest.mark.deep
@pytest.mark.parametrize("moment", ["created NatGateway", "created ManagedCluster", "created AgentPool"])
def test_an_up_that_is_killed_is_completed_by_the_next(home: Home, moment: str) -> None:
    killed_at(moment, "up", STACK, *SMALL)
    is_completed()
    assert physai("preview", STACK, "--json", *SMALL, *PROTECTED).json["changes"] == []
    is_protected(home)


def is_completed(*settings: str) -> None:
    """The next `up` completes what exists, without an orphan."""
    up = physai("up", STACK, "--json", *SMALL, *PROTECTED, *settings)
    assert up.pool("h100gpu")["ready"] == up.pool("rtxprogpu")["ready"] == 1
    simulation = Simulation(STACK)
    assert {id.lower() for id in simulation.cloud_resources()} == in_state(simulation), "an orphan"


def is_protected(home: Home) -> None:
    """`down` deletes nothing, and `down --discard` removes all."""
    before = Simulation(STACK).cloud_resources()
    assert f"physai up {STACK} --set protect=false" in physai("down", STACK, expect=1).err
    assert Simulation(STACK).cloud_resources() == before
    planes = list(Simulation(STACK).folder.glob("clusters/*/"))
    assert any(processes.running(plane) for plane in planes)
    physai("down", "--discard", STACK)
    assert not any(processes.running(plane) for plane in planes)
    assert list(home.folder.glob("simulations/*")) == []
    assert "nothing to do" in physai("down", STACK).err


def test_a_second_command_says_that_one_is_at_work(home: Home) -> None:
    lock = home.lock(STACK)
    lock.parent.mkdir(parents=True)
    with FileLock(lock):
        assert "another physai command" in physai("up", STACK, expect=1).err
        assert "another physai command" in physai("down", "--discard", STACK, expect=1).err
    assert not Simulation(STACK).exists


def test_a_control_plane_that_cannot_start_says_which_part_and_where_its_log_is(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for built in (home.folder / "tools").resolve().iterdir():
        if built.is_dir():
            (broken / built.name).mkdir()
            for command in built.iterdir():
                (broken / built.name / command.name).symlink_to(command)
    (etcd,) = broken.glob("etcd-*/etcd")
    etcd.unlink()
    etcd.write_text("#!/bin/sh\necho 'etcd: no space left on device'\nexit 1\n")
    etcd.chmod(0o755)
    (home.folder / "tools").unlink()
    (home.folder / "tools").symlink_to(broken)

    refused = physai("up", STACK, expect=1)
    assert "etcd ended" in refused.err
    assert "no space left on device" in refused.err
    assert "etcd.log" in refused.err
    assert "Traceback" not in refused.err


def interrupted_without_an_orphan(number: int) -> None:
    """An `up` that a signal reaches after its first creations: the engine writes down what it has done."""
    with subprocess.Popen(
        [*COMMAND, "up", STACK, *SMALL],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stderr is not None
        printed = ""
        for line in process.stderr:
            printed += line
            if "created NatGateway" in line:
                process.send_signal(number)
                break
        printed += process.stderr.read()
        assert process.wait(LIMIT) == 130, printed
    assert "Traceback" not in printed
    assert "interrupted" in printed
    simulation = Simulation(STACK)
    made = {id.lower() for id in simulation.cloud_resources()}
    assert any("/natgateways/" in id for id in made)
    assert made == in_state(simulation), "an orphan"


@pytest.mark.deep
def test_an_up_that_is_terminated_leaves_no_orphan(home: Home) -> None:
    interrupted_without_an_orphan(signal.SIGTERM)


def test_a_program_that_loses_the_engine_is_run_once_more(running: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(times: int) -> Callable[[], None]:
        left = [pulumi.RunError(f"{engine_errors.LOST}, shutting down (Socket closed)")] * times

        def run() -> None:
            if left:
                raise left.pop()
            run_program()

        return run

    run_program = program.run_program
    monkeypatch.setattr(program, "run_program", losing(2))
    gave_up = physai("preview", STACK, expect=1).err
    assert "1 error above" in gave_up
    assert gave_up.count("starting again") == 1

    monkeypatch.setattr(program, "run_program", losing(1))
    up = physai("up", STACK, "--json")
    assert "Socket closed" in up.err
    assert "starting again" in up.err
    assert up.json["changes"] == {}


def test_a_down_that_was_cut_off_while_it_removed_files_is_finished_by_the_next(
    home: Home, stopped: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attributes of the checkpoint were cut off too, and a status of it starts nothing."""
    damage_attributes(stopped)
    (plane,) = stopped.folder.glob("clusters/*/")
    assert "is stopped" in physai("status", STACK).out
    assert physai("status", STACK, "--json").json["running"] is False
    assert not processes.running(plane)
    shutil.rmtree(stopped.folder / "work")

    def does_not_start(self: ControlPlane) -> None:
        """As in test_stack.py: the clusters of a stack that goes need no API server, and one takes seconds to start."""
        raise ControlPlaneFailed("etcd: database corrupted")

    monkeypatch.setattr(ControlPlane, "start", does_not_start)
    physai("down", STACK)
    assert list(home.folder.glob("simulations/*")) == []


def damage_attributes(simulation: Simulation) -> None:
    (state,) = (simulation.folder / "backend").glob(f".pulumi/stacks/*/{STACK}.json")
    attributes = state.with_name(f"{state.name}.attrs")
    assert not attributes.exists(), "takes a fifth of the time of each write"
    attributes.write_text("")


@pytest.mark.deep
def test_after_a_crash_status_starts_nothing_and_up_finds_everything_as_it_was(running: Simulation) -> None:
    """The control plane is dead, its port is taken, and attributes of the checkpoint were cut off.

    In `make test`: status and attributes of a stopped stack above, a control plane that starts again in all tests of
    `running`, an `up` there that changes nothing in test_stack.py, and a taken port in tests/unit/simulator/
    test_ports.py.
    """
    (plane,) = running.folder.glob("clusters/*/")
    port = int((plane / "port.json").read_text())
    processes.kill(plane)
    damage_attributes(running)
    assert "is stopped" in physai("status", STACK).out
    assert physai("status", STACK, "--json").json["running"] is False
    assert not processes.running(plane)

    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        up = physai("up", STACK, "--json")
    assert int((plane / "port.json").read_text()) != port
    assert up.json["changes"] == {}, "another address is not another cluster"
    assert up.pool("h100gpu")["nodes"] == up.pool("h100gpu")["ready"] == 1
