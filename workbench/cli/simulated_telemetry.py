"""Telemetry of a simulated stack: alert rules, and alerts with the injected faults that caused them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import yaml

from physical_ai.settings import Settings
from physical_ai.settings.facts.telemetry import METRIC_LABELS, rule_parameters
from physical_ai.telemetry.rendering import rule_file
from simulator.simulation import Simulation

if TYPE_CHECKING:
    from simulator.faults import Fault, Injected
    from simulator.faults.injection import Injector
    from simulator.kubernetes.client import Object
    from simulator.metrics.collector import Collected
    from simulator.metrics.reading import Alert
    from simulator.session import Reporter


def start_telemetry(simulation: Simulation, settings: Settings, report: Reporter) -> None:
    """Starts Prometheus and Alertmanager for a simulated stack. The alert rules are those of the deployed metrics
    collector; without a collector, the rules follow from the settings.
    """
    simulation.start_telemetry(lambda cluster: by_settings(settings, cluster), report)


def by_settings(settings: Settings, cluster: str) -> Collected:
    """Scrape jobs and alert rules for a cluster without a metrics collector. `cluster`: the cluster's name."""
    from simulator.metrics.collector import Collected
    from simulator.metrics.managed_prometheus import label_list
    from simulator.metrics.scraping import default_jobs

    rules = yaml.safe_load(rule_file(rule_parameters(settings)))
    return Collected(default_jobs(), rules, label_list(METRIC_LABELS), cluster=cluster)


def missing_counters(settings: Settings) -> str:
    """Note about alerts that cannot fire because the stack collects no metrics; empty if it collects them."""
    if settings.monitoring.is_measured:
        return ""
    return (
        "note: monitoring.metrics is none, so the DCGM exporter has its default counters, and alerts that need others"
        " do not fire. Add --set monitoring.metrics=azure for the stack's own counters"
    )


def nodes_of(simulation: Simulation) -> list[Object]:
    """The Nodes of all simulated clusters of the stack."""
    clusters = simulation.clusters()
    return [node for id in clusters.ids() for node in clusters.client(id).get("/api/v1/nodes")["items"]]


def alert_documents(simulation: Simulation) -> list[dict[str, Any]]:
    """Pending and firing alerts, with times in simulated seconds.

    Raises:
        NotRunning: there is no Prometheus.
    """
    from simulator.cluster.objects import name
    from simulator.faults import injected
    from simulator.metrics.reading import Reader

    reader, factor = Reader(simulation.telemetry), simulation.telemetry.clock().factor
    faults = {name(node): injected(node) for node in nodes_of(simulation)}
    return [_document(alert, faults, factor) for alert in reader.alerts()]


def injector(stack: str) -> Injector:
    """Injector of faults into the stack's simulated cluster.

    Raises:
        SimulationError: no simulated cluster of the stack is running.
    """
    from simulator.faults.injection import Injector
    from workbench.cli.simulated_stack import running_cluster, running_simulation

    simulation = running_simulation(stack)
    return Injector(simulation.clusters().client(running_cluster(simulation) or ""))


def fault_documents(stack: str) -> list[dict[str, Any]]:
    """The injected faults that nodes of the stack have now, as data."""
    from simulator.cluster.objects import name
    from simulator.faults import injected

    nodes = injector(stack).nodes()
    return [fault_document(name(node), each) for node in nodes for each in injected(node)]


def fault_row(row: Fault) -> dict[str, Any]:
    """A fault that can be injected, as data."""
    lists = {
        "drivers": list(row.drivers),
        "needs": row.needs,
        "alerts": list(row.alerts),
        "conditions": list(row.conditions),
    }
    return {"fault": row.name, "where": row.where, "summary": row.summary, **lists}


def fault_document(node: str, given: Injected) -> dict[str, Any]:
    """An injected fault as data; `gpu` is None for a fault of the whole node."""
    from simulator.faults import fault

    row = fault(given.fault)
    gpu = given.gpu if row.where == "gpu" else None
    follows = {"alerts": list(row.alerts), "conditions": list(row.conditions)}
    rest = {"summary": row.summary, **follows, "since": given.since}
    return {"fault": given.fault, "node": node, "gpu": gpu, **rest}


def healed_document(node: str, given: Injected) -> dict[str, Any]:
    """A healed fault as data. `gpuReset` is true if the GPU counts as reset, which restarts the node's DCGM
    exporter.
    """
    from simulator.faults import fault

    return {**fault_document(node, given), "gpuReset": fault(given.fault).needs_reset}


def _document(alert: Alert, faults: Mapping[str, Sequence[Injected]], factor: float) -> dict[str, Any]:
    cause = alert.cause(faults)
    known = alert.fired if alert.fired is not None else alert.since
    return {
        "alert": alert.name,
        "state": alert.state,
        "severity": alert.severity,
        "summary": alert.annotations.get("summary", ""),
        "action": alert.annotations.get("action", ""),
        "runbook": alert.annotations.get("runbook_url", ""),
        "labels": dict(alert.labels),
        "fault": cause.fault if cause is not None else None,
        "modelSecondsAfterFault": round(max(known - cause.since, 0) * factor) if cause is not None else None,
    }
