"""Targets that Prometheus discovers: one target for each port of each Pod that a PodMonitor selects, with the labels of
Kubernetes' own discovery.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.kubernetes.selectors import selects_labels
from simulator.cluster.objects import Json, at, is_ready, labels, name

ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True)
class Selection:
    """Selection of Pod ports by namespace, label and port name."""

    namespaces: frozenset[str]
    """Namespaces of the Pods; empty for all namespaces."""
    selector: Mapping[str, Any]
    """Label selector for the Pods, in the form of the Kubernetes API."""
    port: str
    """Name or number of a container's port. If empty, each port of each container is a target, and so is each container
    without ports.
    """


def selection(query: Mapping[str, str]) -> Selection:
    """The Selection that the parameters of a URL describe; the inverse of `query`."""
    namespaces = frozenset(each for each in query.get("namespaces", "").split(",") if each)
    return Selection(namespaces, json.loads(query.get("selector", "{}")), query.get("port", ""))


def query(given: Selection) -> dict[str, str]:
    """Parameters of a URL that describe a Selection; the inverse of `selection`."""
    selector = json.dumps(given.selector, sort_keys=True)
    return {"namespaces": ",".join(sorted(given.namespaces)), "selector": selector, "port": given.port}


def targets(pods: Sequence[Json], given: Selection, address: str) -> list[Json]:
    """Target groups for `http_sd_configs`. All targets have the same `address`, and each target has its own
    URL path.
    """
    return [
        {"targets": [address], "labels": found}
        for pod in pods
        if (not given.namespaces or at(pod, "metadata.namespace") in given.namespaces)
        and selects_labels(given.selector, labels(pod))
        and at(pod, "spec.nodeName")
        and at(pod, "status.phase") not in ENDED
        for found in _labels(pod, given.port)
    ]


def _labels(pod: Json, port: str) -> Iterator[dict[str, str]]:
    for container in pod["spec"]["containers"]:
        for each in container.get("ports", ()):
            number = str(each["containerPort"])
            if port in ("", each.get("name"), number):
                yield _meta(pod, container["name"], each.get("name", ""), number)
        if not port and not container.get("ports"):
            # Its address has no port, so Prometheus asks port 80, where nothing reports metrics.
            yield {**_meta(pod, container["name"], "", ""), "__metrics_path__": f"{path(pod)}/80"}


def path(pod: Json) -> str:
    """URL path of a Pod's exporter on the exporters' server, which serves all targets at one address."""
    return f"/pods/{at(pod, 'metadata.namespace')}/{name(pod)}"


def _meta(pod: Json, container: str, port: str, number: str) -> dict[str, str]:
    prefix = "__meta_kubernetes_pod"
    namespace = str(at(pod, "metadata.namespace"))
    own = {f"{prefix}_label_{_sanitized(key)}": value for key, value in labels(pod).items()}
    return {
        "__metrics_path__": f"{path(pod)}/metrics",
        "__meta_kubernetes_namespace": namespace,
        f"{prefix}_name": name(pod),
        f"{prefix}_ip": str(at(pod, "status.podIP", "")),
        f"{prefix}_host_ip": str(at(pod, "status.hostIP", "")),
        f"{prefix}_node_name": str(at(pod, "spec.nodeName")),
        f"{prefix}_phase": str(at(pod, "status.phase", "")),
        f"{prefix}_ready": str(is_ready(pod)).lower(),
        f"{prefix}_container_name": container,
        f"{prefix}_container_port_name": port,
        f"{prefix}_container_port_number": number,
        **own,
    }


def _sanitized(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", text)
