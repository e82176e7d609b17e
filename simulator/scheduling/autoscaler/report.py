"""Reports of the autoscaler about itself: the ConfigMap `cluster-autoscaler-status`, and events about the
autoscaler.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import yaml

from simulator.azure.own_facts import POOL_LABEL
from simulator.cluster.objects import Json, labels, name, timestamp
from simulator.kubernetes.client import APPLY_PATCH
from simulator.scheduling.autoscaler import COMPONENT
from simulator.scheduling.autoscaler.pools import Scaled
from simulator.scheduling.autoscaler.template import works
from simulator.scheduling.view import View

NAME, NAMESPACE = "cluster-autoscaler-status", "kube-system"


def status(scaled: Scaled, nodes: Iterable[Json], idle: Collection[str], backoffs: Mapping[str, str]) -> Json:
    """State of each node group, in the form of the ConfigMap `cluster-autoscaler-status`.

    Args:
        idle: Names of the idle nodes.
        backoffs: Reason with which Azure refused the last growth of a pool, by pool. Pools that the autoscaler may try
            again now are left out.
    """
    by_pool: dict[str, list[Json]] = {}
    for node in nodes:
        by_pool.setdefault(labels(node).get(POOL_LABEL, ""), []).append(node)
    groups: list[Json] = []
    for pool in scaled.pools:
        mine = by_pool.get(pool.pool, [])
        ready = [node for node in mine if works(node)]
        candidates = sum(name(node) in idle for node in mine)
        growth = "Backoff" if pool.pool in backoffs else "InProgress" if len(ready) < pool.count else "NoActivity"
        groups.append(
            {
                "name": pool.scale_set,
                "health": {
                    "status": "Healthy",
                    "nodeCounts": {"registered": {"total": len(mine), "ready": len(ready)}},
                    "cloudProviderTarget": pool.count,
                    "minSize": pool.least,
                    "maxSize": pool.most,
                },
                "scaleUp": {"status": growth, **_info(backoffs.get(pool.pool))},
                "scaleDown": {
                    "status": "CandidatesPresent" if candidates else "NoCandidates",
                    "candidates": candidates,
                },
            }
        )
    return {"autoscalerStatus": "Running", "nodeGroups": groups}


def _info(problem: str | None) -> Json:
    """Field `backoffInfo` of a node group whose growth Azure refused with the text `problem`; empty without a refusal.
    The error code is the one for errors of a cloud provider (cluster-autoscaler, clusterstate/api).
    """
    return {"backoffInfo": {"errorCode": "cloudProviderError", "errorMessage": problem}} if problem else {}


class Report:
    """Writer of the status ConfigMap, which writes only when the status has changed."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._written: Json = {}
        self._uid = ""

    def write(
        self, scaled: Scaled, nodes: Iterable[Json], idle: Mapping[str, Any], backoffs: Mapping[str, str]
    ) -> None:
        found = status(scaled, list(nodes), idle, backoffs)
        if found != self._written:
            text = yaml.safe_dump({"time": timestamp(), **found}, sort_keys=False)
            metadata = {"name": NAME, "namespace": NAMESPACE}
            item = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"status": text}}
            path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{NAME}"
            made = self._view.client.patch(path, item, APPLY_PATCH, {"fieldManager": COMPONENT, "force": "true"})
            self._uid = str(made["metadata"]["uid"])
            self._written = found

    def record_event(self, reason: str, message: str, type: str = "Normal") -> None:
        """Records an event about the autoscaler, on its ConfigMap."""
        about = {"name": NAME, "namespace": NAMESPACE, "uid": self._uid}
        self._view.record_event(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about}, COMPONENT, reason, message, type
        )
