"""What is sent of alerts, by a real Prometheus and a real Alertmanager over what a stack deployed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from simulator.clock import VARIABLE
from simulator.home import Home
from simulator.metrics.reading import Reader
from simulator.simulation import Simulation
from tests.simulator.conftest import DEFAULT_STACK
from tests.simulator.physai import physai
from tests.simulator.snapshots import Snapshots
from tests.simulator.test_telemetry import MODEL_MINUTE, is_quiet
from tests.support.waiting import until

SETTINGS = (
    "monitoring.metrics=kube-prometheus",
    "monitoring.receivers={pager: {webhookSecret: pagerUrl}, team: {webhookSecret: teamUrl, severities: [info]}}",
)
FAULT, FOLLOWS = "xid-48", "thermal"
PAGE, HELD_BACK = "GPUXidNodeFault", "GPUThermalThrottling"
GROUPED = 5.0
"""Seconds, of a real clock: three times what Alertmanager waits before it sends a group."""


@pytest.fixture
def simulation(home: Home, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulation]:
    monkeypatch.setenv(VARIABLE, MODEL_MINUTE)
    found = snapshots.restore(home, DEFAULT_STACK)
    physai("up", DEFAULT_STACK, "--telemetry", *(each for given in SETTINGS for each in ("--set", given)))
    yield found
    found.telemetry.stop()


def sent(simulation: Simulation) -> list[tuple[str, str]]:
    """Receiver and alert of each that was sent when it began, in this order."""
    clusters = simulation.clusters()
    (cluster,) = clusters.ids()
    given: list[dict[str, Any]] = httpx.get(f"http://{clusters.metrics(cluster)}/notifications", trust_env=False).json()
    return [
        (each["receiver"], alert["labels"]["alertname"])
        for each in given
        if each["status"] == "firing"
        for alert in each["alerts"]
    ]


def held_back(simulation: Simulation) -> set[str]:
    """The alerts that Alertmanager holds back for another one."""
    given: list[dict[str, Any]] = httpx.get(
        f"{simulation.telemetry.alertmanager}/api/v2/alerts", trust_env=False
    ).json()
    return {each["labels"]["alertname"] for each in given if each["status"]["inhibitedBy"]}


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_one_broken_gpu_is_one_page(simulation: Simulation) -> None:
    """Prometheus fires two alerts about it, of which one is sent; the other is sent when the first has ended."""
    reader = Reader(simulation.telemetry)
    is_quiet(reader)

    def firing() -> set[str]:
        return {each.name for each in reader.alerts() if each.fired is not None}

    node = physai("fault", "inject", FAULT, "--json").json["node"]
    until(lambda: PAGE in firing(), "no alert about the GPU", state=reader.alerts, every=1)
    physai("fault", "inject", FOLLOWS, "--node", node)
    until(lambda: {PAGE, HELD_BACK} <= firing(), "the second alert does not fire", state=reader.alerts, every=1)
    until(lambda: held_back(simulation) == {HELD_BACK}, "it is not held back", state=lambda: held_back(simulation))
    time.sleep(GROUPED)
    assert sent(simulation) == [("pager", PAGE)]

    physai("fault", "heal", FAULT)
    until(
        lambda: ("pager", HELD_BACK) in sent(simulation),
        "the second alert is not sent when the first has ended",
        state=lambda: (reader.alerts(), sent(simulation)),
        every=1,
    )
    assert set(sent(simulation)) == {("pager", PAGE), ("pager", HELD_BACK)}
