"""What is done about clients of an API server that gave up at their start."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import pytest

from simulator.control_plane import plane as module
from simulator.control_plane.clients import ATTEMPTS, GIVES_UP_SECONDS, keep_running
from simulator.control_plane.plane import CLIENTS, CONTROLLERS, ControlPlane
from simulator.errors import ControlPlaneFailed

NAMES = ("kube-controller-manager", "kube-scheduler", "kwok")


class Processes:
    """Processes that end some seconds after their start, as often as `deaths` says."""

    def __init__(self, deaths: Mapping[str, int], *, after: float = 0.0) -> None:
        self.deaths, self.after, self.now = dict(deaths), after, 0.0
        self.ends: dict[str, float] = {}
        self.starts: list[str] = []

    def start(self, name: str) -> None:
        self.starts.append(name)
        left = self.deaths.get(name, 0)
        self.deaths[name] = left - 1
        self.ends[name] = self.now + self.after if left > 0 else float("inf")

    def running(self) -> Collection[str]:
        return {name for name, end in self.ends.items() if self.now < end}

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def kept(self, waited: float) -> str | None:
        for name in NAMES:
            self.start(name)
        self.starts.clear()
        self.now += waited
        return keep_running(NAMES, waited, running=self.running, start=self.start, sleep=self.sleep)


def test_nothing_is_started_or_waited_for_where_all_run() -> None:
    world = Processes({})
    assert world.kept(waited=1.5) is None
    assert (world.starts, world.now) == ([], 1.5)


@pytest.mark.parametrize("waited", [0.5, 9.0, 10.5, 40.0])
def test_a_controller_manager_that_gave_up_on_the_server_is_started_again(waited: float) -> None:
    world = Processes({"kube-controller-manager": 1}, after=min(waited, GIVES_UP_SECONDS))
    assert world.kept(waited) is None
    assert world.starts == ["kube-controller-manager"]
    assert set(world.running()) == set(NAMES)


def test_one_that_is_about_to_give_up_when_the_server_is_ready_is_seen_too() -> None:
    world = Processes({"kube-controller-manager": 1}, after=GIVES_UP_SECONDS)
    assert world.kept(waited=9.9) is None
    assert world.starts == ["kube-controller-manager"]


@pytest.mark.parametrize("name", NAMES)
def test_one_that_ends_each_time_is_named(name: str) -> None:
    world = Processes({name: ATTEMPTS + 1}, after=2.0)
    assert world.kept(waited=3.0) == name
    assert world.starts == [name] * ATTEMPTS


def test_the_plane_says_which_process_ended_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Tools:
        def path(self, name: str) -> Path:
            return Path(name)

    started: list[str] = []

    def start(name: str, *_: object) -> None:
        started.append(name)

    def running(_: Path) -> set[str]:
        return {*CLIENTS, CONTROLLERS} - {"kube-controller-manager"}

    monkeypatch.setattr(module.processes, "start", start)
    monkeypatch.setattr(module.processes, "running", running)
    monkeypatch.setattr(module.time, "sleep", lambda _: None)
    (tmp_path / "kube-controller-manager.log").write_text("failed to wait for apiserver being healthy\n")
    plane = ControlPlane(tmp_path, Tools(), tmp_path / "tokens")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ControlPlaneFailed, match="kube-controller-manager ended 3 times") as caught:
        plane._keep_clients(1.0)  # pyright: ignore[reportPrivateUsage]
    assert "failed to wait for apiserver being healthy" in str(caught.value)
    assert started == ["kube-controller-manager"] * ATTEMPTS
