"""`python -m physical_ai.simulator.controllers --kubeconfig FILE`: GPU stack, operators and tasks of one cluster."""

from __future__ import annotations

import argparse
import logging
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import yaml

from physical_ai import catalog
from physical_ai.simulator.clock import seconds_per_model_minute
from physical_ai.simulator.cluster.objects import Json, at, labels, name
from physical_ai.simulator.errors import SimulationError
from physical_ai.simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from physical_ai.simulator.gpu.hardware import Hardware, of_size
from physical_ai.simulator.gpu.live.cluster import Cluster, Operator
from physical_ai.simulator.gpu.live.discovery import Discovery
from physical_ai.simulator.gpu.live.grid import GridAgents
from physical_ai.simulator.gpu.live.hooks import Hooks
from physical_ai.simulator.gpu.live.kubelet import Kubelets, Surroundings
from physical_ai.simulator.gpu.live.operator import Controllers
from physical_ai.simulator.gpu.live.probes import Probes
from physical_ai.simulator.gpu.release import names as releases
from physical_ai.simulator.gpu.release import release
from physical_ai.simulator.kubernetes.client import ApiError, Client, Unreachable
from physical_ai.simulator.operators import Operators
from physical_ai.simulator.osmo.live import Workflows

log = logging.getLogger("gpu-stack")
GATHER_SECONDS = 0.02
"""After a change, until the next look: changes come in swarms."""
POLL_SECONDS = 0.1
"""Between two looks while something waits for model time."""


class GpuStack:
    """Runs NFD, the operator and the kubelets, one round after the other."""

    def __init__(self, client: Client, speed: float) -> None:
        """`speed` is model seconds in one second."""
        self._changed = threading.Event()
        self._cluster = Cluster(client, self._changed.set)
        self._speed = speed
        self._operator: Operator | None = None
        self._controllers = Controllers(self._cluster)
        self._discovery, self._kubelets = Discovery(self._cluster), Kubelets(self._cluster)
        self._hooks, self._probes = Hooks(self._cluster), Probes(self._cluster)
        self._grid = GridAgents(self._cluster)
        self._workflows = Workflows(client, self._changed.set)
        self._then = time.monotonic()
        self._now = time.time()
        """Model time in seconds since the epoch: it begins now, and runs faster."""

    def run(self) -> None:
        while True:
            waits = self._kubelets.are_waiting or self._grid.are_working or self._workflows.are_running
            self._changed.wait(POLL_SECONDS if waits else None)
            self._changed.clear()
            try:
                if self.round():
                    self._changed.set()
            except (ApiError, Unreachable, httpx.HTTPError) as problem:
                log.warning("%s", problem)
                self._changed.set()
            except Exception:
                # One node's trouble must not end the whole stack; the log has it, and the next change tries again.
                log.exception("a round was cut short")
                time.sleep(POLL_SECONDS)
            time.sleep(GATHER_SECONDS)

    def round(self) -> bool:
        """One look at everything; whether anything moved that others have to look at again."""
        now = time.monotonic()
        seconds, self._then = (now - self._then) * self._speed, now
        given = self._cluster.operator()
        if given != self._operator:
            self._operator = given
            self._controllers.restart()
            log.info("operator: %s", given)
        hardware = {name(item): hardware_of(item) for item in self._cluster.nodes}
        moved = self._discovery.run(hardware)
        moved = self._hooks.run() or moved
        known = given is not None and _is_known(given.release)
        if given is not None and known:
            moved = self._controllers.run(given) or moved
        self._now += seconds
        # Without an operator there are kubelets and hosts all the same, and the GRID driver's agent at work on them.
        around = self._surroundings(given.release if given is not None and known else releases()[-1])
        moved = self._kubelets.run(hardware, around, seconds, self._now) or moved
        moved = self._grid.run(self._kubelets, self._now, now) or moved
        faults = self._kubelets.cuda()
        self._probes.run(faults)
        return self._workflows.run(faults, self._now) or moved

    def _surroundings(self, version: str) -> Surroundings:
        policies = self._cluster.all("ClusterPolicy")
        spec: Json = at(policies[0], "spec", {}) if policies else {}
        plugin = self._config_map(str(at(spec, "devicePlugin.config.name", "")))
        layouts = self._config_map(str(at(spec, "migManager.config.name", ""))).get("config.yaml")
        return Surroundings(
            release=version,
            driver_in_cluster=any(
                labels(item).get(COMPONENT) == DRIVER_COMPONENT for item in self._cluster.all("DaemonSet")
            ),
            configs=plugin,
            layouts=at(layouts, "mig-configs", {}),
        )

    def _config_map(self, wanted: str) -> dict[str, Any]:
        """The parsed values of a ConfigMap; what is no YAML counts as an empty configuration."""
        found = next((item for item in self._cluster.all("ConfigMap") if name(item) == wanted), None)
        data: dict[str, str] = at(found, "data", {})
        return {key: _parsed(text) for key, text in data.items()}


def _is_known(version: str) -> bool:
    try:
        release(version)
    except SimulationError as problem:
        log.warning("%s", problem)
        return False
    return True


def _parsed(text: str) -> Any:
    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError:
        return {}


def hardware_of(node: Json) -> Hardware | None:
    """The GPUs that a node's VM size has."""
    size = catalog.vm_sizes().get(labels(node).get("node.kubernetes.io/instance-type", ""))
    return of_size(size) if size is not None else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    Operators(Client(given.kubeconfig)).start()
    GpuStack(Client(given.kubeconfig), 60 / seconds_per_model_minute()).run()


if __name__ == "__main__":
    main()
