"""The GRID agent's process: its own failures, its clock, jobs that do not start, an API server that is slow."""

from __future__ import annotations

import argparse
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grid_agent import jobs, main, metrics
from grid_agent.api import Api
from grid_agent.facts import ClusterError, HostFacts, Job, Pod
from grid_agent.main import Agent, Clock
from grid_agent.memory import Memory, to_document
from grid_agent.metrics import DEAD_FAULTS, Board
from grid_agent.shell import TIMED_OUT, Result, Shell
from grid_agent.steps import State, Step
from grid_agent.store import STATE_DIR, Store
from grid_agent.transitions import clamped, dated
from grid_agent.wanted import Timings
from tests.support.grid_agent_world import DEVICE_PLUGIN, NEW, World, installed, wanted

DAY = 86400.0


class Host:
    """A host in memory, with what the loop sets on the real one."""

    def __init__(self, world: World) -> None:
        self.world, self.smi_age = world, 0.0
        self.trouble: Exception | None = None

    def inspect(self, wanted: Any) -> HostFacts:
        if self.trouble:
            raise self.trouble
        return self.world.inspect(wanted)

    def perform(self, *arguments: Any) -> None:
        self.world.perform(*arguments)


class Cluster:
    def __init__(self, world: World) -> None:
        self.world, self.seconds, self.skew = world, 0.0, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    def pool(self) -> str:
        return ""


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    """The loop around a node whose driver works."""
    world = World(facts=installed(), wanted=wanted())
    settings = tmp_path / "wanted.json"
    settings.write_text(json.dumps({"version": NEW, "sha256": "a" * 64, "urls": ["https://mirror.example/grid.run"]}))
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    host: Any = Host(world)
    cluster: Any = Cluster(world)
    options = argparse.Namespace(wanted=settings)
    return Agent(options, host, store, cluster, Board(), wanted(), threading.Event())


def probes(agent: Agent) -> tuple[int, int]:
    return agent.board.answer("/readyz")[0], agent.board.answer("/healthz")[0]


def world_of(agent: Agent) -> World:
    cluster: Any = agent.api
    return cluster.world


TROUBLES = [RuntimeError("broken"), TypeError("NoneType"), OSError(5, "Input/output error", "/sys/module")]


@pytest.mark.parametrize("trouble", TROUBLES, ids=["bug", "kind", "host"])
def test_an_agent_that_fails_at_every_step_is_not_ready_and_then_dead(agent: Agent, trouble: Exception) -> None:
    host: Any = agent.host
    memory = agent.step(Memory())
    assert memory.state is State.READY
    assert probes(agent) == (200, 200)
    host.trouble = trouble
    memory = agent.step(memory)
    assert probes(agent) == (503, 200)
    assert "grid_driver_ready 0" in agent.board.answer("/metrics")[1]
    condition = world_of(agent).conditions[-1]
    assert (condition.status, condition.reason) == (
        "False",
        "HostFault" if isinstance(trouble, OSError) else "AgentFault",
    )
    assert str(trouble.args[-1]) in condition.message
    for _ in range(DEAD_FAULTS):
        memory = agent.step(memory)
    assert probes(agent) == (503, 503)
    assert len([event for event in world_of(agent).events if event[0] == "Warning"]) == 1
    host.trouble = None
    memory = agent.step(memory)
    assert probes(agent) == (200, 200)
    assert world_of(agent).conditions[-1].status == "True"


def test_an_agent_that_hangs_is_not_ready_and_then_dead(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    agent.step(Memory())
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + 400)
    assert probes(agent) == (503, 200)
    assert "grid_driver_ready 0" in agent.board.answer("/metrics")[1]
    monkeypatch.setattr(time, "monotonic", lambda: real() + 1000)
    assert probes(agent) == (503, 503)


def test_a_state_that_can_not_be_saved_is_reported_once_and_not_taken_back(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = agent.step(Memory())
    reported = len(world_of(agent).conditions)

    def full(memory: Memory) -> None:
        raise OSError(28, "No space left on device", "memory.json")

    monkeypatch.setattr(agent.store, "save", full)
    for _ in range(DEAD_FAULTS):
        memory = agent.step(memory)
    assert [each.status for each in world_of(agent).conditions[reported:]] == ["False"]
    assert "No space left" in memory.sentence
    assert probes(agent) == (503, 503)


def test_an_api_server_that_is_silent_is_no_fault_of_the_agent(agent: Agent) -> None:
    memory = agent.step(Memory())
    world_of(agent).api = ClusterError("unreachable", "connection refused")
    for _ in range(DEAD_FAULTS + 1):
        memory = agent.step(memory)
    assert memory.faults == 0
    assert probes(agent) == (200, 200)


def test_a_host_that_can_not_be_written_at_the_start_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Any] = []

    def prepare(store: Store) -> None:
        raise OSError(30, "Read-only file system", "/var/lib/physical-ai")

    monkeypatch.setattr(Store, "prepare", prepare)
    monkeypatch.setattr(Api, "report", lambda _, condition: reported.append(condition))
    monkeypatch.setattr(Api, "event", lambda *_: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("NODE_NAME", "rtx-0")
    settings = tmp_path / "wanted.json"
    settings.write_text(json.dumps({"version": NEW}))
    assert main.main(["--wanted", str(settings), "--api", "http://127.0.0.1:9"]) == main.UNSAFE
    (condition,) = reported
    assert (condition.status, condition.reason) == ("False", "HostFault")
    assert "Read-only file system" in condition.message


# -- the clock


def test_the_agents_clock_goes_on_when_the_hosts_is_set_back(monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    clock = Clock()
    before = clock.now()
    monkeypatch.setattr(time, "time", lambda: real() - DAY)
    assert 0 <= clock.now() - before < 60
    assert clock.skew == pytest.approx(-DAY, abs=60)


def test_times_of_the_future_are_no_reason_to_wait() -> None:
    now = 1_000_000.0
    world = World(facts=installed("580.105.08"), wanted=wanted())
    world.fail[Step.FETCH] = [(10, "connection refused")]
    world.now = now + DAY
    world.run_until("FetchFailed")
    world.now = now
    memory = clamped(world.memory, Timings(), now)
    assert memory.failures["fetch"].retry_at <= now + Timings().retry_max_seconds
    assert max(memory.since, memory.gated_at, memory.checked_at, memory.reported_at, memory.looked_at) <= now
    world.run(State.READY)
    assert world.now - now < 3600


def test_operands_are_restarted_once_when_the_clock_was_set_back() -> None:
    """Kubelet dates new Pods a day before the driver was verified, for as long as the agent's process lives."""
    world = World(facts=installed(), wanted=wanted())
    world.run(State.READY)
    world.memory = replace(world.memory, changed=True)
    world.stay(60)
    world.deleted.clear()
    operate = world._operate  # pyright: ignore[reportPrivateUsage]

    def a_day_ago() -> None:
        known = dict(world.operands)
        operate()
        for app, pod in world.operands.items():
            if app not in known and pod.begun is not None:
                world.operands[app] = replace(pod, begun=pod.begun - DAY)

    world._operate = a_day_ago  # type: ignore[method-assign]  # pyright: ignore[reportPrivateUsage]
    world.operands.clear()
    world.stay(3600)
    assert len(world.deleted) <= 3
    assert world.serves(NEW)


def test_a_pod_keeps_its_date_and_a_restart_of_its_containers_changes_it() -> None:
    world = World()
    now = world.now
    pod = Pod("gpu-operator", "p", "u", DEVICE_PLUGIN, begun=now + DAY)
    world.operands = {DEVICE_PLUGIN: pod}
    memory, node = dated(Memory(), world.observe(), now)
    assert node.operands[0].begun == now
    memory, node = dated(memory, world.observe(), now + 600)
    assert node.operands[0].begun == now
    world.operands = {DEVICE_PLUGIN: replace(pod, begun=now + 900)}
    memory, node = dated(memory, world.observe(), now + 1000)
    assert node.operands[0].begun == now + 900
    world.operands = {}
    memory, node = dated(memory, world.observe(), now + 1001)
    assert memory.starts == {}


# -- jobs


class Commands(Shell):
    """A host on which `systemd-run` and `systemctl` answer as given."""

    def __init__(self, root: Path, **answers: Result) -> None:
        super().__init__(str(root))
        self.answers = answers

    def run(self, *command: str) -> Result:
        return self.answers.get(command[0].replace("-", "_"), Result(0))


JOB = Job("install-1", Step.INSTALL, wanted().target, "running", started=5.0)
PLACE = jobs.Place("/scripts", "6.8", ())
INACTIVE, ACTIVE = Result(0, "ActiveState=inactive\n"), Result(0, "ActiveState=active\n")


def test_a_job_that_systemd_refuses_is_one_failure_and_no_interruption(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemd_run=Result(1, err="Failed to connect to bus"), systemctl=INACTIVE)
    with pytest.raises(jobs.HostError, match="Failed to connect to bus"):
        jobs.start(shell, JOB, wanted(), PLACE)
    assert jobs.found(shell) is None


def test_a_job_whose_start_is_confirmed_too_late_runs(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemd_run=Result(TIMED_OUT), systemctl=ACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    found = jobs.found(shell)
    assert found is not None
    assert found.state == "running"


def test_a_job_that_has_ended_when_its_start_is_confirmed_is_no_failure(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemd_run=Result(TIMED_OUT), systemctl=INACTIVE)
    shell.write(jobs.log_of(JOB.id), "== install")
    jobs.start(shell, JOB, wanted(), PLACE)


def test_a_job_that_began_and_left_no_result_vanished(tmp_path: Path) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    shell.write(jobs.log_of(JOB.id), "== install")
    found = jobs.found(shell)
    assert found is not None
    assert found.state == "vanished"


def test_a_job_that_holds_its_lock_runs_although_systemd_is_silent(tmp_path: Path) -> None:
    import fcntl

    shell = Commands(tmp_path, systemctl=Result(TIMED_OUT))
    jobs.start(shell, JOB, wanted(), PLACE)
    assert jobs.found(shell) is None
    with shell.path(f"{STATE_DIR}/job.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = jobs.found(shell)
    assert found is not None
    assert found.state == "running"


@pytest.mark.parametrize("code", [None, "0", "", [], {}, True, 1.5])
def test_a_result_without_an_exit_code_is_a_failure(tmp_path: Path, code: object) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    shell.write(f"{STATE_DIR}/result.json", json.dumps({"id": JOB.id, "code": code, "ended": None}))
    found = jobs.found(shell)
    assert found is not None
    assert (found.state, found.code) == ("failed", jobs.UNREADABLE)


@pytest.mark.parametrize("change", [{"urls": None}, {"started": "soon"}, {"step": "dance"}, {"started": None}])
def test_a_job_document_that_can_not_be_read_is_none(tmp_path: Path, change: dict[str, Any]) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    document = json.loads(shell.read(f"{STATE_DIR}/job.json") or "")
    shell.write(f"{STATE_DIR}/job.json", json.dumps({**document, **change}))
    assert jobs.found(shell) is None


# -- the API server


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that accepts connections and answers as given, on a port of its own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            try:
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        answer(connection)
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)


def api(url: str, account: Path) -> Api:
    (account / "token").write_text("t")
    made = Api(url, account, "rtx-0", "gpu-operator")
    made.seconds = 0.3
    return made


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"


@pytest.mark.parametrize("first", [HEAD, b"HTTP/1.1 200 OK\r\nX-Slow: "], ids=["body", "headers"])
def test_an_api_server_that_answers_a_byte_at_a_time_is_given_up(tmp_path: Path, first: bytes) -> None:
    done = threading.Event()

    def drip(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(first)
        while not done.wait(0.02):
            connection.sendall(b" ")

    with server(drip) as url:
        with pytest.raises(ClusterError, match=r"no complete answer in 0\.3 s"):
            api(url, tmp_path).observe()
        done.set()


@pytest.mark.parametrize("body", [b"too many requests", b'{"message": "too many requests"}', b"", b"[" * 5000])
def test_a_refusal_keeps_its_code_whatever_text_comes_with_it(tmp_path: Path, body: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with server(answer) as url, pytest.raises(ClusterError, match=r"\(429\)") as refused:
        api(url, tmp_path).observe()
    assert refused.value.kind == "refused"


@pytest.mark.parametrize(
    "body", [b"{}", b'{"metadata": null, "status": null, "items": 5}', b'{"items": [null, 5, {}]}']
)
def test_objects_of_an_odd_shape_are_read(tmp_path: Path, body: bytes) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with server(answer) as url:
        node = api(url, tmp_path).observe()
    assert node.gpu_pods == ()


@pytest.mark.parametrize(
    ("body", "says"),
    [(b"[1]", "something else than an object"), (b"[" * 50_000, "does not answer"), (b"{", "does not answer")],
    ids=["list", "deep", "cut"],
)
def test_an_answer_that_is_no_object_is_an_error_of_the_api_server(tmp_path: Path, body: bytes, says: str) -> None:
    def answer(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    with server(answer) as url, pytest.raises(ClusterError, match=says):
        api(url, tmp_path).observe()


# -- files of the state folder, whatever is in them

ODD: tuple[Any, ...] = (None, True, -1, 1.5, 10**30, "", "soon", [], [1], ["x", None], {}, {"x": 1}, {"load": None})


@pytest.mark.parametrize("name", sorted(to_document(Memory())))
def test_whatever_a_memory_contains_the_next_step_works(tmp_path: Path, name: str) -> None:
    store = Store(str(tmp_path))
    store.folder.mkdir(parents=True)
    world = World(facts=installed("580.105.08"), wanted=wanted())
    world.run_until("Fetch")
    document = to_document(world.memory)
    for value in ODD:
        (store.folder / "memory.json").write_text(json.dumps({**document, name: value}))
        world.memory = store.load()
        memory = world.tick()
        assert memory.faults == 0
        Board().put(memory, world.wanted)
        assert "grid_driver_ready" in metrics.render(memory, world.wanted)


@pytest.mark.parametrize("name", ["id", "step", "version", "sha256", "module_type", "urls", "started"])
def test_whatever_a_job_document_contains_the_host_is_read(tmp_path: Path, name: str) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    document = json.loads(shell.read(f"{STATE_DIR}/job.json") or "")
    for value in ODD:
        shell.write(f"{STATE_DIR}/job.json", json.dumps({**document, name: value}))
        found = jobs.found(shell)
        world = World(facts=installed(job=found), wanted=wanted())
        world.tick()


@pytest.mark.parametrize("name", ["id", "code", "sentence", "ended"])
def test_whatever_a_result_contains_the_host_is_read(tmp_path: Path, name: str) -> None:
    shell = Commands(tmp_path, systemctl=INACTIVE)
    jobs.start(shell, JOB, wanted(), PLACE)
    for value in ODD:
        result = {"id": JOB.id, "code": 0, "sentence": "", "ended": 5, name: value}
        shell.write(f"{STATE_DIR}/result.json", json.dumps(result))
        World(facts=installed(job=jobs.found(shell)), wanted=wanted()).tick()
