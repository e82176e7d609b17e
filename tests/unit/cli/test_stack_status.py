"""What `physai status` shows of a stack: only labels that people set, and every model by its name."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from parts.network_operator.names import DRIVER_WAIT_LABEL, RELEASE
from workbench.cli.output.status import render
from workbench.cli.stack_status import SIMULATED, simulated

POOL = {
    "name": "ndgpu",
    "size": "Standard_ND96isr_H100_v5",
    "nodes": 2,
    "ready": 2,
    "autoscaled": False,
    "priority": "Regular",
    "driverSource": "operator",
    "driverVersion": "595.91.07",
    "sharing": "none",
    "gpusPerNode": 8,
    "gpus": {},
    "gpusAllocatable": 16,
    "gates": [],
    "labels": {DRIVER_WAIT_LABEL: "false", "team": "perception"},
    "declaredLabels": {},
    "taints": [],
}


def shown(**extra: Any) -> str:
    document = {
        "stack": "dev-westus2",
        "exists": True,
        "cluster": "aks",
        "running": True,
        "simulated": list(SIMULATED),
        "pools": [POOL],
        "namespaces": [],
        "releases": [],
        **extra,
    }
    text = io.StringIO()
    Console(file=text, width=200).print(render(document))
    return text.getvalue()


def test_labels_that_operators_set_are_not_shown() -> None:
    assert "team=perception" in shown()
    assert "mofed" not in shown()


def test_the_addresses_of_a_running_telemetry_are_shown() -> None:
    assert "telemetry:" not in shown(telemetry=None)
    addresses = {"prometheus": "http://127.0.0.1:31423", "alertmanager": "http://127.0.0.1:31424"}
    assert "telemetry: Prometheus http://127.0.0.1:31423, Alertmanager http" in shown(telemetry=addresses)


def test_what_a_release_is_a_model_of_is_named() -> None:
    assert "Network Operator" not in shown()
    assert "GPU Operator, KAI, OSMO, Network Operator; real:" in shown(simulated=simulated([RELEASE, "unknown"]))
