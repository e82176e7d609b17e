"""The series of kube-state-metrics that rules and dashboards use, from the API server's objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from physical_ai.kubernetes.quantities import quantity
from simulator.cluster.objects import Json, at, labels, name
from simulator.metrics.page import Page

PHASES = ("Pending", "Succeeded", "Failed", "Unknown", "Running")
UNITS = {"cpu": "core", "memory": "byte", "ephemeral_storage": "byte", "pods": "integer"}
DAEMONSET = {
    "desired_number_scheduled": "desiredNumberScheduled",
    "current_number_scheduled": "currentNumberScheduled",
    "number_ready": "numberReady",
    "number_available": "numberAvailable",
    "number_unavailable": "numberUnavailable",
    "updated_number_scheduled": "updatedNumberScheduled",
}
"""Fields of a DaemonSet's status. Keys are the endings of the names of the series that show these fields."""


@dataclass(frozen=True)
class Objects:
    """Objects that kube-state-metrics watches, and the labels that it exports."""

    nodes: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    daemonsets: Sequence[Json] = ()
    deployments: Sequence[Json] = ()
    namespaces: Sequence[Json] = ()
    node_labels: tuple[str, ...] = ()
    """Labels of nodes that are exported, as listed in `--metric-labels-allowlist`; none if that option is not set."""
    pod_labels: tuple[str, ...] = ()


class KubeState:
    """Writer of kube-state-metrics' output. It prints an object's series again only after the object has changed."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], _Page] = {}
        """Printed series by uid and resource version."""
        self._labels: tuple[tuple[str, ...], ...] = ()
        """Label lists with which the series in `_kept` were printed."""

    def page(self, given: Objects) -> str:
        """Output of kube-state-metrics for these objects."""
        if self._labels != (wanted := (given.node_labels, given.pod_labels)):
            self._kept, self._labels = {}, wanted
        result = _Page()
        kept: dict[tuple[str, str], _Page] = {}
        for item, write in _writers(given):
            key = (str(at(item, "metadata.uid", name(item))), str(at(item, "metadata.resourceVersion", "")))
            found = self._kept.get(key)
            if found is None:
                found = _Page()
                write(found, item)
            kept[key] = found
            result.add(found)
        self._kept = kept
        return result.text()


def _writers(given: Objects) -> Iterator[tuple[Json, Callable[[_Page, Json], None]]]:
    node, pod = partial(_node, allowed=given.node_labels), partial(_pod, allowed=given.pod_labels)
    yield from ((each, node) for each in given.nodes)
    yield from ((each, pod) for each in given.pods)
    yield from ((each, _daemonset) for each in given.daemonsets)
    yield from ((each, _deployment) for each in given.deployments)
    yield from ((each, _namespace_phase) for each in given.namespaces)


class _Page(Page):
    def gauge(self, family: str, own: Mapping[str, str], value: float) -> None:
        self.family(family, "gauge", "As kube-state-metrics describes it.")
        self.sample(family, own, float(value))


def _daemonset(page: _Page, item: Json) -> None:
    own = {"namespace": _namespace(item), "daemonset": name(item)}
    for series, status in DAEMONSET.items():
        page.gauge(f"kube_daemonset_status_{series}", own, at(item, f"status.{status}", 0))


def _deployment(page: _Page, item: Json) -> None:
    own = {"namespace": _namespace(item), "deployment": name(item)}
    page.gauge("kube_deployment_spec_replicas", own, at(item, "spec.replicas", 1))
    for series, status in (("available", "availableReplicas"), ("unavailable", "unavailableReplicas")):
        page.gauge(f"kube_deployment_status_replicas_{series}", own, at(item, f"status.{status}", 0))


def _namespace_phase(page: _Page, item: Json) -> None:
    phase = str(at(item, "status.phase", "Active"))
    page.gauge("kube_namespace_status_phase", {"namespace": name(item), "phase": phase}, 1)


def _node(page: _Page, node: Json, allowed: Sequence[str]) -> None:
    own = {"node": name(node)}
    info: Mapping[str, str] = at(node, "status.nodeInfo", {})
    addresses: Sequence[Json] = at(node, "status.addresses", [])
    address = next((each["address"] for each in addresses if each["type"] == "InternalIP"), "")
    page.gauge(
        "kube_node_info",
        {
            **own,
            "kernel_version": info.get("kernelVersion", ""),
            "os_image": info.get("osImage", ""),
            "container_runtime_version": info.get("containerRuntimeVersion", ""),
            "kubelet_version": info.get("kubeletVersion", ""),
            "provider_id": str(at(node, "spec.providerID", "")),
            "internal_ip": address,
        },
        1,
    )
    page.gauge("kube_node_labels", {**own, **_labels(node, allowed)}, 1)
    page.gauge("kube_node_spec_unschedulable", own, bool(at(node, "spec.unschedulable", False)))
    for taint in at(node, "spec.taints", []):
        shown = {"key": taint["key"], "value": taint.get("value", ""), "effect": taint["effect"]}
        page.gauge("kube_node_spec_taint", {**own, **shown}, 1)
    for field_ in ("capacity", "allocatable"):
        _resources(page, f"kube_node_status_{field_}", own, at(node, f"status.{field_}", {}))
    for condition in at(node, "status.conditions", []):
        for status in ("true", "false", "unknown"):
            shown = {"condition": condition["type"], "status": status}
            page.gauge("kube_node_status_condition", {**own, **shown}, condition["status"].lower() == status)


def _pod(page: _Page, pod: Json, allowed: Sequence[str]) -> None:
    own = {"namespace": _namespace(pod), "pod": name(pod), "uid": str(at(pod, "metadata.uid", ""))}
    node, phase = str(at(pod, "spec.nodeName", "")), str(at(pod, "status.phase", "Pending"))
    owners: Sequence[Json] = at(pod, "metadata.ownerReferences", [])
    owner = {"created_by_kind": owners[0]["kind"], "created_by_name": owners[0]["name"]} if owners else {}
    page.gauge("kube_pod_info", {**own, "node": node, **owner}, 1)
    page.gauge("kube_pod_labels", {**own, **_labels(pod, allowed)}, 1)
    for each in PHASES:
        page.gauge("kube_pod_status_phase", {**own, "phase": each}, phase == each)
    if reason := at(pod, "status.reason"):
        page.gauge("kube_pod_status_reason", {**own, "reason": str(reason)}, 1)
    conditions: Sequence[Json] = at(pod, "status.conditions", [])
    for condition in conditions:
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            page.gauge("kube_pod_status_unschedulable", own, 1)
        if condition["type"] == "Ready":
            shown = {"condition": condition["status"].lower()}
            page.gauge("kube_pod_status_ready", {**own, **shown}, 1)
    for container in pod["spec"]["containers"]:
        requests: Mapping[str, str] = at(container, "resources.requests", {}) or at(container, "resources.limits", {})
        labels_ = {**own, "container": container["name"], "node": node}
        _resources(page, "kube_pod_container_resource_requests", labels_, requests)
    for field_, series in (("containerStatuses", "container"), ("initContainerStatuses", "init_container")):
        for status in at(pod, f"status.{field_}", []):
            _container(page, f"kube_pod_{series}_status", {**own, "container": status["name"]}, status)


def _container(page: _Page, prefix: str, own: Mapping[str, str], status: Json) -> None:
    page.gauge(f"{prefix}_ready", own, bool(status.get("ready")))
    page.gauge(f"{prefix}_restarts_total", own, int(status.get("restartCount", 0)))
    for state in ("waiting", "running", "terminated"):
        page.gauge(f"{prefix}_{state}", own, at(status, f"state.{state}") is not None)
        if reason := at(status, f"state.{state}.reason"):
            page.gauge(f"{prefix}_{state}_reason", {**own, "reason": str(reason)}, 1)


def _resources(page: _Page, family: str, own: Mapping[str, str], resources: Mapping[str, Any]) -> None:
    for resource, amount in resources.items():
        value, known = quantity(amount), _sanitized(resource)
        if value is not None:
            unit = UNITS.get(known, "byte" if known.startswith("hugepages") else "integer")
            page.gauge(family, {**own, "resource": known, "unit": unit}, float(value))


def _labels(item: Json, allowed: Iterable[str]) -> dict[str, str]:
    given = labels(item)
    return {f"label_{_sanitized(key)}": given[key] for key in allowed if key in given}


def _sanitized(text: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_]", "_", text)


def _namespace(item: Json) -> str:
    return str(at(item, "metadata.namespace", ""))
