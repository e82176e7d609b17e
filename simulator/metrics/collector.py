"""Metrics collector of a stack. Its configuration is derived from the stack's deployed objects, in the way of the
Prometheus operator or of Azure Monitor.

As in a real cluster, an object is ignored if it is missing or if no selector selects it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from physical_ai import safe_yaml
from physical_ai.kubernetes.selectors import selects_labels
from simulator.cluster.objects import Json, at, labels, name
from simulator.errors import SimulationError
from simulator.kubernetes.client import Client, base_path
from simulator.metrics import managed_prometheus
from simulator.metrics.jobs import Job, pod_jobs, service_jobs

OPERATOR_GROUP, AZURE_GROUP = "monitoring.coreos.com/v1", "azmonitoring.coreos.com/v1"
ALERTMANAGER_KEY = "alertmanager.yaml"
"""Key, in a Secret, of the Alertmanager configuration that the Prometheus operator reads (prometheus-operator,
Documentation/platform/alerting).
"""
KINDS = ("PodMonitor", "ServiceMonitor", "PrometheusRule")


@dataclass(frozen=True)
class Collected:
    """Configuration of one metrics collector: its scrape jobs, rules and Alertmanager."""

    jobs: Sequence[Job]
    rules: Json
    """The rule file, with durations in simulated time."""
    state_labels: Mapping[str, Sequence[str]] | None = None
    """Labels that the kube-state-metrics of Azure's add-on exports, by kind of object. None if the stack uses its own
    kube-state-metrics, or none at all.
    """
    kubelets: bool = True
    """True if the kubelets' series about containers are scraped."""
    cluster: str = ""
    """Value of the label `cluster`, which Azure's add-on adds; empty if nothing adds the label."""
    alertmanager: Json | None = None
    """Configuration of the cluster's Alertmanager; None if the cluster has no Alertmanager."""


@dataclass(frozen=True)
class Objects:
    """Deployed objects of one API group that configure a metrics collector, and the namespaces and Services that they
    select.
    """

    namespaces: Mapping[str, Mapping[str, str]]
    """Labels of the namespaces, by name of the namespace."""
    services: Sequence[Json] = ()
    monitoring: Mapping[str, Sequence[Json]] = field(default_factory=dict[str, Sequence[Json]])
    """Objects that configure the collector (PodMonitors and others), by kind."""

    def selected(self, kind: str, prometheus: Json, prefix: str) -> list[Json]:
        """Objects of a kind that a Prometheus selects, by its selectors for labels and for namespaces.

        If the Prometheus has no label selector, it selects no objects. If it has no namespace selector, it selects
        objects of its own namespace only (prometheus-operator, API reference, PrometheusSpec).
        """
        spec: Mapping[str, Any] = prometheus.get("spec", {})
        chosen, wanted = spec.get(f"{prefix}Selector"), spec.get(f"{prefix}NamespaceSelector")
        own = str(at(prometheus, "metadata.namespace"))
        return [
            item
            for item in self.monitoring.get(kind, ())
            if selects_labels(chosen, labels(item)) and self._has(wanted, str(at(item, "metadata.namespace")), own)
        ]

    def _has(self, wanted: Mapping[str, Any] | None, namespace: str, own: str) -> bool:
        return namespace == own if wanted is None else selects_labels(wanted, self.namespaces.get(namespace, {}))


def collected(client: Client, cluster_id: str, resources: Mapping[str, Mapping[str, Any]]) -> Collected | None:
    """Scrape jobs and rules of the cluster's metrics collector; None if the cluster has no metrics collector.

    Args:
        resources: Everything in the subscription: ARM id → `type`, `inputs` and `outputs`.
    """
    if prometheuses := _items(client, OPERATOR_GROUP, "Prometheus"):
        found = of_operator(prometheuses[0], objects(client, OPERATOR_GROUP))
        alertmanagers = _items(client, OPERATOR_GROUP, "Alertmanager")
        return replace(found, alertmanager=alertmanager_of(alertmanagers[0], client)) if alertmanagers else found
    if managed_prometheus.is_enabled(resources, cluster_id):
        return of_azure(objects(client, AZURE_GROUP), cluster_id, resources)
    return None


def objects(client: Client, group: str) -> Objects:
    """The objects of an API group that configure a collector, from the API server."""
    namespaces = {name(each): labels(each) for each in client.get("/api/v1/namespaces")["items"]}
    monitoring = {kind: _items(client, group, kind) for kind in KINDS}
    return Objects(namespaces, client.get("/api/v1/services")["items"], monitoring)


def of_operator(prometheus: Json, found: Objects) -> Collected:
    """Scrape jobs and rules that the Prometheus operator derives from a Prometheus object."""
    pods = found.selected("PodMonitor", prometheus, "podMonitor")
    services = found.selected("ServiceMonitor", prometheus, "serviceMonitor")
    rules = found.selected("PrometheusRule", prometheus, "rule")
    jobs = [job for each in pods for job in pod_jobs(each)]
    jobs += [job for each in services for job in service_jobs(each, found.services)]
    groups = [
        {**group, "name": f"{at(rule, 'metadata.namespace')}-{name(rule)}-{group['name']}"}
        for rule in rules
        for group in at(rule, "spec.groups", [])
    ]
    release = name(prometheus).removesuffix("-prometheus")
    kubelets = selects_labels(at(prometheus, "spec.serviceMonitorSelector"), {"release": release})
    return Collected(jobs, {"groups": groups}, kubelets=kubelets)


def of_azure(found: Objects, cluster_id: str, resources: Mapping[str, Mapping[str, Any]]) -> Collected:
    """Scrape jobs and rules of Azure Monitor. Metrics that reach no workspace are lost, so no rule can use such
    metrics.
    """
    own = managed_prometheus.workspaces(resources, cluster_id)
    rules = managed_prometheus.rules(resources, cluster_id, own)
    if not own:
        return Collected([], rules, kubelets=False)
    jobs = [job for each in found.monitoring.get("PodMonitor", ()) for job in pod_jobs(each)]
    jobs += [job for each in found.monitoring.get("ServiceMonitor", ()) for job in service_jobs(each, found.services)]
    allowed = managed_prometheus.allowed_labels(resources, cluster_id)
    return Collected(jobs, rules, allowed, cluster=cluster_id.rpartition("/")[2])


def alertmanager_of(alertmanager: Json, client: Client) -> Json | None:
    """The configuration of an Alertmanager object, from the Secret that the object names or from its default Secret.
    None if the Secret or its key is missing.

    Raises:
        SimulationError: the configuration is not YAML.
    """
    namespace = str(at(alertmanager, "metadata.namespace"))
    secret = str(at(alertmanager, "spec.configSecret", f"alertmanager-{name(alertmanager)}"))
    found = client.find(f"/api/v1/namespaces/{namespace}/secrets/{secret}")
    text = at(found or {}, "data", {}).get(ALERTMANAGER_KEY)
    if text is None:
        return None
    try:
        return safe_yaml.load(base64.b64decode(text).decode())
    except (ValueError, yaml.YAMLError) as problem:
        place = f"the Secret {namespace}/{secret}"
        raise SimulationError(f"{place} has no YAML at the key {ALERTMANAGER_KEY}: {problem}") from None


def _items(client: Client, group: str, kind: str) -> list[Json]:
    """The objects of a kind, in all namespaces; empty if the API server does not serve the kind."""
    if client.resource(group, kind) is None:
        return []
    plural = "prometheuses" if kind == "Prometheus" else f"{kind.lower()}s"
    return client.get(f"{base_path(group)}/{plural}")["items"]
