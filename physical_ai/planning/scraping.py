"""Monitors of the exporters' Pods, and network policies by which only the scraper reaches their ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from parts.kube_prometheus.names import NAMESPACE
from parts.part import Part
from parts.registry import PARTS
from physical_ai.catalog import osmo
from physical_ai.catalog import osmo_service as names
from physical_ai.planning.exporters import Exporter
from physical_ai.settings.facts.gpu import grid_pools
from physical_ai.settings.facts.isolation import is_isolated
from physical_ai.settings.models.monitoring import MetricsBackend
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.part_answers import answers

GROUPS: Mapping[MetricsBackend, str] = {
    "azure": "azmonitoring.coreos.com/v1",
    "kube-prometheus": "monitoring.coreos.com/v1",
}
"""API version of the monitors, by metrics backend.

Azure's add-on ignores monitors of the other API group (Azure/prometheus-collector).
"""
SCRAPERS: Mapping[MetricsBackend, str] = {"azure": "kube-system", "kube-prometheus": NAMESPACE}
"""Namespace of the scraper's Pods, by metrics backend."""
LIMITS = {"labelLimit": 63, "labelNameLengthLimit": 511, "labelValueLengthLimit": 1023}
"""Label limits in a monitor's spec. Without them, Azure's add-on can drop targets."""
_UNUSED_LABELS = "pci_bus_id|device|Hostname|hostname"
_NODE, _ADDRESS = "__meta_kubernetes_pod_node_name", "__meta_kubernetes_pod_ip"


EXPORTERS = (
    Exporter("dcgm-exporter", {"app": "nvidia-dcgm-exporter"}, "metrics", 9400, _UNUSED_LABELS),
    # This exporter's port has no name (NVIDIA/gpu-operator assets/state-node-status-exporter).
    Exporter("node-status-exporter", {"app": "nvidia-node-status-exporter"}, 8000, 8000),
    Exporter("gpu-operator", {"app": "gpu-operator"}, "metrics", 8080),
)
# Selects all Pods of the namespace: Pods without this port are no targets.
OSMO_AGENTS = Exporter("osmo-agents", {}, osmo.METRICS_PORT, osmo.METRICS_PORT, namespace=osmo.OPERATOR_NAMESPACE)
# Not guarded: who reaches OSMO's service is up to its operator, unless its namespace is isolated.
OSMO_SERVICE = replace(OSMO_AGENTS, name="osmo-service", namespace=osmo.CONTROL_NAMESPACE, guarded=False)
# Chart 1.3.1 gives a container of osmo-agent two lists of ports, of which the second, empty one counts: an endpoint
# with a port name would find no target (NVIDIA/OSMO 6.3.1 charts/service/templates/agent-service.yaml:84, 157). The
# policy of OSMO_SERVICE covers these Pods, too.
OSMO_SERVICE_AGENT = replace(OSMO_SERVICE, name="osmo-agent", labels={"app": names.AGENT}, is_declared=False)
GRID = Exporter("grid-driver", {"app.kubernetes.io/component": "grid-driver"}, "metrics", 9401)


def exporters(settings: Settings) -> tuple[Exporter, ...]:
    """Exporters of a stack; empty where nothing collects metrics."""
    if not settings.monitoring.is_measured:
        return ()
    grid = (GRID,) if grid_pools(settings) else ()
    agents = (OSMO_AGENTS,) if settings.osmo.installs_backend else ()
    of_parts = (each for part in PARTS if part.wanted(settings) for each in part_exporters(part, settings))
    service = (OSMO_SERVICE_AGENT,) if settings.osmo.installs_service else ()
    return (*EXPORTERS, *grid, *of_parts, *agents, OSMO_SERVICE, *service)


def part_exporters(part: Part, settings: Settings) -> list[Exporter]:
    """Exporters of a part. Raises PartError if the part's function returns something else."""
    return answers(part, "exporters", settings, Exporter, "an Exporter")


def pod_monitors(settings: Settings) -> list[dict[str, Any]]:
    """PodMonitors, one for each exporter whose chart does not create a monitor, in the API group of the stack's metrics
    backend.

    With `honorLabels: false`, the labels `namespace`, `pod` and `container` name the exporter's own Pod. The labels
    `exported_namespace`, `exported_pod` and `exported_container` name the Pod that uses the GPU; OSMO's dashboards
    query these labels.
    """
    back_end, interval = settings.monitoring.metrics, settings.monitoring.scrape_interval_seconds
    limits = LIMITS if back_end == "azure" else {}
    return [
        {
            "apiVersion": GROUPS[back_end],
            "kind": "PodMonitor",
            "metadata": {"name": each.name, "namespace": each.namespace},
            "spec": {
                **limits,
                "selector": {"matchLabels": dict(each.labels)},
                "podMetricsEndpoints": [_endpoint(each, interval)],
            },
        }
        for each in exporters(settings)
        if not each.has_monitor
    ]


def _endpoint(exporter: Exporter, interval: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        **exporter.endpoint_port,
        "interval": f"{interval}s",
        "honorLabels": False,
        "relabelings": [
            {"sourceLabels": [_NODE], "targetLabel": "node"},
            {"sourceLabels": [_NODE], "targetLabel": "instance"},
        ],
    }
    if not exporter.is_declared:
        # For a container without ports, Prometheus makes one target, whose address has no port.
        address = {"sourceLabels": [_ADDRESS], "targetLabel": "__address__", "replacement": f"$1:{exporter.number}"}
        found["relabelings"].insert(0, address)
    if exporter.dropped:
        found["metricRelabelings"] = [{"action": "labeldrop", "regex": exporter.dropped}]
    return found


def network_policies(settings: Settings) -> list[dict[str, Any]]:
    """NetworkPolicies that let only the scraper reach the Pods of an exporter.

    Probes of the kubelet still reach the Pods, because traffic from the Pod's own node is always allowed.
    """
    scraper = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": SCRAPERS[settings.monitoring.metrics]}}
    }
    return [
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": f"{each.name}-metrics", "namespace": each.namespace},
            "spec": {
                "podSelector": {"matchLabels": dict(each.labels)},
                "policyTypes": ["Ingress"],
                "ingress": [{"from": [scraper], "ports": [{"port": each.number, "protocol": "TCP"}]}],
            },
        }
        for each in exporters(settings)
        if not each.has_monitor and each.is_declared and (each.guarded or is_isolated(settings, each.namespace))
    ]
