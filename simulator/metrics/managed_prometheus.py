"""Managed Prometheus of Azure Monitor, as a stack's Azure resources declare it: the workspaces that get a cluster's
metrics, and the rules for these metrics.

Pure functions. Their argument `resources` maps each ARM id to the resource's `type`, `inputs` and `outputs`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simulator.cluster.objects import Json, at

Resources = Mapping[str, Mapping[str, Any]]
STREAM = "Microsoft-PrometheusMetrics"
_ISO = re.compile(r"^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$")
_PART = re.compile(r"(\w+)=\[([^\]]*)\]")
_METRICS = "azureMonitorProfile.metrics"


def is_enabled(resources: Resources, cluster_id: str) -> bool:
    """True if the cluster has the metrics add-on."""
    return bool(at(_inputs(resources, cluster_id), f"{_METRICS}.enabled", False))


def workspaces(resources: Resources, cluster_id: str) -> frozenset[str]:
    """Lower-case ids of the workspaces that receive the cluster's metrics. The cluster's associations name collection
    rules, and each collection rule names workspaces.
    """
    found: set[str] = set()
    for _, inputs in _of_type(resources, "DataCollectionRuleAssociation"):
        if _same(inputs.get("resourceUri"), cluster_id):
            found |= set(_destinations(_inputs(resources, str(inputs.get("dataCollectionRuleId", "")))))
    return frozenset(found)


def rules(resources: Resources, cluster_id: str, own: frozenset[str]) -> Json:
    """Prometheus rule file with all enabled rule groups that belong to the workspaces in `own`. Rule groups for other
    clusters are left out.
    """
    name = cluster_id.rpartition("/")[2]
    groups = [
        {"name": id.rpartition("/")[2], "rules": [_rule(each) for each in inputs["rules"] if each.get("enabled", True)]}
        for id, inputs in _of_type(resources, "PrometheusRuleGroup")
        if inputs.get("enabled", True)
        and own & {str(scope).lower() for scope in inputs.get("scopes") or ()}
        and str(inputs.get("clusterName") or name).lower() == name.lower()
    ]
    return {"groups": groups}


def allowed_labels(resources: Resources, cluster_id: str) -> dict[str, Sequence[str]]:
    """Labels that the add-on's kube-state-metrics exports, by kind of object: only those on its allow-list."""
    text = str(at(_inputs(resources, cluster_id), f"{_METRICS}.kubeStateMetrics.metricLabelsAllowlist", "") or "")
    return label_list(text)


def label_list(text: str) -> dict[str, Sequence[str]]:
    """Labels by kind, from a list in the format of kube-state-metrics.

    >>> label_list("nodes=[agentpool,a/b],pods=[c]")
    {'nodes': ['agentpool', 'a/b'], 'pods': ['c']}
    """
    return {kind: [each for each in labels.split(",") if each] for kind, labels in _PART.findall(text)}


def prometheus_duration(iso: str) -> str:
    """A duration of Azure in Prometheus' format.

    >>> prometheus_duration("PT1H30M")
    '5400s'

    Raises:
        ValueError: it is not ISO 8601.
    """
    match = _ISO.match(iso)
    if match is None:
        raise ValueError(f"{iso} is not a duration in ISO 8601")
    seconds = sum(int(part or 0) * unit for part, unit in zip(match.groups(), (86400, 3600, 60, 1), strict=True))
    return f"{seconds}s"


def _rule(given: Mapping[str, Any]) -> Json:
    if record := given.get("record"):
        return {"record": record, "expr": given["expression"], "labels": dict(given.get("labels") or {})}
    hold = {"for": prometheus_duration(str(given["for"]))} if given.get("for") else {}
    return {
        "alert": given["alert"],
        "expr": given["expression"],
        **hold,
        "labels": dict(given.get("labels") or {}),
        "annotations": dict(given.get("annotations") or {}),
    }


def _destinations(rule: Mapping[str, Any]) -> Iterator[str]:
    """Ids of the Azure Monitor accounts to which a collection rule sends Prometheus metrics."""
    accounts: Sequence[Json] = at(rule, "destinations.monitoringAccounts", [])
    used = {
        name
        for flow in rule.get("dataFlows") or ()
        if STREAM in (flow.get("streams") or ())
        for name in flow.get("destinations") or ()
    }
    return (str(each.get("accountResourceId")).lower() for each in accounts if each.get("name") in used)


def _of_type(resources: Resources, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    return ((id, each["inputs"]) for id, each in resources.items() if str(each["type"]).endswith(f":{kind}"))


def _inputs(resources: Resources, wanted: str) -> Mapping[str, Any]:
    """Inputs of the resource with this id, compared without case; empty if there is no such resource."""
    return next((each["inputs"] for id, each in resources.items() if _same(id, wanted)), dict[str, Any]())


def _same(one: object, other: str) -> bool:
    return str(one).lower() == other.lower()
