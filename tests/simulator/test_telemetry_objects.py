"""Prometheus in the cluster: it does what deployed objects select; runbooks are right; a fault survives a restart."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from physical_ai.planning.scraping import pod_monitors
from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.rule_rows import alert_rows
from physical_ai.telemetry.rules import alerts
from simulator.clock import VARIABLE
from simulator.home import Home
from simulator.kubernetes.client import MERGE_PATCH, Client
from simulator.metrics.reading import Reader
from simulator.simulation import Simulation
from tests.simulator.conftest import DEFAULT_STACK
from tests.simulator.physai import physai
from tests.simulator.snapshots import Snapshots
from tests.simulator.test_telemetry import MODEL_MINUTE, is_quiet
from tests.support.waiting import until
from workbench.cli.progress import Progress
from workbench.cli.simulated_telemetry import start_telemetry

BACK_END = "monitoring.metrics=kube-prometheus"
MONITORS = "/apis/monitoring.coreos.com/v1/namespaces/gpu-operator/podmonitors"
PROMETHEUS = "/apis/monitoring.coreos.com/v1/namespaces/monitoring/prometheuses/kube-prometheus-prometheus"
SETTINGS = load(DEFAULT_STACK, [Overlay.assign([BACK_END])]).settings
EXPORTERS = {each["metadata"]["name"] for each in pod_monitors(SETTINGS)}


@pytest.fixture
def simulation(home: Home, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulation]:
    monkeypatch.setenv(VARIABLE, MODEL_MINUTE)
    found = snapshots.restore(home, DEFAULT_STACK)
    physai("up", DEFAULT_STACK, "--telemetry", "--set", BACK_END)
    yield found
    found.telemetry.stop()


def client(simulation: Simulation) -> Client:
    clusters = simulation.clusters()
    (cluster,) = clusters.ids()
    return clusters.client(cluster)


def collected_again(simulation: Simulation) -> Reader:
    """As `up --telemetry` does it at its end."""
    with Progress() as progress:
        start_telemetry(simulation, SETTINGS, progress)
    return Reader(simulation.telemetry)


def restarted(simulation: Simulation) -> None:
    """The control plane, as after a restart of the machine."""
    simulation.clusters().stop()
    clusters = simulation.clusters()
    clusters.prepare(spare=False)
    clusters.wait()


def scraped(reader: Reader) -> set[str]:
    """The exporters that are scraped, without the namespaces of their monitors."""
    return {each["labels"]["job"].rpartition("/")[2] for each in reader.targets()}


def alert_names(reader: Reader) -> set[str]:
    return {rule["name"] for group in reader.rules() for rule in group["rules"] if rule["type"] == "alerting"}


@pytest.mark.deep
def test_prometheus_does_what_objects_select_and_faults_survive_a_restart(simulation: Simulation) -> None:
    reader = Reader(simulation.telemetry)
    wanted = {*EXPORTERS, "kube-state-metrics", "cadvisor"}
    until(
        lambda: scraped(reader) == wanted,
        f"not scraped: {wanted}",
        state=lambda: scraped(reader),
        every=1,
    )
    assert alert_names(reader) == {alert.name for alert in alerts(rule_parameters(SETTINGS))}
    is_quiet(reader)
    assert physai("preview", DEFAULT_STACK, "--set", BACK_END, "--expect-no-changes").code == 0

    commands_are_right(simulation)

    physai("fault", "inject", "xid-48")
    restarted(simulation)
    assert [each["fault"] for each in physai("fault", "status", "--json").json["faults"]] == ["xid-48"]
    until(
        lambda: "GPUXidNodeFault" in firing(reader),
        "the alert does not fire",
        state=reader.alerts,
        every=1,
    )
    physai("fault", "heal")
    until(lambda: not firing(reader), "alerts are not resolved", state=reader.alerts, every=1)

    api = client(simulation)
    api.request("DELETE", f"{MONITORS}/dcgm-exporter")
    until(lambda: "dcgm-exporter" not in scraped(collected_again(simulation)), "the exporter is still scraped", every=1)
    reader = Reader(simulation.telemetry)
    until(lambda: "GPUTelemetryAbsent" in firing(reader), "no alert about its absence", state=reader.alerts, every=1)
    api.patch(PROMETHEUS, {"spec": {"ruleSelector": {"matchLabels": {"role": "alerts"}}}}, MERGE_PATCH)
    assert alert_names(collected_again(simulation)) == set()


def commands_are_right(simulation: Simulation) -> None:
    """The advice of alerts: kubectl takes each command, and what those of this stack select exists in its cluster."""
    variables = {**os.environ, **simulation.environment()}

    def kubectl(*arguments: str) -> str:
        path = shutil.which("kubectl", path=variables["PATH"])
        assert path is not None
        ran = subprocess.run([path, *arguments], env=variables, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, (arguments, ran.stderr)
        return ran.stdout

    of_stack = {alert.name for alert in alerts(rule_parameters(SETTINGS))}
    commands = dict[str, bool]()
    for name, row in alert_rows().items():
        for text in row.commands:
            commands[text] = commands.get(text, False) or name in of_stack
    commands = {text: used for text, used in commands.items() if text.startswith("kubectl ")}
    assert len(commands) > 20
    for text, used in commands.items():
        _, verb, *rest = shlex.split(text)
        kubectl(verb, *rest, "--help")  # an unknown option is an error even so
        selects_pods = verb == "logs" or rest[0] == "pods"
        if selects_pods and "--selector" in rest and used:
            place = rest[rest.index("--namespace") :][:2] if "--namespace" in rest else ["--all-namespaces"]
            selector = rest[rest.index("--selector") :][:2]
            assert kubectl("get", "pods", *place, *selector, "--output", "name"), text


def firing(reader: Reader) -> set[str]:
    return {each.name for each in reader.alerts() if each.fired is not None}
