"""What the model of the KAI scheduler decides: gangs, queues, and the words for those that wait."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.kubernetes.fit import Offer
from simulator.scheduling.kai.decision import Round, decide
from simulator.scheduling.kai.jobs import jobs_of
from simulator.scheduling.kai.queues import queues_of
from tests.support.scheduling import FREE, GPU_TAINT, gang, kai_pod, node, pod, queue

QUEUES = (queue("root"), queue("leaf", "root"))
CLASSES = tuple({"metadata": {"name": name}, "value": value} for name, value in (("high", 125), ("low", 50)))


def run(
    nodes: list[dict[str, Any]],
    pods: list[dict[str, Any]],
    *groups: dict[str, Any],
    queues: tuple[dict[str, Any], ...] = QUEUES,
) -> Round:
    offers = [Offer.of(each, pods) for each in nodes]
    return decide(jobs_of(pods, groups, CLASSES), queues_of(queues), offers)


def placed(found: Round) -> dict[str, str]:
    return {item["metadata"]["name"]: host for item, host in found.bindings.values()}


def words(found: Round, name: str) -> str:
    return found.refusals[f"uid-{name}"][1]


def gpu_nodes(count: int, gpus: int = 1) -> list[dict[str, Any]]:
    return [node(f"gpu-{number}", GPU_TAINT, gpus=gpus) for number in range(count)]


def test_only_its_own_pods_are_scheduled_and_a_gpu_pod_runs_where_the_gpus_are() -> None:
    found = run([node("cpu"), *gpu_nodes(1)], [kai_pod("a", "g", gpus=1), pod("others")], gang("g", 1))
    assert placed(found) == {"a": "gpu-0"}
    assert found.refusals == {}


def test_a_pod_without_gpus_leaves_gpu_nodes_alone_while_it_can() -> None:
    nodes = [*gpu_nodes(1), node("z-cpu")]
    assert placed(run(nodes, [kai_pod("a", "g")], gang("g", 1))) == {"a": "z-cpu"}
    assert placed(run(nodes[:1], [kai_pod("a", "g")], gang("g", 1))) == {"a": "gpu-0"}


def test_gpus_are_packed() -> None:
    pods = [kai_pod("old", "g", gpus=1, on="gpu-1"), kai_pod("new", "g", gpus=1)]
    assert placed(run(gpu_nodes(2, gpus=2), pods, gang("g", 1))) == {"new": "gpu-1"}


def test_a_gang_starts_together_or_not_at_all() -> None:
    pods = [kai_pod(name, "g", gpus=1) for name in "abc"]
    assert sorted(placed(run(gpu_nodes(3), pods, gang("g", 3))).values()) == ["gpu-0", "gpu-1", "gpu-2"]
    short = run([node("cpu"), *gpu_nodes(2)], pods, gang("g", 3))
    assert placed(short) == {}
    own = "no nodes with enough resources were found: 3 node(s) didn't have enough resources: GPUs."
    assert words(short, "c") == own
    gang_words = (
        "PodSchedulingErrors: Resources were found for 2 pods while 3 are required for gang scheduling. Additional"
        f" pods cannot be scheduled due to: {own}."
    )
    assert (words(short, "a"), words(short, "b")) == (gang_words, gang_words)


def test_beyond_its_minimum_a_gang_takes_what_there_is() -> None:
    found = run(gpu_nodes(2), [kai_pod(name, "g", gpus=1) for name in "abc"], gang("g", 2))
    assert placed(found).keys() == {"a", "b"}
    assert "were not found for pod work/c" in found.jobs["work", "g"][1]


def test_a_gang_that_runs_already_gets_a_lost_pod_back() -> None:
    pods = [kai_pod("a", "g", gpus=1, on="gpu-0"), kai_pod("b", "g", gpus=1)]
    assert placed(run(gpu_nodes(2), pods, gang("g", 2))) == {"b": "gpu-1"}


def test_a_gang_waits_for_its_pods_without_a_message_about_nodes() -> None:
    found = run(gpu_nodes(3), [kai_pod("a", "g", gpus=1)], gang("g", 2))
    assert (found.bindings, found.refusals) == ({}, {})
    assert found.not_ready["work", "g"][1] == (
        "Job is not ready for scheduling. Waiting for 2 pods, currently 1 exist, 0 are gated"
    )


def test_a_gated_pod_is_not_scheduled() -> None:
    gated = kai_pod("a", "g", schedulingGates=[{"name": "wait"}])
    assert run(gpu_nodes(1), [gated], gang("g", 1)).bindings == {}


@pytest.mark.parametrize("label", [None, "nowhere"])
def test_a_pod_of_a_queue_that_does_not_exist_remains_pending(label: str | None) -> None:
    alone = kai_pod("a", gpus=1)
    if label:
        alone["metadata"]["labels"] = {"kai.scheduler/queue": label}
    found = run(gpu_nodes(1), [alone])
    assert found.bindings == {}
    assert words(found, "a") == f"QueueDoesNotExist: Queue '{label or 'default-queue'}' does not exist."


def test_a_pod_alone_is_scheduled_by_its_label() -> None:
    alone = kai_pod("a", gpus=1)
    alone["metadata"]["labels"] = {"kai.scheduler/queue": "leaf"}
    assert placed(run(gpu_nodes(1), [alone])) == {"a": "gpu-0"}


def test_a_queue_below_one_that_does_not_exist_schedules_nothing() -> None:
    for queues in ((queue("leaf", "root"),), (queue("leaf", "mid"), queue("mid", "root"))):
        found = run(gpu_nodes(1), [kai_pod("a", "g", gpus=1)], gang("g", 1), queues=queues)
        assert words(found, "a") == "QueueDoesNotExist: Queue 'leaf' does not exist."


def test_a_queue_above_others_schedules_nothing_itself() -> None:
    found = run(gpu_nodes(1), [kai_pod("a", "g", gpus=1)], gang("g", 1, "root"))
    assert words(found, "a") == "Unable to schedule pod"
    assert found.jobs["work", "g"][1] == "Unable to schedule podgroup"


@pytest.mark.parametrize("where", ["leaf", "root"])
def test_a_limit_binds_the_queue_and_those_below_it(where: str) -> None:
    limited = {"root": FREE, "leaf": FREE, where: {"limit": 2}}
    queues = (queue("root", gpu=limited["root"]), queue("leaf", "root", gpu=limited["leaf"]))
    pods = [kai_pod("old", "g", gpus=1, on="gpu-0"), kai_pod("a", "h", gpus=1), kai_pod("b", "i", gpus=1)]
    found = run(gpu_nodes(3), pods, *(gang(name, 1) for name in "ghi"), queues=queues)
    assert placed(found) == {"a": "gpu-1"}
    assert words(found, "b") == (
        f"OverLimit: {where} quota has reached the allowable limit of GPUs."
        " Limit is 2 GPUs, currently 2 GPUs allocated and workload requested 1 GPUs."
    )


def test_a_gang_over_the_limit_does_not_start_with_a_part_of_it() -> None:
    queues = (queue("root"), queue("leaf", "root", gpu={"limit": 2}))
    pods = [kai_pod(name, "g", gpus=1) for name in "abc"]
    assert run(gpu_nodes(3), pods, gang("g", 3), queues=queues).bindings == {}


def test_a_resource_that_a_queue_does_not_name_is_not_to_be_had() -> None:
    bare = {"metadata": {"name": "leaf"}, "spec": {"resources": {"gpu": {"quota": -1, "limit": -1}}}}
    found = run(gpu_nodes(1), [kai_pod("a", "g", gpus=1, cpu="500m")], gang("g", 1), queues=(bare,))
    assert "allowable limit of CPU cores. Limit is 0 cores, currently 0 cores" in words(found, "a")
    assert "requested 0.5 cores" in words(found, "a")


def test_what_cannot_be_preempted_remains_within_the_quota_and_the_rest_exceeds_it() -> None:
    queues = (queue("root"), queue("leaf", "root", gpu={"quota": 1}))
    pods = [kai_pod("old", "g", gpus=1, on="gpu-0"), kai_pod("new", "h", gpus=1)]
    low = run(gpu_nodes(2), pods, gang("g", 1, priorityClassName="high"), gang("h", 1), queues=queues)
    assert placed(low) == {"new": "gpu-1"}
    groups = (gang("g", 1, priorityClassName="high"), gang("h", 1, priorityClassName="high"))
    assert words(run(gpu_nodes(2), pods, *groups, queues=queues), "new") == (
        "NonPreemptibleOverQuota: Non-preemptible workload is over quota. Workload requested 1 GPUs, but leaf quota is"
        " 1 GPUs, while 1 GPUs are already allocated for non-preemptible pods. Use a preemptible workload to go over"
        " quota.."
    )


def test_priority_precedes_age_and_a_queue_below_its_quota_before_one_above() -> None:
    one = gpu_nodes(1)
    pods = [kai_pod("a", "g", gpus=1), kai_pod("b", "h", gpus=1)]
    found = run(one, pods, gang("g", 1), gang("h", 1, priorityClassName="high"))
    assert placed(found) == {"b": "gpu-0"}

    queues = (queue("root"), queue("poor", "root", gpu={"quota": 1}), queue("rich", "root", gpu={"quota": 0}))
    rivals = [gang("g", 1, "rich", priorityClassName="low"), gang("h", 1, "poor", priorityClassName="low")]
    assert placed(run(one, pods, *rivals, queues=queues)) == {"b": "gpu-0"}


def test_over_quota_is_shared_by_weight() -> None:
    heavy = queue("heavy", "root", gpu={"quota": 0, "overQuotaWeight": 3})
    queues = (queue("root"), heavy, queue("light", "root", gpu={"quota": 0}))
    pods = [kai_pod(f"{name}{number}", f"{name}{number}", gpus=1) for name in "hl" for number in range(4)]
    groups = [gang(f"{name}{n}", 1, full) for name, full in (("h", "heavy"), ("l", "light")) for n in range(4)]
    found = placed(run(gpu_nodes(4), pods, *groups, queues=queues))
    assert sorted(name[0] for name in found) == ["h", "h", "h", "l"]
