"""Simulation of the software on GPU nodes, against one running cluster."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from physical_ai import safe_yaml
from simulator.acceptance.live import Checks
from simulator.cluster.loop import Loop
from simulator.cluster.objects import Json, at, labels, name
from simulator.errors import SimulationError
from simulator.gpu.counters import KEY
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from simulator.gpu.hardware import of_node
from simulator.gpu.live.cluster import Cluster, Operator
from simulator.gpu.live.discovery import Discovery
from simulator.gpu.live.evidence import EvidencePods
from simulator.gpu.live.grid import GridAgents
from simulator.gpu.live.hook_jobs import HookJobs
from simulator.gpu.live.kubelet import Surroundings
from simulator.gpu.live.kubelets import Kubelets
from simulator.gpu.live.operator import Controllers, model_time
from simulator.gpu.live.probes import Probes
from simulator.gpu.release import names as releases
from simulator.gpu.release import release
from simulator.kubernetes.client import Client
from simulator.metrics.exporters import Exporters
from simulator.osmo.live import Workflows

log = logging.getLogger("gpu-stack")
POLL_SECONDS = 0.1
"""Seconds between two rounds while kubelets wait, GRID driver agents work, or workflows run."""
LOOK_SECONDS = 0.5
"""Seconds between two rounds while a driver upgrade or an injected fault waits for Pods to end."""


class GpuStack:
    """Simulates NFD, the GPU Operator, kubelets, the GRID driver agents and the tasks of workflows."""

    def __init__(self, client: Client, speed: float, caught_up: Callable[[], None], folder: Path) -> None:
        """Watches the cluster; `loop` runs the simulation.

        Args:
            client: Client of the cluster's API server.
            speed: Simulated seconds per real second.
            caught_up: Called once, after the first round over everything that the API server holds.
            folder: Folder of the control plane, in which the logs of acceptance are kept.
        """
        self.loop = Loop("gpu-stack", self.round)
        self._cluster = Cluster(client, self.loop.wake)
        self._speed, self._caught_up = speed, caught_up
        self._is_caught_up = False
        self._operator: Operator | None = None
        self._controllers = Controllers(self._cluster)
        self._discovery, self._kubelets = Discovery(self._cluster), Kubelets(self._cluster)
        self._hook_jobs, self._probes = HookJobs(self._cluster), Probes(self._cluster)
        self._grid = GridAgents(self._cluster)
        self._checks, self._evidence = Checks(self._cluster, folder), EvidencePods(self._cluster)
        self._workflows = Workflows(client, self.loop.wake)
        self._then = time.monotonic()
        self._now = time.time()
        """Model time in seconds since the epoch. It begins at the current time, and runs faster than the clock."""

    def exporters(self) -> Exporters:
        """The metrics exporters of the cluster's nodes."""
        return Exporters(self._cluster, self._kubelets, self._grid, lambda: self._controllers.policy)

    def round(self) -> float | None:
        """Runs one round; returns the seconds until the next round, or None if the next round has to wait for a
        change.
        """
        moved = self._has_moved()
        if not self._is_caught_up and self._cluster.is_synced:
            self._is_caught_up = True
            self._caught_up()
        if moved:
            return 0
        if self._kubelets.are_waiting or self._grid.are_working or self._workflows.are_running:
            return POLL_SECONDS
        return LOOK_SECONDS if self._controllers.are_waiting or self._kubelets.look_at_jobs else None

    def _has_moved(self) -> bool:
        """Runs every simulated component once; returns True if a component has written an object that other components
        read.
        """
        now = time.monotonic()
        seconds, self._then = (now - self._then) * self._speed, now
        given = self._cluster.operator()
        if given != self._operator:
            self._operator = given
            self._controllers.restart()
            self._now = max(self._now, model_time(self._cluster.nodes))
            log.info("operator: %s", given)
        hardware = {name(item): of_node(item) for item in self._cluster.nodes}
        moved = self._discovery.run(hardware)
        moved = self._hook_jobs.run() or moved
        known = given is not None and _is_known(given.release)
        if given is not None and known:
            moved = self._controllers.run(given, self._now) or moved
        self._now += seconds
        # Kubelets, hosts and the GRID driver's agents work even without an operator.
        around = self._surroundings(given.release if given is not None and known else releases()[-1])
        moved = self._kubelets.run(hardware, around, seconds, self._now) or moved
        moved = self._grid.run(self._kubelets, self._now, now) or moved
        moved = self._checks.run(self._kubelets) or moved
        self._evidence.run(self._kubelets)
        faults = self._kubelets.cuda()
        self._probes.run(faults)
        diagnose = partial(self._checks.diagnose, kubelets=self._kubelets)
        return self._workflows.run(faults, self._now, diagnose) or moved

    def _surroundings(self, version: str) -> Surroundings:
        spec: Json = at(self._controllers.policy, "spec", {})
        plugin = self._config_map(at(spec, "devicePlugin.config.name"))
        layouts = self._config_map(at(spec, "migManager.config.name")).get("config.yaml")
        return Surroundings(
            release=version,
            driver_in_cluster=any(
                labels(item).get(COMPONENT) == DRIVER_COMPONENT for item in self._cluster.all("DaemonSet")
            ),
            configs=plugin,
            layouts=at(layouts, "mig-configs", {}),
            collectors=self._texts(at(spec, "dcgmExporter.config.name")).get(KEY, ""),
        )

    def _config_map(self, wanted: str | None) -> dict[str, Any]:
        """Parsed values of the ConfigMap `wanted` by key; a value that is not YAML counts as an empty configuration."""
        return {key: _parsed(text) for key, text in self._texts(wanted).items()}

    def _texts(self, wanted: str | None) -> dict[str, str]:
        """Values of the ConfigMap `wanted` in the operator's namespace by key; empty if it does not exist."""
        found = next((item for item in self._cluster.all("ConfigMap") if wanted and name(item) == wanted), None)
        return at(found, "data", {})


def _is_known(version: str) -> bool:
    try:
        release(version)
    except SimulationError as problem:
        log.warning("%s", problem)
        return False
    return True


def _parsed(text: str) -> Any:
    try:
        return safe_yaml.load_shared(text) or {}
    except yaml.YAMLError:
        return {}
