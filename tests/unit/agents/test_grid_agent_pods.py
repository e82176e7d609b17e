"""What the GRID agent reads from Pods: whether they use GPUs, whether they looked for the driver too early."""

from __future__ import annotations

from typing import Any

import pytest

from grid_agent.pods import amount_of, is_operand, pod_from, uses_gpus
from tests.support.cases import in_one_test


def _pod(**status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "namespace": "gpu-operator",
            "name": "v-1",
            "uid": "u",
            "labels": {"app": "nvidia-operator-validator"},
        },
        "spec": {"initContainers": [{"name": "driver-validation"}, {"name": "toolkit-validation"}], "containers": [{}]},
        "status": status,
    }


def test_a_pod_looks_until_its_first_init_container_has_succeeded() -> None:
    running = {"running": {"startedAt": "2026-11-21T10:00:00Z"}}
    waiting = {"waiting": {"reason": "PodInitializing"}}
    done = {"terminated": {"exitCode": 0, "startedAt": "2026-11-21T10:00:00Z"}}
    looking = pod_from(_pod(phase="Pending", initContainerStatuses=[{"state": running}, {"state": waiting}]))
    assert looking.looking
    assert looking.begun == 1795255200.0
    assert not pod_from(_pod(initContainerStatuses=[{"state": done}, {"state": running}])).looking
    assert pod_from(_pod(phase="Pending")).begun is None


def test_pods_that_have_ended_do_not_block() -> None:
    asks = {"containers": [{"resources": {"limits": {"nvidia.com/mig-1g.24gb": "1"}}}]}
    pod = {"metadata": {"namespace": "a", "name": "b"}, "spec": asks, "status": {"phase": "Running"}}
    assert uses_gpus(pod)
    assert not uses_gpus({**pod, "status": {"phase": "Succeeded"}})
    assert not is_operand(pod)


@in_one_test(
    ("quantity", "amount"),
    [("1", 1), ("0", 0), ("1k", 1000), ("2Ki", 2048), ("1e1", 10), ("1000m", 1), ("many", 1), ("", 1), ("9" * 400, 1)],
)
def test_a_limit_is_read_whatever_it_is(quantity: str, amount: int) -> None:
    assert amount_of(quantity) == amount


@pytest.mark.parametrize(
    ("spec", "owner", "counts"),
    [
        ({"resourceClaims": [{"name": "gpu"}]}, "Job", True),
        ({"runtimeClassName": "nvidia"}, "Job", True),
        ({"runtimeClassName": "nvidia"}, "DaemonSet", False),
        ({"containers": [{"resources": {"limits": {"nvidia.com/gpu": "1k"}}}]}, "DaemonSet", True),
        ({"containers": [{"resources": {"limits": {"cpu": "1k"}}}]}, "Job", False),
    ],
    ids=["claim", "runtime class", "runtime class of a DaemonSet", "limit", "no GPU"],
)
def test_idle_pods_that_may_have_devices_count(spec: dict[str, Any], owner: str, counts: bool) -> None:
    metadata = {"namespace": "a", "name": "b", "ownerReferences": [{"kind": owner}]}
    assert uses_gpus({"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}) is counts


@pytest.mark.parametrize(
    "pod",
    [
        {},
        {"metadata": None, "spec": None, "status": None},
        {"spec": {"containers": [None, 5], "initContainers": {}}, "status": {"initContainerStatuses": [None]}},
        {"status": {"containerStatuses": [{"state": {"running": {"startedAt": "yesterday"}}}]}},
    ],
)
def test_a_pod_of_an_odd_shape_stops_nothing(pod: dict[str, Any]) -> None:
    assert pod_from(pod).begun is None
    assert not uses_gpus(pod)
