"""Changes that concern the work of some pools alone, and drains that some work keeps from ending."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from physical_ai.planning.grid_driver import GridPlan
from simulator.cluster.names import NIC_LABEL
from tests.support.cases import in_one_test
from tests.unit.impact.test_judging import (
    CLUSTER,
    NOW,
    POOLS,
    SERVICE,
    WAITING,
    Planned,
    driver,
    fate,
    pool,
    release,
    resized,
    training,
)
from workbench.impact import Fate, Work, judge
from workbench.impact.pools import PoolFacts
from workbench.impact.telling import document, headline, sentences

AMD_POOLS = {**POOLS, "mi300": PoolFacts("mi300", 1, 8, "MI300X", "operator", vendor="AMD")}
AMD_WORK = training(pool="mi300", vendor="AMD", gang="")
DEVICES = Planned("DeviceConfig", "update", ("spec.driver",), {"spec": {"selector": {"agentpool": "mi300"}}})
NICS = Planned(
    "NicClusterPolicy",
    "update",
    ("spec.ofedDriver",),
    {
        "spec": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": "agentpool", "operator": "In", "values": ["h100gpu"]},
                                {
                                    "key": NIC_LABEL,
                                    "operator": "In",
                                    "values": ["true"],
                                },
                            ]
                        }
                    ]
                }
            }
        }
    },
)
LAYOUT = Planned("ConfigMap", "update", ("data.mig-parted-config",))
CLAIM = Planned("ResourceClaim", "replace")


@in_one_test(
    ("change", "work", "expected"),
    [
        (DEVICES, AMD_WORK, (Fate.ENDED, False)),
        (DEVICES, training(), (Fate.UNTOUCHED, True)),
        (release("gpu-operator", op="delete"), AMD_WORK, (Fate.UNTOUCHED, True)),
        (release("gpu-operator", op="delete"), training(pool="", node="n", vendor="AMD"), (Fate.UNTOUCHED, True)),
        (release("gpu-operator", op="delete"), training(pool="unknown"), (Fate.ENDED, True)),
        (NICS, training(), (Fate.CUT, False)),
        (NICS, AMD_WORK, (Fate.UNTOUCHED, True)),
        (NICS, training(gpus=0), (Fate.UNTOUCHED, True)),
        (LAYOUT, training(), (Fate.UNTOUCHED, True)),
        (LAYOUT, training(pool="mig"), (Fate.ENDED, False)),
        (CLAIM, replace(WAITING, by_claims=True), (Fate.WAITS, True)),
        (CLAIM, WAITING, (Fate.UNTOUCHED, True)),
    ],
)
def test_changes_of_one_kind_of_gpus_leave_others_alone(
    change: Planned, work: Work, expected: tuple[Fate, bool]
) -> None:
    pools = {**AMD_POOLS, "mig": PoolFacts("mig", 1, 7, labels={"nvidia.com/mig.config": "all-1g.10gb"})}
    (effect,) = judge([change], [work], pools, NOW).effects
    assert (effect.fate, effect.sure) == expected


HELD = replace(SERVICE, budget="team/keep")


@pytest.mark.parametrize(
    "change", [pool("update", "orchestratorVersion"), driver("spec.version"), resized(4, 1)], ids=lambda each: each.kind
)
def test_a_node_that_never_drains_keeps_its_work_and_says_why(change: Planned) -> None:
    found = judge([change], [HELD], POOLS, NOW)
    assert [(each.fate, each.sure) for each in found.effects] == [(Fate.UNTOUCHED, False)]
    (line, *_) = sentences(found, CLUSTER)
    assert line.startswith("Deployment team/web: may keep running on a node whose upgrade fails (")
    assert "the budget team/keep allows no eviction, so the drain of the node fails" in line


def test_a_budget_holds_nothing_that_is_deleted_without_a_drain() -> None:
    assert fate(pool("replace"), HELD) == (Fate.RESTARTED, True)


def test_tasks_for_which_an_upgrade_waits_are_named() -> None:
    found = judge([driver("spec.version")], [training()], POOLS, NOW)
    assert found.notes == ("nodes wait until this work has ended, without a limit: workflow train-1",)


@pytest.mark.parametrize(
    ("node", "sure"), [("node-a", True), ("node-b", False)], ids=["the same node", "another node of the pool"]
)
def test_a_node_that_waits_for_a_task_holds_up_the_others_of_its_pool(node: str, sure: bool) -> None:
    service = replace(SERVICE, node=node)
    (effect, _) = judge([driver("spec.version")], [training(), service], POOLS, NOW).effects
    assert (effect.work.owner, effect.fate, effect.sure) == (SERVICE.owner, Fate.RESTARTED, sure)
    assert ("its node's turn may come only after nodes that wait for work" in effect.reasons) is not sure


def test_a_gang_across_two_pools_that_both_change_ends_once_with_both_reasons() -> None:
    other = training(name="train-1", node="node-b", pool="rtxprogpu", task="sim")
    changes = [pool("replace"), pool("delete", name="rtxprogpu")]
    found = judge(changes, [training(), other], POOLS, NOW)
    assert [(each.fate, each.sure) for each in found.effects] == [(Fate.ENDED, True)] * 2
    assert headline(found, CLUSTER).startswith("Ends 1 workflow (12 GPU-hours")
    (line, *_) = sentences(found, CLUSTER)
    assert "h100gpu: the node pool is deleted without a drain, and created again" in line
    assert "rtxprogpu: the node pool is deleted, without a drain" in line


@pytest.mark.parametrize(("nodes", "after", "removed"), [(4, 3, 1), (4, 4, 0), (1, 3, 0)])
def test_a_pool_that_the_autoscaler_has_enlarged_shrinks_to_its_fixed_size(
    nodes: int, after: int, removed: int
) -> None:
    old = {"agentPoolName": "h100gpu", "count": 1, "enableAutoScaling": True, "maxCount": 4}
    new = {"agentPoolName": "h100gpu", "count": after, "enableAutoScaling": False}
    change = Planned("AgentPool", "update", ("count", "enableAutoScaling", "maxCount"), old, new)
    found = judge([change], [training()], {"h100gpu": replace(POOLS["h100gpu"], nodes=nodes)}, NOW)
    assert [(each.fate, each.sure) for each in found.effects] == [
        (Fate.ENDED, False) if removed else (Fate.UNTOUCHED, True)
    ]
    assert [each.nodes for each in found.outages] == ([removed] if removed else [])


def test_doubts_are_said_below_the_judgement() -> None:
    seen = replace(CLUSTER, doubts=("an upgrade runs",))
    found = judge([pool("replace")], [training()], POOLS, NOW)
    assert "Less certain: an upgrade runs." in sentences(found, seen)
    assert document(found, seen)["lessCertain"] == ["an upgrade runs"]


def grid(
    *,
    upgrade: str,
    strategy: str = "RollingUpdate",
    before: str = "1",
    after: str = "2",
    others: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
    **more: str,
) -> Planned:
    def inputs(version: str) -> dict[str, object]:
        plan = GridPlan({"rtxprogpu": {"version": version, "upgrade": upgrade, **more}, **others}, (), "docker.io")
        template = {"metadata": {"annotations": {"physical-ai/grid-driver-wanted": plan.document}}}
        spec = {"template": template, "updateStrategy": {"type": strategy}}
        return {"metadata": {"name": "gpu-grid-driver-installer"}, "spec": spec}

    return Planned("DaemonSet", "update", ("spec.template",), inputs(before), inputs(after))


OTHER = {"a10gpu": {"version": "1", "upgrade": "drain"}}
VGPU_TASK = training(pool="rtxprogpu", gang="")
VGPU_SERVICE = replace(SERVICE, pool="rtxprogpu")


@in_one_test(
    ("change", "work", "expected"),
    [
        (grid(upgrade="wait"), VGPU_TASK, (Fate.UNTOUCHED, True)),
        (grid(upgrade="wait"), VGPU_SERVICE, (Fate.UNTOUCHED, True)),
        (grid(upgrade="drain"), VGPU_TASK, (Fate.ENDED, True)),
        (grid(upgrade="drain"), replace(VGPU_SERVICE, budget="team/keep"), (Fate.UNTOUCHED, False)),
        (grid(upgrade="force"), VGPU_TASK, (Fate.ENDED, True)),
        (grid(upgrade="force", strategy="OnDelete"), VGPU_TASK, (Fate.UNTOUCHED, True)),
        (grid(upgrade="force"), replace(VGPU_SERVICE, budget="team/keep"), (Fate.RESTARTED, True)),
        (grid(upgrade="force", after="1"), VGPU_TASK, (Fate.UNTOUCHED, True)),
        (grid(upgrade="force", others=OTHER), VGPU_TASK, (Fate.ENDED, True)),
        (grid(upgrade="wait", others=OTHER), VGPU_TASK, (Fate.UNTOUCHED, True)),
        (grid(upgrade="force"), replace(VGPU_SERVICE, gpus=0), (Fate.UNTOUCHED, True)),
        (grid(upgrade="force"), training(), (Fate.UNTOUCHED, True)),
        (
            Planned("DaemonSet", "update", (), {"metadata": {"name": "gpu-grid-driver-installer"}}),
            VGPU_TASK,
            (Fate.ENDED, False),
        ),
        (driver("spec.version"), replace(SERVICE, gpus=0), (Fate.UNTOUCHED, True)),
    ],
)
def test_a_driver_is_installed_as_the_upgrade_policy_of_the_pool_says(
    change: Planned, work: Work, expected: tuple[Fate, bool]
) -> None:
    assert fate(change, work) == expected


def test_gpus_of_a_pool_whose_driver_stays_are_not_missing() -> None:
    assert judge([grid(upgrade="force", after="1")], [], POOLS, NOW).outages == ()
    assert [each.pool for each in judge([grid(upgrade="force")], [], POOLS, NOW).outages] == ["rtxprogpu"]
