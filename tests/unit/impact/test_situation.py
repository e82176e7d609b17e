"""State of a cluster before a change."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.readiness.reader import Unreachable
from tests.unit.impact.test_work import NODES, READY, pod
from workbench.impact.situation import pools_of, read_situation, upgrades

BUDGET = {"metadata": {"name": "keep", "namespace": "osmo-workflows"}, "spec": {"selector": {}}, "status": {}}


def node(name: str, labels: dict[str, str] | None = None, gpus: str = "1", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"agentpool": "h100gpu", **(labels or {})}},
        "spec": spec,
        "status": {"allocatable": {"nvidia.com/gpu": gpus, "cpu": "8"}},
    }


HELD = node("a", {"nvidia.com/gpu-driver-upgrade-state": "upgrade-required"}, unschedulable=True)
HELD["metadata"]["annotations"] = {"physical-ai/roll": "{}"}


def cluster(*, refuses: str = "") -> Any:
    def get(path: str, parameters: Any) -> Any:
        if refuses and path.endswith(refuses):
            raise Unreachable("403 no", 403)
        kinds = {"nodes": NODES, "pods": [pod(**READY)], "poddisruptionbudgets": [BUDGET]}
        return {"items": kinds[path.rpartition("/")[2]]}

    return get


def test_three_requests_read_work_with_its_budgets() -> None:
    found = read_situation(cluster(), ())
    assert [(each.name, each.budget) for each in found.work] == [("train-0", "osmo-workflows/keep")]
    assert found.doubts == ()


def test_a_login_that_may_not_read_budgets_gets_a_doubt_instead() -> None:
    found = read_situation(cluster(refuses="poddisruptionbudgets"), ())
    assert [each.budget for each in found.work] == [""]
    assert found.doubts == ("disruption budgets could not be read, which keep Pods from a drain (403 no)",)


def test_pods_and_nodes_have_to_be_readable() -> None:
    with pytest.raises(Unreachable):
        read_situation(cluster(refuses="pods"), ())


def test_pools_are_what_their_nodes_are() -> None:
    own = {"physical-ai/gpu-driver": "operator"}
    found = pools_of([node("a", own, gpus="0"), node("b", own, gpus="8"), {"metadata": {"name": "c", "labels": {}}}])
    assert list(found) == ["h100gpu"]
    pool = found["h100gpu"]
    assert (pool.nodes, pool.gpus, pool.vendor, pool.driver) == (2, 8, "NVIDIA", "operator")


@pytest.mark.parametrize(
    ("nodes", "said"),
    [
        ([node("a"), node("b", {"nvidia.com/gpu-driver-upgrade-state": "upgrade-done"})], []),
        (
            [node("a", {"nvidia.com/gpu-driver-upgrade-state": "wait-for-jobs-required"}, unschedulable=True)],
            ["an upgrade of drivers runs already on a, before that of this change can begin"],
        ),
        (
            [HELD],
            ["physai roll holds a: another driver reaches it in turn"],
        ),
        (
            [node("a", {"nvidia.com/gpu-driver-upgrade-state": "upgrade-failed"})],
            ["an upgrade of drivers has failed on a: no other one begins there before a repair"],
        ),
        (
            [node(each, unschedulable=True) for each in "abcde"],
            ["a, b, c and 2 more are cordoned: no new Pod is placed there"],
        ),
    ],
)
def test_upgrades_that_run_already(nodes: list[dict[str, Any]], said: list[str]) -> None:
    assert upgrades(nodes) == said
