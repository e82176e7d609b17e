"""Model time from each fault to each of its alerts, with a real Prometheus over the simulated default stack.

The floor is the rule's hold: scrapes and evaluations, one in a model minute each, add up to two minutes to it, and
ranges in the expression add what a rate needs to rise above its threshold. A machine that is busy adds to both. The
columns are in model minutes; the table is in docs/simulator.md.
"""

from __future__ import annotations

import os

from measure import DEFAULT_STACK, note, table

from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE
from physical_ai.telemetry.rule_rows import alert_rows
from simulator.clock import VARIABLE
from simulator.faults import faults
from simulator.home import Home
from simulator.metrics.reading import Reader
from simulator.simulation import Simulation
from tests.simulator.physai import fixed, physai
from tests.simulator.test_telemetry import ALL, MODEL_MINUTE, inject, of_h100, training, until, wait_for_alerts

MINUTES = 60.0


def main() -> None:
    os.environ[VARIABLE] = MODEL_MINUTE
    backend = ("--set", "monitoring.metrics=azure")
    physai("up", DEFAULT_STACK, "--telemetry", *backend, *fixed("h100gpu", len(of_h100(ALL)) + 1))
    try:
        table("from fault to alert, in model minutes", ("fault", "alert", "hold", "measured"), _rows())
    finally:
        physai("down", DEFAULT_STACK, "--discard")


def _rows() -> list[list[object]]:
    simulation = Simulation(DEFAULT_STACK, Home.of_user())
    clusters = simulation.clusters()
    client = clusters.client(clusters.ids()[0])
    for pool in ("h100gpu", "rtxprogpu"):
        client.request("POST", f"/api/v1/namespaces/{WORKFLOWS_NAMESPACE}/pods", training(pool))
    reader = Reader(simulation.telemetry)
    until(lambda: not reader.alerts(), "alerts fire before a fault", state=reader.alerts)
    note(f"{len(ALL)} faults")
    placed = inject(simulation, ALL)
    firing = wait_for_alerts(reader, placed)
    found = [
        [fault, alert, alert_rows()[alert].hold_minutes, firing[alert, node]["modelSecondsAfterFault"] / MINUTES]
        for fault, node in placed.items()
        for alert in faults()[fault].alerts
    ]
    rows = sorted(found, key=lambda row: (row[2], row[3]))
    return [[fault, alert, hold, f"{minutes:.1f}"] for fault, alert, hold, minutes in rows]


if __name__ == "__main__":
    main()
