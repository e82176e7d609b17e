"""What holds of the scheduling models whatever the cluster is like."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simulator.scheduling.fit import Offer, requests, why_not
from simulator.scheduling.kai.decision import decide
from simulator.scheduling.kai.jobs import jobs_of
from simulator.scheduling.kai.queues import queues_of
from tests.scheduling import GPU, GPU_TAINT, gang, kai_pod, node, queue

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

    assert set(found.bindings) | set(found.refusals) == {pod["metadata"]["uid"] for pod in pods}
    assert not set(found.bindings) & set(found.refusals)
    offers = {each["metadata"]["name"]: Offer.of(each) for each in nodes}
    started, used = Counter[str](), Counter[str]()
    for pod, host in found.bindings.values():
        assert why_not(pod, offers[host]) == (), "a pod went where it does not fit"
        offers[host] = offers[host].with_pod(pod)
        number = int(pod["metadata"]["name"][1:].partition("-")[0])
        started[f"g{number}"] += 1
        for key in (gangs[number][3], "root"):
            used[key] += requests(pod)[GPU]
    assert all(count >= gangs[int(key[1:])][0] for key, count in started.items()), "a gang started in part"
    assert all(bounds[key] == -1 or count <= bounds[key] for key, count in used.items())
