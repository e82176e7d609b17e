"""Pods that wait for the GPUs of their resource claims: the cause, with what they ask for and what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from physical_ai.readiness.workloads import explain, read_workloads
from tests.support import workload_objects as make
from tests.support.cases import in_one_test
from tests.support.workload_objects import WHERE, Scene, node, on, pod, unschedulable, without_gpus

Json = dict[str, Any]
HOST = "aks-h100gpu-0"
NONE = "0/3 nodes are available: 3 cannot allocate all claims. still not schedulable."
NODES = (node("system"), node("cpu"), without_gpus(node("h100gpu")))
BIG = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('200G')) >= 0"


def slice_of(count: int) -> Json:
    attributes = {
        "type": {"string": "gpu"},
        "productName": {"string": "NVIDIA H100 NVL"},
        "architecture": {"string": "Hopper"},
    }
    device = {"attributes": attributes, "capacity": {"memory": {"value": "95830Mi"}}}
    return {
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": HOST,
            "pool": {"name": HOST, "generation": 1},
            "devices": [{"name": f"gpu-{index}", **device} for index in range(count)],
        }
    }


def claim(name: str, expression: str = "", device: str = "") -> Json:
    exactly: Json = {"deviceClassName": "gpu.nvidia.com", "count": 1}
    if expression:
        exactly["selectors"] = [{"cel": {"expression": expression}}]
    results = [{"driver": "gpu.nvidia.com", "pool": HOST, "device": device}]
    return {
        "metadata": {"name": name, "namespace": WHERE},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
        "status": {"allocation": {"devices": {"results": results}}} if device else {},
    }


def waiting(message: str = NONE, **spec: Any) -> Json:
    item = pod(gpus=0, resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}], **spec)
    return unschedulable(item, message)


def scene(
    item: Json, *, slices: Sequence[Json] = (), claims: Sequence[Json] = (), events: Sequence[Json] = ()
) -> Scene:
    return Scene((item,), NODES, {"slices": slices, "claims": claims, "events": events})


def not_created(message: str) -> Scene:
    item = waiting("")
    return scene(item, events=[make.event(item, "FailedResourceClaimCreation", f"PodResourceClaim gpu: {message}")])


OF_CLAIMS: dict[str, Scene] = {
    "claim-not-created": not_created('resource claim template "h10": resourceclaimtemplate "h10" not found'),
    "claim-quota": not_created("create ResourceClaim train-0-gpu-: forbidden: exceeded quota: gpu-claims"),
    "claim-over-quota": not_created(
        "create ResourceClaim train-0-gpu-: forbidden: exceeded quota: gpu-claims, requested: gpu.nvidia.com"
        ".deviceclass.resource.k8s.io/devices=99, used: gpu.nvidia.com.deviceclass.resource.k8s.io/devices=0, "
        "limited: gpu.nvidia.com.deviceclass.resource.k8s.io/devices=16"
    ),
    "claim-missing": scene(waiting(""), claims=[claim("other")]),
    "claim-class": scene(
        waiting("request gpu: device class h10.gpu.physical-ai does not exist"), claims=[claim("mine")]
    ),
    "claim-no-devices": scene(waiting(), claims=[claim("mine")]),
    "claim-in-use": scene(waiting(), slices=[slice_of(1)], claims=[claim("mine"), claim("theirs", device="gpu-0")]),
    "claim-no-match": scene(waiting(), slices=[slice_of(2)], claims=[claim("mine", BIG), claim("a", device="gpu-0")]),
    "claim-prepare": Scene(
        (started := on(HOST, pod(gpus=0), status=make.waiting("ContainerCreating")),),
        NODES,
        {"events": [make.event(started, "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: x")]},
    ),
}


@in_one_test("cause", sorted(OF_CLAIMS))
def test_a_cause_is_named_and_nothing_else(cause: str) -> None:
    found = explain("train-0", OF_CLAIMS[cause].workloads())[1]
    assert [each.cause for each in found] == [cause]
    assert "?" not in found[0].reason + found[0].fix


def test_what_is_asked_for_and_what_is_free_is_shown() -> None:
    [found] = explain("train-0", OF_CLAIMS["claim-no-match"].workloads())[1]
    assert f"1 × gpu.nvidia.com where {BIG}" in found.reason
    assert "1 × NVIDIA H100 NVL (Hopper, 95830Mi)" in found.reason
    [held] = explain("train-0", OF_CLAIMS["claim-in-use"].workloads())[1]
    assert f"{WHERE}/theirs" in held.reason


def test_a_taint_is_the_cause_where_all_gpus_for_claims_are_behind_it() -> None:
    item = waiting(tolerations=[])
    found = explain("train-0", scene(item, slices=[slice_of(1)], claims=[claim("mine")]).workloads())[1]
    assert [each.cause for each in found] == ["toleration-missing"]
    assert "nvidia.com/gpu=present:NoSchedule" in found[0].reason


@pytest.mark.parametrize("has_claim", [True, False])
def test_claims_are_read_only_where_a_pod_has_one(has_claim: bool) -> None:
    asked: list[str] = []
    item = waiting() if has_claim else pod()

    def get(path: str, _: Any) -> Json:
        asked.append(path)
        return {"items": [item] if path == "/api/v1/pods" else []}

    read_workloads(get, (), (), "dev-westus2")
    assert any("resource.k8s.io" in path for path in asked) is has_claim
