"""NetworkPolicies of the data services in the cluster: they let in only Pods that use the services."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from parts.in_cluster_data.facts import in_cluster
from parts.in_cluster_data.names import LABEL, PORTS, STORAGE
from physical_ai.catalog import osmo
from physical_ai.catalog import osmo_service as names
from physical_ai.planning import manifests
from physical_ai.settings.models.tree import Settings

PROCESSES = (
    names.API,
    names.WORKER,
    names.AGENT,
    names.LOGGER,
    names.JOB_MONITOR,
    names.ROUTER,
    names.AUTHZ,
)
"""Processes of the control plane that use database, cache or storage, by the label `app` of their Pods."""


def with_data_service_policies(allowed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns `allowed`, the policies of the isolated namespaces, together with the policies of the data services.

    A policy in `allowed` that selects all Pods of the control plane's namespace is changed so that it no longer selects
    the data services' Pods. Otherwise it would let every Pod of the control plane connect to the database, because
    NetworkPolicies only add permissions.
    """
    objects = manifests.load_of("in_cluster_data", "network.yaml")
    for policy in objects:
        for peer in policy["spec"]["ingress"][0]["from"]:
            for expression in peer.get("podSelector", {}).get("matchExpressions", ()):
                expression["values"] = list(PROCESSES)
    for policy in allowed:
        selector = policy["spec"]["podSelector"]
        if policy["metadata"]["namespace"] == osmo.CONTROL_NAMESPACE and "matchLabels" not in selector:
            others = {"key": LABEL, "operator": "DoesNotExist"}
            selector["matchExpressions"] = [*selector.get("matchExpressions", ()), others]
    return [*allowed, *objects]


def task_egress(settings: Settings) -> Iterable[dict[str, Any]]:
    """NetworkPolicy rule that lets the Pods of tasks reach the storage in the cluster; nothing if the stack's storage
    is elsewhere.
    """
    if in_cluster(settings) is not None:
        namespace = {"matchLabels": {"kubernetes.io/metadata.name": osmo.CONTROL_NAMESPACE}}
        pods = {"matchLabels": {LABEL: STORAGE}}
        ports = [{"port": PORTS[STORAGE], "protocol": "TCP"}]
        yield {"to": [{"namespaceSelector": namespace, "podSelector": pods}], "ports": ports}
