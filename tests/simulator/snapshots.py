"""Finished simulations: each is deployed from nothing once a session, and tests start from copies of it.

A copy is what a laptop finds after a restart: the state of Pulumi, Azure and etcd. It listens on a port of its own, so
that copies run side by side; the port is replaced wherever the simulation wrote it down.
"""

from __future__ import annotations

import hashlib
import json
import random
import socket
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from simulator.cluster.objects import at, name
from simulator.home import HOME_VARIABLE, Home
from simulator.kubernetes import Client
from simulator.simulation import Simulation
from tests.simulator.homes import Homes, wipe
from tests.simulator.physai import Answer, physai
from tests.support.waiting import until

PORTS = range(15_000, 32_000)
"""Below those that the kernel assigns, to another worker for example."""
PODS = "/api/v1/namespaces/gpu-operator/pods"


@dataclass(frozen=True)
class Snapshots:
    """Simulations below `folder`, which all workers of a session share."""

    folder: Path
    homes: Homes

    def restore(self, home: Home, stack: str, *arguments: str) -> Simulation:
        """A running copy in `home` of what `physai up <stack> <arguments>` makes of an empty home."""
        copy = self.copy(home, stack, *arguments)
        clusters = copy.clusters()
        clusters.prepare(spare=False)
        clusters.wait()
        wait_for_gpus(copy)
        return copy

    def answer(self, stack: str, *arguments: str) -> Answer:
        """What `physai up <stack> <arguments> --json` printed when it deployed the original."""
        self._deployed(stack, arguments)
        return Answer(0, self._done(stack, arguments).read_text(), "")

    def copy(self, home: Home, stack: str, *arguments: str) -> Simulation:
        """The files of such a copy, without any process."""
        original = self._deployed(stack, arguments)
        copy = Simulation(stack, home)
        copy.folder.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["cp", "-a", "--sparse=always", str(original.folder), str(copy.folder)], check=True)
        _move_to_port(copy.folder, _free_port())
        return copy

    def _deployed(self, stack: str, arguments: tuple[str, ...]) -> Simulation:
        """The simulation that copies are made of, deployed and stopped by the first worker that needs it."""
        done = self._done(stack, arguments)
        home = self.homes.make(done.parent)
        simulation = Simulation(stack, home)
        with FileLock(home.folder / "lock"):
            if not done.exists():
                with pytest.MonkeyPatch.context() as patch, wiped_unless(done, home):
                    patch.setenv(HOME_VARIABLE, str(home.folder))
                    answer = physai("up", stack, "--json", *arguments)
                    simulation.clusters().stop()
                    done.write_text(answer.out)
        return simulation

    def _done(self, stack: str, arguments: tuple[str, ...]) -> Path:
        """The file that marks a finished original, in its home."""
        digest = hashlib.sha256("\n".join((stack, *arguments)).encode()).hexdigest()[:8]
        return self.folder / f"{stack}-{digest}" / "done"


@contextmanager
def wiped_unless(done: Path, home: Home) -> Generator[None]:
    """Leaves nothing of a simulation whose deployment failed."""
    try:
        yield
    finally:
        if not done.exists():
            wipe(home)


def wait_for_gpus(simulation: Simulation) -> None:
    """Until every Pod of the GPU stack is ready. Hosts are empty after a restart, so drivers are installed anew."""
    clusters = simulation.clusters()
    for cluster_id in clusters.ids():
        client = clusters.client(cluster_id)

        def waiting(client: Client = client) -> list[str]:
            return [name(pod) for pod in client.get(PODS)["items"] if not _is_ready(pod)]

        until(lambda waiting=waiting: not waiting(), "the GPU stack is not ready", state=waiting, every=0.2)


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions: list[dict[str, str]] = at(pod, "status.conditions", [])
    ready = [each["status"] for each in conditions if each["type"] == "Ready"]
    return at(pod, "status.phase") == "Succeeded" or ready == ["True"]


def _free_port() -> int:
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise RuntimeError(f"no free port in {PORTS}")


def _move_to_port(folder: Path, port: int) -> None:
    """Replaces the API server's address in all that is read; nothing in the cluster itself uses it."""
    (file,) = folder.glob("clusters/*/port.json")
    before, after = (f"127.0.0.1:{each}" for each in (json.loads(file.read_text()), port))
    file.write_text(json.dumps(port))
    for path in (folder / "kubeconfig", *folder.glob("backend/.pulumi/stacks/*/*.json")):
        path.write_text(path.read_text().replace(before, after))
