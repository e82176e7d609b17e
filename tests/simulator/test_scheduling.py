"""Pods, nodes and who brings them together, on a real API server with the real kube-scheduler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from simulator.gpu.objects import at
from simulator.kubernetes.client import MERGE_PATCH
from simulator.scheduling.fit import Offer, fitting, refusal
from tests.field import Field

NAMESPACE = "fitting"
GPU = {"nvidia.com/gpu": "1"}
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
GPU_TOLERATED = [{"key": "nvidia.com/gpu", "operator": "Exists"}]


def affinity(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(*names: str) -> dict[str, Any]:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in names]
    return affinity({"matchFields": fields})


SPECS: dict[str, dict[str, Any]] = {
    "anywhere": {},
    "small": {"requests": {"cpu": "100m", "memory": "64Mi"}},
    "too-big": {"requests": {"cpu": "100"}},
    "too-big-in-two-ways": {"requests": {"cpu": "100", "memory": "9999Gi"}, "tolerations": GPU_TOLERATED},
    "gpu-untolerated": {"requests": GPU},
    "gpu": {"requests": GPU, "tolerations": GPU_TOLERATED},
    "gpu-again": {"requests": GPU, "tolerations": GPU_TOLERATED},
    "gpu-equal-without-value": {"requests": GPU, "tolerations": [{"key": "nvidia.com/gpu", "operator": "Equal"}]},
    "tolerates-all": {"requests": {"cpu": "1"}, "tolerations": [{"operator": "Exists"}]},
    "selector": {"nodeSelector": {"agentpool": "h100gpu"}},
    "selector-tolerated": {"nodeSelector": {"agentpool": "h100gpu"}, "tolerations": GPU_TOLERATED},
    "nowhere": {"nodeSelector": {"agentpool": "gone"}},
    "in": {"affinity": affinity(expression("agentpool", "In", "cpu", "closed"))},
    "not-in": {"affinity": affinity(expression("agentpool", "NotIn", "cpu"))},
    "exists": {"affinity": affinity(expression("disk", "Exists"))},
    "does-not-exist": {"affinity": affinity(expression("disk", "DoesNotExist"))},
    "greater": {"affinity": affinity(expression("disk", "Gt", "900"))},
    "less": {"affinity": affinity(expression("disk", "Lt", "900"))},
    "either": {"affinity": affinity(expression("agentpool", "In", "gone"), expression("agentpool", "In", "cpu"))},
    "neither": {"affinity": affinity({}, expression("agentpool", "In", "gone"))},
    "by-name": {"affinity": named("full")},
    "by-name-too-big": {"affinity": named("cpu-0"), "requests": {"cpu": "100"}},
    "by-two-names": {"affinity": named("cpu-0", "full")},
    "by-no-name": {"affinity": named("gone")},
    "closed": {"nodeSelector": {"agentpool": "closed"}},
    "closed-tolerated": {
        "nodeSelector": {"agentpool": "closed"},
        "tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}],
    },
    "whole-pod": {"resources": {"requests": {"cpu": "100"}}},
    "init": {"initContainers": [{"name": "init", "image": "i", "resources": {"requests": {"cpu": "100"}}}]},
}
"""Specs of pods, one after the other; `requests` are the container's."""


@pytest.fixture(scope="module")
def mixed(ground: Field) -> Iterator[Field]:
    """Five nodes, each with something about it, and a namespace for pods."""
    ground.clear()
    ground.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    size = "Standard_D8ds_v5"  # without GPUs of its own, so that nobody else touches what the test says of them
    ground.join("cpu-0", size, pool="cpu")
    ground.join("disk", size, pool="disk", labels={"disk": "1000"}, taints=["lent=no:PreferNoSchedule"])
    ground.join("gpu", size, pool="h100gpu", taints=[GPU_TAINT])
    ground.join("closed", size, pool="closed")
    ground.join("full", size, pool="full", taints=["reserved:NoExecute"])
    for name, resources in {"gpu": {"nvidia.com/gpu": "1"}, "full": {"pods": "0"}}.items():
        status = {"status": {"capacity": resources, "allocatable": resources}}
        ground.client.patch(f"/api/v1/nodes/{name}/status", status, MERGE_PATCH)
    ground.client.patch("/api/v1/nodes/closed", {"spec": {"unschedulable": True}}, MERGE_PATCH)
    names = ("cpu-0", "disk", "gpu", "closed", "full")
    ground.until(lambda: all(ground.is_ready(name) and _is_untainted(ground, name) for name in names), "no nodes")
    yield ground
    ground.client.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}")
    ground.clear()


def _is_untainted(place: Field, name: str) -> bool:
    """Whether the taint that a node starts with, until it is ready, is gone."""
    taints: list[dict[str, str]] = at(place.node(name), "spec.taints", [])
    return not any(each["key"] == "node.kubernetes.io/not-ready" for each in taints)


def create(place: Field, name: str, namespace: str = NAMESPACE, **spec: Any) -> dict[str, Any]:
    requests = spec.pop("requests", {})
    extended = {key: value for key, value in requests.items() if "/" in key}
    container = {"name": "main", "image": "image", "resources": {"requests": requests, "limits": extended}}
    body = {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}
    return place.client.request("POST", f"/api/v1/namespaces/{namespace}/pods", body)


def scheduled(place: Field, name: str, namespace: str = NAMESPACE) -> dict[str, Any]:
    """The PodScheduled condition, empty as long as nobody has judged the pod."""
    pod = place.client.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
    return next((each for each in at(pod, "status.conditions", []) if each["type"] == "PodScheduled"), {})


def test_the_scheduler_decides_and_speaks_as_the_model_says(mixed: Field) -> None:
    seen: set[str] = set()
    for name, spec in SPECS.items():
        nodes = mixed.client.get("/api/v1/nodes")["items"]
        pods = mixed.client.get("/api/v1/pods")["items"]
        offers = [Offer.of(node, pods) for node in nodes]
        pod = create(mixed, name, **spec)
        mixed.until(lambda name=name: scheduled(mixed, name).get("status"), f"{name} is not judged")
        condition = scheduled(mixed, name)
        found = mixed.client.get(f"/api/v1/namespaces/{NAMESPACE}/pods/{name}")
        # What plugins add about claims and preemption is no reason; it follows in sentences of its own.
        words, stop, _ = str(condition.get("message", "")).partition(". ")
        assert words + stop.strip() == refusal(pod, offers), name
        host = at(found, "spec.nodeName", "")
        possible = {offer.name for offer in fitting(pod, offers)}
        assert host in possible if possible else host == "", name
        seen |= {host, words.partition(" are available")[0]}
    assert {"cpu-0", "gpu", "closed", "0/5 nodes"} <= seen, "the pods do not tell nodes apart"
