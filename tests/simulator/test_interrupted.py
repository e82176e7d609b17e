"""Runs that are cut off, meet each other, or find something in their way: the next one goes on."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest
from filelock import FileLock

from physical_ai.simulator import engine, processes, program
from physical_ai.simulator.azure import Cloud
from physical_ai.simulator.home import Home
from physical_ai.simulator.simulation import Simulation
from tests.simulator.physai import physai

STACK = "dev-westus2"
SHARED = ("--set", "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}")
"""A change that reaches a ConfigMap, a quota and a Helm release."""


def killed_at(sign: str, *arguments: str) -> None:
    """Runs a command in a process group of its own, and kills all of it as soon as it has printed `sign`."""
    command = [sys.executable, "-m", "physical_ai.cli", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if sign in line:
                break
        else:
            pytest.fail(f"never printed {sign!r}")
        os.killpg(process.pid, signal.SIGKILL)


def in_state(simulation: Simulation) -> set[str]:
    """Ids of the Azure resources the engine believes in."""
    (file,) = (simulation.folder / "backend").glob(f".pulumi/stacks/*/{simulation.stack}.json")
    resources: list[dict[str, Any]] = json.loads(file.read_text())["checkpoint"]["latest"]["resources"]
    return {r["id"].lower() for r in resources if r["type"].startswith("azure-native:")}


def test_an_up_that_azure_refuses_and_one_that_is_killed_are_taken_up_by_the_next(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Cloud.__init__

    def poor(self: Cloud, *arguments: object, **more: object) -> None:
        whole(self, *arguments, **{**more, "quota": {"lowPriorityCores": 100}})  # pyright: ignore[reportArgumentType]

    with monkeypatch.context() as patch:
        patch.setattr(Cloud, "__init__", poor)
        refused = physai("up", STACK, expect=1)
    assert "ErrCode_InsufficientVCPUQuota" in refused.err
    assert "Traceback" not in refused.err

    killed_at("created AgentPool", "up", STACK)
    is_taken_up(home)


@pytest.mark.deep
@pytest.mark.parametrize("moment", ["created NatGateway", "created ManagedCluster", "created AgentPool"])
def test_an_up_that_is_killed_is_taken_up_by_the_next(home: Home, moment: str) -> None:
    killed_at(moment, "up", STACK)
    is_taken_up(home)


def is_taken_up(home: Home) -> None:
    """The next `up` completes what there is, without a trace of what went before, and `down` removes it."""
    up = physai("up", STACK, "--json")
    assert up.pool("h100gpu")["ready"] == up.pool("rtxprogpu")["ready"] == 1
    assert physai("preview", STACK, "--json").json["changes"] == []
    simulation = Simulation(STACK)
    assert {id.lower() for id in simulation.cloud_resources()} == in_state(simulation), "an orphan"
    physai("down", STACK)
    assert list(home.folder.glob("simulations/*")) == []


def test_a_down_that_is_killed_is_taken_up_by_the_next(home: Home, deployed: Simulation) -> None:
    killed_at("deleted AgentPool", "down", STACK)
    physai("down", STACK)
    assert list(home.folder.glob("simulations/*")) == []


def test_a_second_command_says_that_one_is_at_work(home: Home) -> None:
    lock = home.lock(STACK)
    lock.parent.mkdir(parents=True)
    with FileLock(lock):
        assert "another physai command" in physai("up", STACK, expect=1).err
        assert "another physai command" in physai("down", "--discard", STACK, expect=1).err
    assert not Simulation(STACK).exists


def test_a_port_that_another_process_took_meanwhile_is_replaced(running: Simulation) -> None:
    (plane,) = running.folder.glob("clusters/*/")
    port = int((plane / "port.json").read_text())
    processes.kill(plane)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        up = physai("up", STACK, "--json")
    assert int((plane / "port.json").read_text()) != port
    assert up.pool("h100gpu")["ready"] == 1
    assert not {"replace", "delete"} & up.json["changes"].keys(), "another address is not another cluster"


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


def interrupted(number: int) -> str:
    """What `up` prints when a signal reaches it after its first creations."""
    command = [sys.executable, "-m", "physical_ai.cli", "up", STACK]
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        printed = ""
        for line in process.stderr:
            printed += line
            if "created NatGateway" in line:
                process.send_signal(number)
                break
        printed += process.stderr.read()
        assert process.wait(180) == 130, printed
    return printed


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.deep)])
def test_an_interrupt_lets_the_engine_write_down_what_it_has_done(home: Home, number: int) -> None:
    printed = interrupted(number)
    assert "Traceback" not in printed
    assert "interrupted" in printed
    simulation = Simulation(STACK)
    made = {id.lower() for id in simulation.cloud_resources()}
    assert any("/natgateways/" in id for id in made)
    assert made == in_state(simulation), "an orphan"


@pytest.mark.deep
def test_an_up_that_is_interrupted_is_taken_up_by_the_next(home: Home) -> None:
    interrupted(signal.SIGINT)
    physai("up", STACK)
    assert physai("preview", STACK, "--json").json["changes"] == []


def test_a_program_that_loses_the_engine_is_run_once_more(running: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    def losing(times: int) -> Callable[[], None]:
        left = [pulumi.RunError(f"{engine.LOST}, shutting down (Socket closed)")] * times

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
    up = physai("up", STACK)
    assert "Socket closed" in up.err
    assert "starting again" in up.err
    assert physai("preview", STACK, "--json").json["changes"] == []


def test_neither_a_proxy_for_the_internet_nor_a_reader_that_goes_away_stops_the_work(running: Simulation) -> None:
    unreachable = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    kept = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"}
    command = [sys.executable, "-m", "physical_ai.cli", "up", STACK]
    environment = {**kept, **unreachable}
    done = subprocess.run([*command, *SHARED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "updated Release physical-ai-gpu-operator" in done.stderr

    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        process.stderr.readline()
        process.stderr.close()
        process.wait(180)
    assert physai("preview", STACK, "--json").json["changes"] == []


def test_a_down_that_was_cut_off_while_it_removed_files_is_finished_by_the_next(
    home: Home, stopped: Simulation
) -> None:
    shutil.rmtree(stopped.folder / "work")
    physai("down", STACK)
    assert list(home.folder.glob("simulations/*")) == []


def test_after_a_crash_status_starts_nothing_and_up_finds_everything_as_it_was(running: Simulation) -> None:
    """The control plane is dead, and the attributes of the checkpoint were cut off while they were written."""
    (plane,) = running.folder.glob("clusters/*/")
    processes.kill(plane)
    (attributes,) = (running.folder / "backend").glob(f".pulumi/stacks/*/{STACK}.json.attrs")
    attributes.write_text("")
    assert "is stopped" in physai("status", STACK).out
    assert physai("status", STACK, "--json").json["running"] is False
    assert not processes.running(plane)

    up = physai("up", STACK, "--json")
    assert up.json["changes"] == {}
    assert up.pool("h100gpu")["nodes"] == 1
