"""Queues as KAI v0.17.0 counts them, and the parts of its groups: proportion, elastic, podgroup_info."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.scheduling.kai.fair_share import fair_shares
from simulator.scheduling.kai.jobs import PART_LABEL
from simulator.scheduling.kai.queues import human, queues_of, share_of
from tests.support.scheduling import GPU_TAINT, gang, kai_pod, node, queue
from tests.unit.simulator.test_scheduling_kai import gpu_nodes, placed, run, words


def member(name: str, part: str, **given: Any) -> dict[str, Any]:
    made = kai_pod(name, "g", gpus=1, **given)
    made["metadata"]["labels"] = {PART_LABEL: part}
    return made


def parted(**least: int) -> dict[str, Any]:
    """A group with subgroups of these minima."""
    made = gang("g", 1, subGroups=[{"name": name, "minMember": count} for name, count in least.items()])
    del made["spec"]["minMember"]
    return made


def test_a_limit_is_named_before_a_quota_and_cores_before_gpus() -> None:
    tight = {"quota": 0, "limit": 0}
    queues = (queue("root"), queue("leaf", "root", gpu=tight, cpu=tight))
    found = run(gpu_nodes(1), [kai_pod("a", "g", gpus=1)], gang("g", 1, priorityClassName="high"), queues=queues)
    assert words(found, "a").startswith("OverLimit: leaf quota has reached the allowable limit of CPU cores.")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [(-1, 1, "Unlimited"), (1500, 1000, "1.5"), (1234567, 1000, "1234.567"), (2 / 3, 1, "0.666"), (3e7, 1, "30000000")],
)
def test_amounts_are_written_as_kai_writes_them(value: float, unit: float, text: str) -> None:
    assert human(value, unit) == text


def test_a_mig_profile_counts_as_its_slices() -> None:
    assert share_of({"nvidia.com/mig-3g.40gb": 2, "nvidia.com/gpu": 1, "nvidia.com/gpu.shared": 5})["gpu"] == 7


def test_of_a_resource_that_no_node_has_enough_of_the_largest_is_named() -> None:
    """The usual case: the pool for it has no node yet."""
    found = run([node("cpu")], [kai_pod("a", "g", gpus=1, cpu="1500m")], gang("g", 1))
    assert words(found, "a") == (
        "Scheduling conditions were not met for pod work/a:\nMaxNodePoolResources: The pod work/a requires GPU: 1,"
        " CPU: 1.5 (cores), memory: 0 (GB), pods: 1. No node in the default node-pool has GPU resources.\n"
    )
    large = words(run([node("cpu")], [kai_pod("a", "g", cpu="100")], gang("g", 1)), "a")
    assert "Max CPU resources available in a single node in the default node-pool is topped at 8 cores.\n" in large


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"spec": {"unschedulable": True}}, "node is unschedulable"),
        ({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}, "node has NotReady condition"),
        ({"status": {"conditions": [{"type": "PIDPressure", "status": "True"}]}}, "node has PIDPressure condition"),
    ],
)
def test_a_node_that_takes_nothing_is_passed_over_whatever_a_pod_tolerates(broken: Any, reason: str) -> None:
    host = node("gpu-0", GPU_TAINT, gpus=1)
    host = {**host, **{key: {**host[key], **value} for key, value in broken.items()}}
    pod = kai_pod("a", "g", gpus=1, tolerations=[{"operator": "Exists"}])
    assert words(run([host], [pod], gang("g", 1)), "a").endswith(f"were found: 1 {reason}.")


def test_each_part_of_a_group_needs_its_own_minimum() -> None:
    pods = [member("a", "lead"), member("b", "work"), member("c", "work")]
    waits = run(gpu_nodes(3), pods[:2], parted(lead=1, work=2))
    assert waits.not_ready["work", "g"][1] == (
        "Job is not ready for scheduling. Waiting for 2 pods for SubGroup work, currently 1 exist, 0 are gated."
    )
    assert placed(run(gpu_nodes(3), pods, parted(lead=1, work=2))).keys() == {"a", "b", "c"}
    short = run(gpu_nodes(2), pods, parted(lead=1, work=2))
    assert placed(short) == {}
    assert "Resources were found for 1 pods from all sub-groups while sub-group work requires 2 pods" in words(
        short, "a"
    )


def test_a_subgroup_with_subgroups_has_no_minimum_of_its_own() -> None:
    group = parted(lead=1, work=1)
    group["spec"]["subGroups"] += [{"name": "all", "minMember": 9}]
    for part in group["spec"]["subGroups"][:2]:
        part["parent"] = "all"
    assert placed(run(gpu_nodes(2), [member("a", "lead"), member("b", "work")], group)).keys() == {"a", "b"}


def test_a_pod_of_a_part_that_its_group_does_not_have_is_told_so() -> None:
    found = run(gpu_nodes(2), [member("a", "lead"), member("b", "gone")], parted(lead=1))
    assert placed(found).keys() == {"a"}
    assert words(found, "b") == 'Pod references subgroup "gone", which does not exist in PodGroup work/g'


def test_a_group_of_gated_pods_says_that_it_waits() -> None:
    found = run(gpu_nodes(1), [kai_pod("a", "g", schedulingGates=[{"name": "wait"}])], gang("g", 1))
    assert found.not_ready["work", "g"][1].endswith("Waiting for 1 pods, currently 1 exist, 1 are gated")


def test_priority_is_that_of_the_group_and_not_of_its_pods() -> None:
    pods = [kai_pod("a", "g", gpus=1), kai_pod("b", "h", gpus=1, priorityClassName="high")]
    assert placed(run(gpu_nodes(1), pods, gang("g", 1), gang("h", 1))) == {"a": "gpu-0"}


def test_groups_beyond_their_minimum_grow_in_turns() -> None:
    pods = [kai_pod(f"{name}{number}", name, gpus=1) for name in "gh" for number in range(3)]
    assert sorted(name[0] for name in placed(run(gpu_nodes(4), pods, gang("g", 1), gang("h", 1)))) == [
        "g",
        "g",
        "h",
        "h",
    ]


def gpus(*queues: dict[str, Any], total: int = 8, **asked: int) -> dict[str, float]:
    """The GPUs that are due to each queue."""
    shares = queues_of((queue("root"), *queues))
    for name, amount in asked.items():
        shares.ask(name, share_of({"nvidia.com/gpu": amount}))
    found = fair_shares(share_of({"nvidia.com/gpu": total}), shares)
    return {name: found[name]["gpu"] for name in asked}


def part(name: str, quota: float = 0, weight: float = 1, limit: float = -1, **spec: Any) -> dict[str, Any]:
    made = queue(name, "root", gpu={"quota": quota, "overQuotaWeight": weight, "limit": limit})
    made["spec"] |= spec
    return made


@pytest.mark.parametrize(
    ("queues", "asked", "due"),
    [
        ((part("a", 2), part("b", 4)), {"a": 8, "b": 8}, {"a": 3, "b": 5}),  # quotas, and the rest by weight
        ((part("a", weight=3), part("b")), {"a": 8, "b": 8}, {"a": 6, "b": 2}),
        ((part("a", weight=2), part("b")), {"a": 8, "b": 8}, {"a": 5, "b": 3}),  # a remainder is not lost
        ((part("a", 6), part("b")), {"a": 1, "b": 8}, {"a": 1, "b": 7}),  # what nobody asks for goes on
        ((part("a", limit=2), part("b")), {"a": 8, "b": 8}, {"a": 2, "b": 6}),
        ((part("a", weight=0), part("b")), {"a": 8, "b": 2}, {"a": 0, "b": 2}),
        ((part("a", priority=200), part("b")), {"a": 5, "b": 8}, {"a": 5, "b": 3}),
        ((part("a", -1), part("b")), {"a": 3, "b": 8}, {"a": 3, "b": 5}),
    ],
)
def test_what_is_due_to_queues(queues: Any, asked: dict[str, int], due: dict[str, float]) -> None:
    assert gpus(*queues, **asked) == due


def test_a_queue_divides_what_it_is_due_among_those_below_it() -> None:
    below = queue("c", "a", gpu={"quota": 0})
    assert gpus(part("a"), part("b"), below, b=8, c=8) == {"b": 4, "c": 4}


def test_a_job_that_stays_within_its_queues_quota_precedes_one_that_does_not() -> None:
    queues = (queue("root"), part("old", 3, 8), part("new", 2, 1))
    running = {"r0": "old", "r1": "old", "r2": "new"}
    pods = [kai_pod(name, name, gpus=1, on=f"gpu-{number}") for number, name in enumerate(running)]
    pods += [kai_pod("o", "o", gpus=2), kai_pod("n", "n", gpus=2)]
    groups = [gang(name, 1, where) for name, where in ({**running, "o": "old", "n": "new"}).items()]
    nodes = [*gpu_nodes(3), node("gpu-3", GPU_TAINT, gpus=2)]
    assert placed(run(nodes, pods, *groups, queues=queues)) == {"o": "gpu-3"}, "both would exceed their quota"
    pods[-1] = kai_pod("n", "n", gpus=1)
    assert placed(run(nodes, pods, *groups, queues=queues)) == {"n": "gpu-3"}
