"""Disruption budgets that keep AKS from draining the nodes of a pool for an upgrade.

The decision is the API server's decision about an eviction (k8s.io/kubernetes,
pkg/registry/core/pod/storage/eviction.go). The message is AKS's (learn.microsoft.com, error-code-poddrainfailure). Pods
are not evicted one by one: once no budget blocks the drain, each node is replaced together with its Pods.

If a budget blocks it until the time is up, the Pods beside the blocked one have been evicted, and the node takes Pods
again (the default `undrainableNodeBehavior`, Schedule; AKS docs fb060ab, upgrade-conceptual.md). Which node AKS drains
first is not documented: here the blocked one, so that the other nodes stay as they are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import at, is_ready
from physical_ai.kubernetes.selectors import selects_labels
from simulator.azure.own_facts import POOL_LABEL
from simulator.kubernetes.client import ApiError, Client

_PATH = "/apis/policy/v1/poddisruptionbudgets"
_PAUSE = 0.2
Object = Mapping[str, Any]


def budgets(client: Client) -> list[Object]:
    """All PodDisruptionBudgets of a cluster."""
    return list(client.get(_PATH)["items"])


def wait(client: Client, pool: str, seconds: float) -> str:
    """Waits, at most `seconds`, until every Pod on the pool's nodes can be evicted. Returns AKS's message about the
    first Pod that still cannot be evicted, after the eviction of all others on its node; empty if there is none.
    """
    end = time.monotonic() + seconds
    while True:
        nodes = {each["metadata"]["name"] for each in client.get("/api/v1/nodes", _of(pool))["items"]}
        pods = [each for each in client.get("/api/v1/pods")["items"] if at(each, "spec.nodeName", "") in nodes]
        known = budgets(client)
        found = first_blocked(pods, known)
        if found is None:
            return ""
        if time.monotonic() >= end:
            _evict(client, beside(pods, known, at(found[0], "spec.nodeName", "")))
            return _message(*found)
        time.sleep(_PAUSE)


def beside(pods: Iterable[Object], of_cluster: Sequence[Object], node: str) -> list[Object]:
    """Pods of a node that a drain evicts before it fails."""
    return [
        pod
        for pod in pods
        if at(pod, "spec.nodeName", "") == node and not _is_left_alone(pod) and _blocking(pod, of_cluster) is None
    ]


def blocked(pods: Iterable[Object], of_cluster: Sequence[Object]) -> str:
    """AKS's message about the first Pod that a disruption budget keeps from eviction; empty if every Pod can be
    evicted.
    """
    found = first_blocked(pods, of_cluster)
    return _message(*found) if found is not None else ""


def first_blocked(pods: Iterable[Object], of_cluster: Sequence[Object]) -> tuple[Object, Object] | None:
    """The first Pod that a disruption budget keeps from eviction, with the budget; None if every Pod can be evicted."""
    for pod in pods:
        budget = None if _is_left_alone(pod) else _blocking(pod, of_cluster)
        if budget is not None:
            return pod, budget
    return None


def _blocking(pod: Object, of_cluster: Sequence[Object]) -> Object | None:
    return next((budget for budget in of_cluster if _covers(budget, pod) and not _lets_go(budget, pod)), None)


def _evict(client: Client, pods: Iterable[Object]) -> None:
    """Evicts Pods. One that is gone, or that a budget keeps meanwhile, is left."""
    for pod in pods:
        name = {"name": pod["metadata"]["name"], "namespace": pod["metadata"]["namespace"]}
        path = f"/api/v1/namespaces/{name['namespace']}/pods/{name['name']}/eviction"
        try:
            client.request("POST", path, {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": name})
        except ApiError as refusal:
            if refusal.code not in (404, 409, 429):
                raise


def _of(pool: str) -> dict[str, str]:
    return {"labelSelector": f"{POOL_LABEL}={pool}"}


def _is_left_alone(pod: Object) -> bool:
    """True for a Pod that no drain evicts: a Pod of a DaemonSet, a static Pod of the kubelet, or a Pod that
    has ended.
    """
    owners = at(pod, "metadata.ownerReferences", [])
    ended = at(pod, "status.phase", "") in ("Succeeded", "Failed")
    return ended or any(owner.get("kind") in ("DaemonSet", "Node") for owner in owners)


def _covers(budget: Object, pod: Object) -> bool:
    same = at(budget, "metadata.namespace", "") == at(pod, "metadata.namespace", "")
    return same and selects_labels(at(budget, "spec.selector", {}), at(pod, "metadata.labels", {}))


def _lets_go(budget: Object, pod: Object) -> bool:
    """True if the budget allows the Pod's eviction.

    A pending Pod may always be evicted. An unready Pod may be evicted if enough other Pods are healthy for the budget,
    or if the budget always allows eviction of unready Pods.
    """
    if at(pod, "status.phase", "") == "Pending" or at(budget, "status.disruptionsAllowed", 0) > 0:
        return True
    if is_ready(pod):
        return False
    if at(budget, "spec.unhealthyPodEvictionPolicy", "") == "AlwaysAllow":
        return True
    needed = at(budget, "status.desiredHealthy", 0)
    return needed > 0 and at(budget, "status.currentHealthy", 0) >= needed


def _message(pod: Object, budget: Object) -> str:
    name, here = pod["metadata"]["name"], pod["metadata"]["namespace"]
    return (
        f"Drain node {at(pod, 'spec.nodeName', '')} failed when evicting pod {name} failed with Too Many Requests"
        " error. This is often caused by a restrictive Pod Disruption Budget (PDB) policy. See"
        " http://aka.ms/aks/debugdrainfailures. Original error: Cannot evict pod as it would violate the pod's"
        f" disruption budget.. PDB debug info: {here}/{name} blocked by pdb {budget['metadata']['name']} with 0 unready"
        " pods: []."
    )
