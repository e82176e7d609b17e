"""Pods and ports from which a Prometheus collects metrics, by the PodMonitors that a stack declares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.policies.flows.parties import Party, Pod
from workbench.policies.model import Resource, known, known_list, known_map

TYPES: Mapping[str, str] = {
    "azure-monitors": "kubernetes:azmonitoring.coreos.com/v1:PodMonitor",
    "monitors": "kubernetes:monitoring.coreos.com/v1:PodMonitor",
}
"""Resource type of the PodMonitors, by the target's name in `declared.yaml`. Azure's add-on for Prometheus reads only
PodMonitors of the API group azmonitoring.coreos.com (Azure/prometheus-collector).
"""
_ADDRESS = "__address__"


@dataclass(frozen=True)
class Scraped:
    resource: Resource
    name: str
    pod: Pod
    port: int | None
    """Number of the port; None if the monitor names the port and no declaration has its number."""


def scraped(resources: Sequence[Resource], target: str, parties: Mapping[str, Party]) -> Iterator[Scraped]:
    for each in resources:
        if each.type != TYPES[target]:
            continue
        metadata, spec = known_map(each.inputs.get("metadata")), known_map(each.inputs.get("spec"))
        labels = known_map(known_map(spec.get("selector")).get("matchLabels"))
        pod = Pod(str(known(metadata.get("namespace"), "")), labels)
        for endpoint in known_list(spec.get("podMetricsEndpoints")):
            port = _port(known_map(endpoint), pod, parties)
            yield Scraped(each, f"monitor {known(metadata.get('name'), each.name)}", pod, port)


def _port(endpoint: Mapping[str, Any], pod: Pod, parties: Mapping[str, Party]) -> int | None:
    number = known(endpoint.get("targetPort"))
    if isinstance(number, int):
        return number
    for rule in known_list(endpoint.get("relabelings")):
        if known(rule.get("targetLabel")) == _ADDRESS:
            tail = str(known(rule.get("replacement"), "")).rpartition(":")[2]
            return int(tail) if tail.isdigit() else None
    name = str(known(endpoint.get("port"), number or ""))
    for party in parties.values():
        if isinstance(party, Pod) and party.namespace == pod.namespace and pod.labels.items() <= party.labels.items():
            return party.ports.get(name)
    return None
