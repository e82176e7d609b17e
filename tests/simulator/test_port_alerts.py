"""Alerts about InfiniBand ports with a real Prometheus: a bad cable has its alert, on its node alone."""

from __future__ import annotations

from collections.abc import Iterator

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

SCALE = "{count: 2, min: null, max: null, initial: null}"
ND = f"{{sku: Standard_ND96isr_H100_v5, subnet: 10.40.4.0/24, driver: {{source: operator}}, scale: {SCALE}}}"
SETTINGS = ("monitoring.metrics=kube-prometheus", f"pools.ndgpu={ND}", "networkOperator={}")
FAULT, ALERT = "infiniband-cable", "InfiniBandSymbolErrors"


@pytest.fixture
def simulation(home: Home, snapshots: Snapshots, monkeypatch: pytest.MonkeyPatch) -> Iterator[Simulation]:
    monkeypatch.setenv(VARIABLE, MODEL_MINUTE)
    found = snapshots.restore(home, DEFAULT_STACK)
    physai("up", DEFAULT_STACK, "--telemetry", *(each for given in SETTINGS for each in ("--set", given)))
    yield found
    found.telemetry.stop()


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_a_bad_cable_has_its_alert_and_no_other(simulation: Simulation) -> None:
    reader = Reader(simulation.telemetry)
    is_quiet(reader)
    node = physai("fault", "inject", FAULT, "--json").json["node"]
    assert "ndgpu" in node

    def firing() -> set[tuple[str, str]]:
        return {(each.name, each.node) for each in reader.alerts() if each.fired is not None}

    until(lambda: (ALERT, node) in firing(), "no alert about the port", state=reader.alerts, every=1)
    assert firing() == {(ALERT, node)}
    found = {(each["alert"], each["fault"]) for each in physai("alerts", "--json").json["alerts"]}
    assert found == {(ALERT, FAULT)}
    physai("fault", "heal", FAULT)
    until(lambda: not reader.alerts(), "the alert is not resolved", state=reader.alerts, every=1)
