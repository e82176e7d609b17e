"""What `physai up --telemetry` says of a stack that collects no metrics."""

from __future__ import annotations

from physical_ai.cli.simulated_telemetry import missing_counters
from physical_ai.settings import Overlay, load


def test_only_a_stack_without_metrics_lacks_counters() -> None:
    assert "--set monitoring.metrics=azure" in missing_counters(load("dev-westus2").settings)
    measured = load("dev-westus2", [Overlay.assign(["monitoring.metrics=azure"])]).settings
    assert missing_counters(measured) == ""
