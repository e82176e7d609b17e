"""What holds of the scheduling models whatever the cluster is like."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from physical_ai.kubernetes.fit import Offer, requests, why_not
from simulator.azure.autoscaling import ScaledPool
from simulator.scheduling.autoscaler.growth import Group, scale_up
from simulator.scheduling.kai.decision import decide
from simulator.scheduling.kai.jobs import jobs_of
from simulator.scheduling.kai.queues import queues_of
from tests.support.scheduling import GPU, GPU_TAINT, GPU_TOLERATED, gang, kai_pod, node, pod, queue, unschedulable

NODES = st.lists(st.tuples(st.booleans(), st.integers(0, 4)), max_size=5)
GANGS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 2), st.sampled_from("xy"), st.booleans()),
    max_size=5,
)
LIMITS = st.tuples(*(st.sampled_from((-1, 0, 1, 2, 5)),) * 3)


def cluster(shape: list[tuple[bool, int]]) -> list[dict[str, Any]]:
    return [
        node(f"node-{number}", *((GPU_TAINT,) if tainted else ()), gpus=gpus)
        for number, (tainted, gpus) in enumerate(shape)
    ]


@given(NODES, GANGS, LIMITS)
def test_kai_never_splits_a_gang_nor_overfills_a_node_or_a_queue(
    shape: list[tuple[bool, int]],
    gangs: list[tuple[int, int, int, str, bool]],
    limits: tuple[int, int, int],
) -> None:
    nodes = cluster(shape)
    pods: list[dict[str, Any]] = []
    groups: list[dict[str, Any]] = []
    for number, (least, extra, gpus, where, tolerates) in enumerate(gangs):
        groups.append(gang(f"g{number}", least, where))
        more = {} if tolerates else {"tolerations": []}
        pods += [kai_pod(f"p{number}-{i}", f"g{number}", gpus=gpus, cpu="2", **more) for i in range(least + extra)]
    bounds: dict[str, int] = {"root": limits[0], "x": limits[1], "y": limits[2]}
    queues = [
        queue(key, "" if key == "root" else "root", gpu={"limit": most, "quota": most}) for key, most in bounds.items()
    ]
    found = decide(jobs_of(pods, groups, []), queues_of(queues), [Offer.of(each) for each in nodes])

    assert set(found.bindings) | set(found.refusals) == {each["metadata"]["uid"] for each in pods}
    assert not set(found.bindings) & set(found.refusals)
    offers = {each["metadata"]["name"]: Offer.of(each) for each in nodes}
    started, used = Counter[str](), Counter[str]()
    for item, host in found.bindings.values():
        assert why_not(item, offers[host]) == (), "a pod went where it does not fit"
        offers[host] = offers[host].with_pod(item)
        number = int(item["metadata"]["name"][1:].partition("-")[0])
        started[f"g{number}"] += 1
        for key in (gangs[number][3], "root"):
            used[key] += requests(item)[GPU]
    assert all(count >= gangs[int(key[1:])][0] for key, count in started.items()), "a gang started in part"
    assert all(bounds[key] == -1 or count <= bounds[key] for key, count in used.items())


POOLS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 2), st.integers(0, 3), st.integers(0, 3), st.booleans()), max_size=4
)
WISHES = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9), st.booleans()), max_size=8)


@given(NODES, POOLS, WISHES)
def test_the_autoscaler_grows_within_bounds_for_pods_that_fit_and_answers_the_others(
    shape: list[tuple[bool, int]],
    shapes: list[tuple[bool, int, int, int, bool]],
    wishes: list[tuple[int, int, bool]],
) -> None:
    groups: list[Group] = []
    for number, (tainted, gpus, count, more, backoff) in enumerate(shapes):
        made = node(f"template-{number}", *((GPU_TAINT,) if tainted else ()), gpus=gpus)
        pool = ScaledPool(f"pool-{number}", f"vmss-{number}", 0, count + more, count, {}, made)
        groups.append(Group(pool, Offer.of(made), in_backoff=backoff))
    pods = [unschedulable(pod(f"p{number}", gpus=gpus, cpu=str(cpus))) for number, (gpus, cpus, _) in enumerate(wishes)]
    for item, (_, _, tolerates) in zip(pods, wishes, strict=True):
        item["spec"]["tolerations"] = GPU_TOLERATED if tolerates else []
    offers = [Offer.of(each) for each in cluster(shape)]
    found = scale_up(pods, offers, groups)
    growth = found.growth
    if growth is None:
        for given_up, message in found.refused:
            assert not any(not why_not(given_up, group.template) and not group.obstacle for group in groups)
            assert message.startswith("pod didn't trigger scale-up: ")
        return
    assert found.refused == ()
    assert 1 <= growth.added <= growth.group.pool.most - growth.group.pool.count
    assert not growth.group.in_backoff
    assert growth.added <= len(growth.pods), "a node more than there are pods for"
    assert all(not why_not(each, growth.group.template) for each in growth.pods)
    after = scale_up([each for each in pods if each in growth.pods], [growth.group.template] * growth.added, groups)
    assert (after.growth, after.refused) == (None, ()), "the nodes do not take the pods they were made for"
