"""The OpenTelemetry Collector: values of its chart, who may send to it, and what it may reach."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any
from urllib.parse import urlsplit

from parts.part import PartPlan, Planned, ReleasePlan, SecretPlan
from parts.traces import names
from parts.traces.model import Traces
from physical_ai.catalog.charts import newest_chart
from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE
from physical_ai.planning.chart_values import chart_values as values_of_chart
from physical_ai.settings.facts.addresses import ANY_ADDRESS, METADATA_ADDRESSES
from physical_ai.settings.facts.pools import services_placement
from physical_ai.settings.models.tree import Settings

FILE = f"traces/{names.CHART}-values.yaml"
OWNED = {
    "mode": "nothing: it is one Deployment",
    "alternateConfig": "monitoring.traces",
    "image.repository": "the name in parts/traces/names.py",
    "fullnameOverride": "the name in parts/traces/names.py",
    "extraEnvsFrom": "monitoring.traces",
    "nodeSelector": "cpuPool",
    "ports": "nothing: only OTLP is received",
}
"""Chart keys that the user's values file may not set. Each value names the setting to change instead, or says
why there is none.
"""
_UNUSED_PORTS = ("jaeger-compact", "jaeger-thrift", "jaeger-grpc", "zipkin")
_NAME = "kubernetes.io/metadata.name"
HTTPS = 443


def traces_plan(settings: Settings, root: FilePath) -> Planned:
    """Plan of the part for a stack, and the faults of the user's values file; the plan is None without
    `monitoring.traces`."""
    traces = settings.monitoring.traces
    if traces is None:
        return None, []
    pinned = newest_chart(names.CHART)
    values, faults = values_of_chart(root, FILE, pinned, OWNED, _values(traces, services_placement(settings)))
    release = ReleasePlan(
        key="release",
        name=names.RELEASE,
        # A policy in the workflows' namespace lets workflows reach the collector.
        namespaces=(names.NAMESPACE, WORKFLOWS_NAMESPACE),
        chart=pinned,
        values=values,
    )
    destination = SecretPlan("destination", names.NAMESPACE, names.SECRET, environment(traces))
    return PartPlan(
        (release,),
        # Only Pods of workflows reach the collector, and the collector reaches its destination only on the
        # destination's port.
        before=(_ingress(), _egress(traces), _from_workflows()),
        secrets=(destination,) if destination.data else (),
    ), faults


def environment(traces: Traces) -> dict[str, str]:
    """Environment variables that hold secrets of the destination, each with the name of the stack's secret.

    >>> environment(Traces(endpoint="https://otlp.contoso.com", header_secrets={"api-key": "tracesKey"}))
    {'HEADER_0': 'tracesKey'}
    """
    if traces.connection_secret is not None:
        return {names.CONNECTION_VARIABLE: traces.connection_secret}
    return {f"HEADER_{index}": secret for index, secret in enumerate(traces.header_secrets.values())}


def _values(traces: Traces, placement: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "mode": "deployment",
        "fullnameOverride": names.RELEASE,
        "image": {"repository": names.IMAGE},
        **placement,
        "ports": {name: {"enabled": False} for name in _UNUSED_PORTS},
        # Replaces the chart's own configuration, which also receives other protocols.
        "alternateConfig": _configuration(traces),
    }
    if environment(traces):
        values["extraEnvsFrom"] = [{"secretRef": {"name": names.SECRET}}]
    return values


def _configuration(traces: Traces) -> dict[str, Any]:
    """The collector's configuration. Secrets are read from environment variables, so the ConfigMap contains none.

    The exporter is named `otlp_http`, which replaces `otlphttp` in examples of open-telemetry/opentelemetry-collector.
    It was not tested that version 0.165 accepts the name.
    """
    here = "${env:MY_POD_IP}"
    name, exporter = _exporter(traces)
    protocols = {"grpc": {"endpoint": f"{here}:{names.GRPC_PORT}"}, "http": {"endpoint": f"{here}:{names.HTTP_PORT}"}}
    return {
        "extensions": {"health_check": {"endpoint": f"{here}:{names.HEALTH_PORT}"}},
        "receivers": {"otlp": {"protocols": protocols}},
        "processors": {
            "memory_limiter": {"check_interval": "5s", "limit_percentage": 80, "spike_limit_percentage": 25},
            "batch": {},
        },
        "exporters": {name: exporter},
        "service": {
            "extensions": ["health_check"],
            "pipelines": {
                "traces": {"receivers": ["otlp"], "processors": ["memory_limiter", "batch"], "exporters": [name]}
            },
        },
    }


def _exporter(traces: Traces) -> tuple[str, dict[str, Any]]:
    if traces.endpoint is None:
        return "azuremonitor", {}
    headers = {header: f"${{env:HEADER_{index}}}" for index, header in enumerate(traces.header_secrets)}
    return "otlp_http", {"endpoint": traces.endpoint, **({"headers": headers} if headers else {})}


def _ingress() -> dict[str, Any]:
    senders = {"namespaceSelector": {"matchLabels": {_NAME: WORKFLOWS_NAMESPACE}}}
    return _policy("from-workflows", names.NAMESPACE, "Ingress", {"ingress": [{"from": [senders], "ports": _ports()}]})


def _egress(traces: Traces) -> dict[str, Any]:
    dns = {
        "to": [
            {
                "namespaceSelector": {"matchLabels": {_NAME: "kube-system"}},
                "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
            }
        ],
        "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}],
    }
    return _policy("to-destination", names.NAMESPACE, "Egress", {"egress": [dns, _destination(traces)]})


def _destination(traces: Traces) -> dict[str, Any]:
    address = urlsplit(traces.endpoint or "https:")
    port = [{"port": address.port or HTTPS, "protocol": "TCP"}]
    if address.scheme == "https":
        return {"to": [{"ipBlock": {"cidr": ANY_ADDRESS, "except": list(METADATA_ADDRESSES)}}], "ports": port}
    namespace = (address.hostname or "").split(".")[1]
    # No port: a policy is about the ports of Pods, and a Service's port need not be the port of its Pods.
    return {"to": [{"namespaceSelector": {"matchLabels": {_NAME: namespace}}}]}


def _from_workflows() -> dict[str, Any]:
    """NetworkPolicy that lets the Pods of workflows connect to the collector. Without this policy they could not,
    because other policies deny them connections to Pods of other namespaces.
    """
    collector = {"namespaceSelector": {"matchLabels": {_NAME: names.NAMESPACE}}}
    return _policy("traces", WORKFLOWS_NAMESPACE, "Egress", {"egress": [{"to": [collector], "ports": _ports()}]})


def _ports() -> list[dict[str, Any]]:
    return [{"port": port, "protocol": "TCP"} for port in (names.GRPC_PORT, names.HTTP_PORT)]


def _policy(name: str, namespace: str, kind: str, rules: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"podSelector": {}, "policyTypes": [kind], **rules},
    }
