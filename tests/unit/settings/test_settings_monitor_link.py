"""Private access to Azure Monitor: settings that cannot work, and what follows from those that can."""

from __future__ import annotations

import pytest

from physical_ai.settings import Overlay, load
from physical_ai.settings.facts.monitor_link import MonitorLink, monitor_link
from tests.unit.settings.settings_faults import faults_of, warned
from tests.unit.settings.test_settings_faults_private import DNS, INSIDE, PEERED, PRIVATE, RESOLVER, VPN, ZONES

METRICS = "monitoring.metrics=azure"
SCOPE = "/subscriptions/s/resourceGroups/rg-hub/providers/Microsoft.Insights/privateLinkScopes/ampls"
THEIRS = f"network.private.monitor.scope={SCOPE}"

FAULTS = [
    ((*PRIVATE, *PEERED, DNS, ZONES, METRICS), "network.private.monitor.scope", "replace the records", "access"),
    (
        (*INSIDE, METRICS, "monitoring.traces.connectionSecret=appInsights"),
        "monitoring.traces.connectionSecret",
        "do not reach",
        "ingestion: Open",
    ),
    (
        (*PRIVATE, METRICS, "network.private.endpointSubnet=10.40.3.0/28", "network.private.runnersInside=true"),
        "network.private.endpointSubnet",
        "eleven addresses",
        "/27",
    ),
    (
        ("network.mode=hybrid", PRIVATE[1], METRICS, "network.private.monitor.query=PrivateOnly"),
        "network.private.monitor.query",
        "would be unreachable",
        "query: Open",
    ),
    ((*INSIDE, METRICS, "network.private.monitor.scope=ampls"), "network.private.monitor.scope", "resource id", ""),
]


@pytest.mark.parametrize(("assignments", "path", "problem", "fix"), FAULTS)
def test_access_to_monitoring_that_cannot_work(assignments: tuple[str, ...], path: str, problem: str, fix: str) -> None:
    matching = [each for each in faults_of(*assignments) if path in each.where and problem in each.problem]
    assert matching
    assert fix in (matching[0].fix or "")


def link(*assignments: str) -> MonitorLink | None:
    return monitor_link(load("dev-westus2", [Overlay.assign(assignments)]).settings)


def test_azure_monitor_is_private_where_something_is_sent_from_a_network_that_is() -> None:
    assert link(METRICS) is None
    assert link(*INSIDE, "monitoring.metrics=kube-prometheus") is None
    assert link(*INSIDE, METRICS) == MonitorLink("PrivateOnly", "PrivateOnly", None)
    hybrid = link(*INSIDE, METRICS, "network.mode=hybrid")
    assert hybrid == MonitorLink("PrivateOnly", "Open", None)
    assert link(*INSIDE, METRICS, "network.private.monitor.access=public") is None
    logs = ("monitoring.metrics=none", "monitoring.containerLogs={}", "monitoring.dailyQuotaGb=5")
    assert link(*INSIDE, *logs) is not None


def test_a_scope_of_the_hub_has_no_finding_and_one_for_all_its_networks_is_advised() -> None:
    behind = (*PRIVATE, *PEERED, DNS, METRICS)
    found = [each for each in warned(*behind) if "monitor.scope" in each.where]
    assert [each.fix for each in found if "All networks" in each.problem]
    assert not [each for each in warned(*behind, THEIRS) if "monitor" in each.where]
    assert not [each for each in warned(*behind, ZONES, THEIRS) if "monitor" in each.where]


def test_settings_of_it_have_no_effect_where_nothing_is_sent() -> None:
    none = ("monitoring.metrics=none", "network.private.monitor.ingestion=Open")
    (found,) = [each for each in warned(*PRIVATE, *VPN, RESOLVER, *none) if "monitor" in each.where]
    assert "no effect" in found.problem
