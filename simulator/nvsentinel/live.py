"""NVSentinel in a running cluster: the monitors, and the modules that act on the monitors' events."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from simulator.cluster.loop import Loop
from simulator.cluster.objects import Json, at, name, timestamp
from simulator.faults.injection import gpus_of
from simulator.faults.record import node_faults
from simulator.kubernetes.client import Client
from simulator.nvsentinel import modules
from simulator.nvsentinel.cluster import Cluster
from simulator.nvsentinel.events import HealthEvent, changes, conditions, failures
from simulator.nvsentinel.labeler import wanted_labels
from simulator.nvsentinel.modules import FaultQuarantine, NodeDrainer, Store
from simulator.nvsentinel.names import FAULT_QUARANTINE, GPU_MONITOR, NODE_DRAINER, RELEASE, SYSLOG_MONITOR

LABELER = "labeler"
WATCHED_SECONDS = 0.5
"""Seconds between two checks of a node while a drain waits for the node's Pods."""


class Observed(modules.Cluster, Protocol):
    """Interface of the cluster for all parts of NVSentinel. It adds to `modules.Cluster` the reads that only the
    monitors and the labeler need.
    """

    def running(self) -> Mapping[str, Mapping[str, str]]: ...
    def operands(self) -> list[Json]: ...


def loop_of(client: Client) -> Loop:
    """A loop that runs NVSentinel in the cluster of a client; its first round is due at once."""

    def act() -> float | None:
        return nvsentinel.round()

    made = Loop("nvsentinel", act)
    nvsentinel = Nvsentinel(Cluster(client, made.wake))
    return made


class Nvsentinel:
    """Simulates NVSentinel's monitors, platform-connectors, labeler, fault-quarantine and node-drainer. Each of them
    works only while its Pod runs.
    """

    def __init__(self, cluster: Observed) -> None:
        self._cluster = cluster
        self._store = Store()
        self._quarantine = FaultQuarantine(self._cluster, self._store)
        self._drainer = NodeDrainer(self._cluster, self._store)
        self._failing: dict[str, list[HealthEvent]] = {}
        """Unhealthy events that the monitors reported in the last round, by node."""
        self._checks: dict[str, set[str]] = {}
        """Checks that have ever failed on a node, by node. A node keeps the conditions of these checks."""

    def round(self) -> float | None:
        """Runs one round; returns the seconds until the next one while a drain waits, else None."""
        running = self._cluster.running()
        if LABELER in running:
            self._label()
        if RELEASE in running:
            for node in self._cluster.nodes():
                self._observe(node, running)
        if FAULT_QUARANTINE in running:
            self._quarantine.run(running[FAULT_QUARANTINE][""])
        return WATCHED_SECONDS if NODE_DRAINER in running and self._drainer.run() else None

    def _label(self) -> None:
        assume = bool(self._cluster.config(LABELER)["assume-driver-installed"])
        operands = self._cluster.operands()
        for node in self._cluster.nodes():
            if changed := wanted_labels(node, operands, assume_driver=assume):
                self._cluster.write(node, LABELER, {"metadata": {"labels": changed}})

    def _observe(self, node: Json, running: Mapping[str, Mapping[str, str]]) -> None:
        """Passes on the events that the node's monitors have created since the last round, and sets the node conditions
        for these events.
        """
        key = name(node)
        monitors = [agent for agent in (GPU_MONITOR, SYSLOG_MONITOR) if key in running.get(agent, {})]
        if not monitors or key not in running[RELEASE]:
            return
        failing = failures(key, node_faults(node), monitors, gpus_of(node))
        found = list(changes(self._failing.get(key, []), failing))
        self._failing[key] = failing
        self._store.queue += found
        checks = self._checks.setdefault(key, set())
        checks |= {event.check for event in found if event.is_fatal}
        self._report(node, checks, failing)
        for event in found:
            if not event.is_healthy and not event.is_fatal:
                self._cluster.say(key, RELEASE, f"{event.check}IsNotHealthy", event.message, event.check)

    def _report(self, node: Json, checks: set[str], failing: list[HealthEvent]) -> None:
        given: list[dict[str, Any]] = at(node, "status.conditions", [])
        held = {each["type"]: each.get("message") for each in given}
        changed = [
            {"type": check, "status": status, "reason": reason, "message": message}
            for check, (status, reason, message) in conditions(checks, failing).items()
            if held.get(check) != message
        ]
        if changed:
            now = {"lastHeartbeatTime": timestamp(), "lastTransitionTime": timestamp()}
            body = {"status": {"conditions": [{**each, **now} for each in changed]}}
            self._cluster.write(node, RELEASE, body, "/status")
