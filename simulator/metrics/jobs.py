"""Scrape jobs from PodMonitors and ServiceMonitors, as the Prometheus operator derives them. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.kubernetes.selectors import selects_labels
from simulator.cluster.objects import Json, at, labels, name
from simulator.metrics.discovery import Selection
from simulator.osmo_names import METRICS_PORT

POD = "__meta_kubernetes_pod"
NAMESPACE_LABEL = "__meta_kubernetes_namespace"
LIMITS = {
    "sampleLimit": "sample_limit",
    "labelLimit": "label_limit",
    "labelNameLengthLimit": "label_name_length_limit",
    "labelValueLengthLimit": "label_value_length_limit",
}
"""Limits in a monitor's spec, by field, with their names in Prometheus. A target that exceeds a limit is dropped."""


@dataclass(frozen=True)
class Job:
    """Scrape job of Prometheus: the Pod ports that are its targets, and the changes to the labels of targets and
    metrics.
    """

    name: str
    selection: Selection
    honor_labels: bool = False
    relabelings: Sequence[Json] = ()
    metric_relabelings: Sequence[Json] = ()
    limits: Mapping[str, int] = field(default_factory=dict[str, int])


def pod_jobs(monitor: Json) -> list[Job]:
    """A job for each endpoint of a PodMonitor."""
    namespace = str(at(monitor, "metadata.namespace"))
    return [
        Job(
            f"podMonitor/{namespace}/{name(monitor)}/{index}",
            Selection(_namespaces(monitor), at(monitor, "spec.selector", {}), port_of(endpoint)),
            bool(endpoint.get("honorLabels", False)),
            [*_own(f"{namespace}/{name(monitor)}", port_of(endpoint)), *relabelings(endpoint, "relabelings")],
            relabelings(endpoint, "metricRelabelings"),
            _limits(monitor),
        )
        for index, endpoint in enumerate(at(monitor, "spec.podMetricsEndpoints", []))
    ]


def service_jobs(monitor: Json, services: Sequence[Json]) -> list[Job]:
    """A job for each endpoint of a ServiceMonitor and each Service that it selects; its targets are the
    Service's Pods.
    """
    return [
        job
        for service in services
        if _is_selected(monitor, service)
        for index, endpoint in enumerate(at(monitor, "spec.endpoints", []))
        for job in _behind(monitor, service, endpoint, index)
    ]


def port_of(endpoint: Mapping[str, Any]) -> str:
    """Name or number of the port in an endpoint of a monitor."""
    return str(endpoint.get("port") or endpoint.get("portNumber") or endpoint.get("targetPort", ""))


def relabelings(endpoint: Mapping[str, Any], key: str) -> list[Json]:
    """Relabelings of an endpoint in Prometheus' spelling, such as `target_label` for `targetLabel`."""
    return [
        _at_pod(each)
        if each.get("targetLabel") == "__address__"
        else {"".join(f"_{c.lower()}" if c.isupper() else c for c in field_): value for field_, value in each.items()}
        for each in endpoint.get(key) or ()
    ]


def _at_pod(relabeling: Mapping[str, Any]) -> Json:
    """Replacement for `relabeling`, which sets a target's address to its Pod and a port. All simulated targets have one
    address, so the replacement sets the URL path; it contains the port number, which selects the exporter.
    """
    number = str(relabeling.get("replacement", "")).rpartition(":")[2]
    return {
        "source_labels": [NAMESPACE_LABEL, f"{POD}_name"],
        "separator": "/",
        "target_label": "__metrics_path__",
        "replacement": f"/pods/$1/{'metrics' if number == str(METRICS_PORT) else number}",
    }


def _is_selected(monitor: Json, service: Json) -> bool:
    namespaces = _namespaces(monitor)
    here = not namespaces or at(service, "metadata.namespace") in namespaces
    return here and selects_labels(at(monitor, "spec.selector", {}), labels(service))


def _behind(monitor: Json, service: Json, endpoint: Json, index: int) -> Iterator[Job]:
    chosen: Mapping[str, str] = at(service, "spec.selector", {})
    ports: Sequence[Json] = at(service, "spec.ports", [])
    port = next((each for each in ports if each.get("name") == endpoint.get("port")), None)
    if not chosen or port is None:
        return
    namespace = str(at(service, "metadata.namespace"))
    job = labels(service).get(str(at(monitor, "spec.jobLabel", "")), name(service))
    target = {"target_label": "service", "replacement": name(service)}
    yield Job(
        f"serviceMonitor/{at(monitor, 'metadata.namespace')}/{name(monitor)}/{index}/{name(service)}",
        Selection(frozenset({namespace}), {"matchLabels": dict(chosen)}, str(port.get("targetPort") or port["port"])),
        bool(endpoint.get("honorLabels", False)),
        [*_own(job, str(endpoint.get("port"))), target, *relabelings(endpoint, "relabelings")],
        relabelings(endpoint, "metricRelabelings"),
        _limits(monitor),
    )


def _own(job: str, endpoint: str) -> list[Json]:
    """Relabelings that the Prometheus operator adds before the relabelings of the monitor."""
    return [
        {"source_labels": [f"{POD}_phase"], "regex": "(Failed|Succeeded)", "action": "drop"},
        {"source_labels": [NAMESPACE_LABEL], "target_label": "namespace"},
        {"source_labels": [f"{POD}_container_name"], "target_label": "container"},
        {"source_labels": [f"{POD}_name"], "target_label": "pod"},
        {"target_label": "job", "replacement": job},
        {"target_label": "endpoint", "replacement": endpoint},
        {"source_labels": [f"{POD}_ip", f"{POD}_container_port_number"], "separator": ":", "target_label": "instance"},
    ]


def _namespaces(monitor: Json) -> frozenset[str]:
    """Namespaces that a monitor selects; empty for all namespaces."""
    selector: Mapping[str, Any] = at(monitor, "spec.namespaceSelector", {})
    if selector.get("any"):
        return frozenset()
    return frozenset(selector.get("matchNames") or [str(at(monitor, "metadata.namespace"))])


def _limits(monitor: Json) -> dict[str, int]:
    spec: Mapping[str, Any] = monitor.get("spec", {})
    return {prometheus: int(spec[field_]) for field_, prometheus in LIMITS.items() if field_ in spec}
