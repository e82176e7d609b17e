"""Telemetry of the default stack with a real Prometheus: an hour without alerts, then every fault and its alerts."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog.osmo import TASK_LABEL, WORKFLOW_LABEL, WORKFLOWS_NAMESPACE
from physical_ai.settings.facts.osmo import POD_POOL_LABEL
from physical_ai.telemetry.dashboards import dashboards
from physical_ai.telemetry.rule_rows import alert_rows
from simulator.clock import VARIABLE
from simulator.cluster.names import GPU
from simulator.cluster.objects import labels, name
from simulator.faults import Fault, faults
from simulator.home import Home
from simulator.metrics.reading import Reader
from simulator.simulation import Simulation
from tests.simulator.conftest import DEFAULT_STACK
from tests.simulator.physai import fixed, physai
from tests.simulator.snapshots import Snapshots
from tests.support.waiting import until
from workbench.cli.exit_codes import FAILED, FINDINGS

MODEL_MINUTE = "3"
"""Seconds. A busy machine does not scrape the fifty exporters of this stack each second."""
HOUR = 60
"""Scrapes in an hour of model time: each minute has one."""
HOURS = 5
"""Tries of an hour in which the machine keeps up."""
ON_GRID = tuple(fault for fault in faults().values() if fault.drivers == ("grid",))


def of_h100(wanted: Sequence[Fault]) -> list[Fault]:
    """Faults of H100 nodes, each for a node of its own: of two on one GPU, the one that asks for more has the alert."""
    return [fault for fault in wanted if fault not in ON_GRID]


NOT_SHOWN = {"osmo-service"}
"""The dashboard about OSMO's service, which the default stack does not install."""
ALL = tuple(fault for fault in faults().values() if not fault.needs)
"""The stack has no InfiniBand."""
ONE = (faults()["exporter-dead"],)
"""A fault that shows without metrics in Azure, in the time series that are missing."""


@pytest.fixture
def observed(home: Home, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulation]:
    """The default stack with Prometheus, nodes for all faults, and a busy Pod in each GPU pool."""
    monkeypatch.setenv(VARIABLE, MODEL_MINUTE)
    # Nodes for all faults, and one for the Pod that works during all of them.
    backend = ("--set", "monitoring.metrics=azure")
    simulation = snapshots.restore(home, DEFAULT_STACK)
    physai("up", DEFAULT_STACK, "--telemetry", *backend, *fixed("h100gpu", len(of_h100(ALL)) + 1))
    (cluster,) = simulation.clusters().ids()
    client = simulation.clusters().client(cluster)
    for pool in ("h100gpu", "rtxprogpu"):
        client.request("POST", f"/api/v1/namespaces/{WORKFLOWS_NAMESPACE}/pods", training(pool))
    yield simulation
    simulation.telemetry.stop()


def training(pool: str) -> dict[str, Any]:
    """A Pod that uses one GPU of a pool, for as long as it exists."""
    container = {
        "name": "train",
        "image": "train",
        "resources": {"limits": {GPU: "1", "cpu": "4", "memory": "16Gi"}},
        # As OSMO writes a task's program: one that does not end.
        "args": ["-commands", "sleep", "-args", "1000000"],
        "env": [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "all"}],
    }
    spec = {"nodeSelector": {"agentpool": pool}, "tolerations": [{"operator": "Exists"}], "containers": [container]}
    labels = {WORKFLOW_LABEL: "nightly-1", TASK_LABEL: f"train-{pool}", "osmo.group_uuid": "g1", POD_POOL_LABEL: pool}
    return {"metadata": {"name": f"train-{pool}", "labels": labels}, "spec": spec}


def test_prometheus_scrapes_every_target_and_takes_every_rule(running: Simulation) -> None:
    """Faults and alerts are below, and by the series of exporters in tests/unit/telemetry/test_genuine_exporters.py."""
    physai("up", DEFAULT_STACK, "--telemetry")
    try:
        is_quiet(Reader(running.telemetry))
        # A scrape that a busy machine misses between the two makes alerts pending for a moment.
        until(
            lambda: physai("alerts").out.strip() == "no alert is pending or firing",
            "alerts are not resolved",
            state=lambda: physai("alerts").out,
            every=1,
        )
    finally:
        running.telemetry.wipe()


@pytest.mark.deep
def test_a_fault_fires_its_alerts_which_end_with_it(running: Simulation) -> None:
    """All faults are in the test below, and all rules in `tests/unit/telemetry/test_alerts.py`."""
    physai("up", DEFAULT_STACK, "--telemetry")
    try:
        reader = Reader(running.telemetry)
        is_quiet(reader)
        placed = inject(running, ONE)
        check(placed, wait_for_alerts(reader, placed))
        heal(ONE)
        until(lambda: not reader.alerts(), "alerts are not resolved", state=reader.alerts, every=1)
    finally:
        running.telemetry.wipe()


@pytest.mark.deep
@pytest.mark.timeout(3600)
def test_no_alert_without_a_fault_then_faults_their_alerts_and_their_end(observed: Simulation, tmp_path: Path) -> None:
    """A rule whose condition is true is pending at its next evaluation: few scrapes show almost what an hour shows."""
    reader = Reader(observed.telemetry)
    nothing_fires(reader, HOUR)
    drawn = physai("dashboards", "--output", str(tmp_path), "--json").json["dashboards"]
    assert {Path(each["page"]).stem for each in drawn} == {each.name for each in dashboards()} - NOT_SHOWN
    assert [panel for each in drawn for panel in each["panelsWithoutData"]] == []
    placed = inject(observed, ALL)
    documents = wait_for_alerts(reader, placed)
    check(placed, documents)
    one_verdict(set(placed.values()), documents, reader)
    heal(ALL)
    until(lambda: not reader.alerts(), "alerts are not resolved", state=reader.alerts, every=1)
    assert physai("alerts").out.strip() == "no alert is pending or firing"
    for node in set(placed.values()):
        until(lambda node=node: not causes(node), "a healed node is not green", state=lambda node=node: causes(node))


def causes(node: str) -> list[dict[str, Any]]:
    """What `physai why` names of a node."""
    return physai("why", node, "--json", expect=(0, FINDINGS)).json["causes"]


def one_verdict(nodes: Iterable[str], firing: Mapping[tuple[str, str], Mapping[str, Any]], reader: Reader) -> None:
    """Every alert and gate of a node is explained by `why` and the doctor, and no command advises anything else."""
    subjects = {
        subject
        for each in physai("doctor", "--json", expect=(0, FINDINGS)).json["findings"]
        for subject in each["subjects"]
    }
    closed = [
        gate for pool in physai("gates", "--json", expect=(0, FAILED)).json["pools"].values() for gate in pool["closed"]
    ]
    for node in nodes:
        before = fired(node, reader)
        why = causes(node)
        # On a busy machine a scrape may fail, and an alert begins again. What fired all the time has to be explained.
        alerts = before & fired(node, reader)
        fixes, explained = {each["fix"] for each in why}, {alert for each in why for alert in each["alerts"]}
        assert f"node {node}" in subjects
        assert {alert for alert, _ in alerts} <= explained, node
        assert {gate["fix"] for gate in closed if gate["node"] == node and gate["fix"]} <= fixes, node
        assert {firing[alert, node]["fix"] for alert, _ in alerts} <= fixes, node
        known = physai("evidence", node, "--json").json
        assert {each["cause"]: each["fix"] for each in known["findings"]}.items() <= {
            each["cause"]: each["fix"] for each in why
        }.items(), node
        assert {each["remedy"] for each in why} - {""} == {known["advice"]} - {"none"}, node


def fired(node: str, reader: Reader) -> set[tuple[str, float]]:
    """The alerts of a node that fire, and since when."""
    return {(each.name, each.fired) for each in reader.alerts() if each.node == node and each.fired is not None}


def heal(wanted: Sequence[Fault]) -> None:
    names = {fault.name for fault in wanted}
    assert {each["fault"] for each in physai("fault", "status", "--json").json["faults"]} == names
    healed = physai("fault", "heal", "--json").json["healed"]
    assert {each["fault"] for each in healed} == names


def nothing_fires(reader: Reader, wanted: int) -> None:
    """A model hour without an alert. One that begins while scrapes fail or are late, as on a busy machine, is of the
    machine, and the hour begins again."""
    found: list[Any] = []
    for _ in range(HOURS):
        found, disturbed = hour(reader, wanted)
        if not found or not disturbed:
            break
    assert found == []


def hour(reader: Reader, wanted: int) -> tuple[list[Any], list[Any]]:
    """The alerts of so many scrapes, and the targets of which some failed or are missing."""
    # What began while the cluster was made has ended.
    is_quiet(reader)
    scrapes = 'count_over_time(up{job="kube-state-metrics"}[%dms])'
    began = time.time()

    def window() -> int:
        return round((time.time() - began) * 1000)

    until(
        lambda: window() and (found := reader.query(scrapes % window())) and float(found[0]["value"][1]) >= wanted,
        "Prometheus does not scrape",
        state=lambda: reader.query(scrapes % window()),
        every=1,
    )
    passed, expected = window(), window() / 1000 / float(MODEL_MINUTE)
    missed = f"min_over_time(up[{passed}ms]) == 0 or count_over_time(up[{passed}ms]) < {0.9 * expected}"
    return reader.query(f"max_over_time(ALERTS[{passed}ms])"), reader.query(missed)


def is_quiet(reader: Reader) -> None:
    """Until no alert is there, and all targets and rules work."""
    until(
        lambda: not reader.alerts() and not broken(reader),
        "an alert is there, or a target or a rule does not work",
        state=lambda: (reader.alerts(), broken(reader)),
        every=1,
    )


def broken(reader: Reader) -> list[str]:
    """Targets and rules that do not work."""
    targets = [str(each["labels"]) for each in reader.targets() if each["health"] != "up"]
    rules = [each["name"] for group in reader.rules() for each in group["rules"] if each["health"] != "ok"]
    return targets + rules


def inject(simulation: Simulation, wanted: Sequence[Fault]) -> dict[str, str]:
    """Injects the faults; the node of each."""
    clusters = simulation.clusters()
    client = clusters.client(clusters.ids()[0])
    pods = client.get(f"/api/v1/namespaces/{WORKFLOWS_NAMESPACE}/pods")["items"]
    busy = {pod["spec"]["nodeName"] for pod in pods}
    nodes = client.get("/api/v1/nodes")["items"]
    h100 = [name(each) for each in nodes if labels(each)["agentpool"] == "h100gpu" and name(each) not in busy]
    grid = [name(each) for each in nodes if labels(each)["agentpool"] == "rtxprogpu"]
    on_grid = [fault for fault in wanted if fault in ON_GRID]
    placed = {fault.name: node for fault, node in zip(of_h100(wanted), h100, strict=False)}
    placed |= {fault.name: node for fault, node in zip(on_grid, grid, strict=False)}
    assert len(placed) == len(wanted), "there are not enough nodes"
    for fault, node in placed.items():
        answer = physai("fault", "inject", fault, "--node", node, "--json").json
        assert (answer["fault"], answer["node"]) == (fault, node)
    return placed


def wait_for_alerts(reader: Reader, placed: dict[str, str]) -> dict[tuple[str, str], dict[str, Any]]:
    """Until every alert of every fault fires on its node; all alerts by name and node, as the command lists them."""
    wanted = {(alert, node) for fault, node in placed.items() for alert in faults()[fault].alerts}

    def missing() -> set[tuple[str, str]]:
        return wanted - {(each.name, each.node) for each in reader.alerts() if each.fired is not None}

    until(lambda: not missing(), "alerts do not fire", state=missing, every=1)
    documents = physai("alerts", "--json").json["alerts"]
    return {(each["alert"], each["labels"].get("node", "")): each for each in documents if each["state"] == "firing"}


def check(placed: dict[str, str], firing: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Each alert has the severity and the advice of its rule, and followed its fault after the rule's hold. About these
    nodes there are no others."""
    said = {(alert, node) for fault, node in placed.items() for alert in faults()[fault].alerts}
    assert {(alert, node) for alert, node in firing if node in placed.values()} <= said
    for fault, node in placed.items():
        for alert in faults()[fault].alerts:
            found, row = firing[alert, node], alert_rows()[alert]
            assert (found["severity"], found["action"]) == (row.severity, row.action)
            assert found["runbook"].endswith(f"#{row.anchor}")
            assert found["fault"] == fault
            assert found["modelSecondsAfterFault"] >= row.hold_minutes * 60
