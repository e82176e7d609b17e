"""Fate of running work by each kind of change."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from physical_ai.catalog.engine_values import UNKNOWN
from physical_ai.repository import ROOT
from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from tests.support.cases import in_one_test
from workbench.impact import Effect, Fate, Work, judge
from workbench.impact.pools import PoolFacts
from workbench.impact.telling import Seen, document, headline, sentences
from workbench.impact.ways import way_of

NOW = datetime.datetime(2026, 11, 28, 12, tzinfo=datetime.UTC)
CLUSTER = Seen(known=True, source="the cluster", at=NOW)
POOLS = {
    "h100gpu": PoolFacts("h100gpu", 2, 1, "H100", "operator", spot=True),
    "rtxprogpu": PoolFacts("rtxprogpu", 1, 1, "RTX PRO 6000", "grid"),
    "cpu": PoolFacts("cpu", 1),
}


@dataclass
class Planned:
    """One operation, with only what the case needs."""

    kind: str
    op: str = "update"
    properties: tuple[str, ...] = ()
    old: Mapping[str, Any] = field(default_factory=dict[str, Any])
    new: Mapping[str, Any] = field(default_factory=dict[str, Any])
    name: str = "resource"
    type: str = "test:"


def training(**changes: Any) -> Work:
    """Six hours on one H100, without a checkpoint."""
    started = NOW - datetime.timedelta(hours=6)
    work = Work(
        "osmo-workflows", "train-0", "workflow train-1", "osmo-workflows/train", "train", "", "node-a", "h100gpu", 1,
        started, None, "default", {FINISH_FIRST_LABEL: "true"},
    )  # fmt: skip
    return replace(work, **changes)


def pool(op: str = "update", *properties: str, name: str = "h100gpu", **new: Any) -> Planned:
    return Planned("AgentPool", op, properties, {"agentPoolName": name}, {"agentPoolName": name, **new})


def resized(before: int, after: int) -> Planned:
    names = {"agentPoolName": "h100gpu"}
    return Planned("AgentPool", "update", ("count",), {**names, "count": before}, {**names, "count": after})


def driver(*properties: str, op: str = "update") -> Planned:
    spec = {"nodeSelector": {"agentpool": "h100gpu"}}
    return Planned("NVIDIADriver", op, properties, {"metadata": {"name": "h100"}, "spec": spec})


def release(name: str, *properties: str, op: str = "update") -> Planned:
    return Planned("Release", op, properties, {"name": name})


def fate(change: Planned, work: Work) -> tuple[Fate, bool]:
    (effect,) = judge([change], [work], POOLS, NOW).effects
    return effect.fate, effect.sure


SERVICE = training(owner="Deployment team/web", gang="", task="", controller="ReplicaSet", labels={}, queue="")
BARE = training(owner="Pod team/shell", gang="", task="", labels={}, queue="")
BOUND = replace(SERVICE, needs_pool=True)
WAITING = training(node="", pool="", started=None)


@in_one_test(
    ("change", "work", "expected"),
    [
        (pool("delete"), training(), (Fate.ENDED, True)),
        (pool("replace"), training(), (Fate.ENDED, True)),
        (pool("replace"), SERVICE, (Fate.RESTARTED, True)),
        (pool("replace", name="cpu"), training(), (Fate.UNTOUCHED, True)),
        (pool("update", "orchestratorVersion"), training(), (Fate.ENDED, True)),
        (resized(4, 1), training(), (Fate.ENDED, False)),
        (resized(1, 4), training(), (Fate.UNTOUCHED, True)),
        (pool("update", "maxCount", "tags.team"), training(), (Fate.UNTOUCHED, True)),
        (pool("update", "nodeTaints", nodeTaints=["a=b:NoSchedule"]), training(), (Fate.UNTOUCHED, True)),
        (pool("update", "nodeTaints", nodeTaints=["a=b:NoExecute"]), training(), (Fate.ENDED, True)),
        (
            pool("update", "nodeTaints", nodeTaints=["a=b:NoExecute"]),
            training(tolerations=({"key": "a", "operator": "Exists"},)),
            (Fate.UNTOUCHED, True),
        ),
        (
            pool("update", "nodeTaints", nodeTaints=["a=b:NoExecute"]),
            training(tolerations=({"key": "a", "operator": "Exists", "tolerationSeconds": 60},)),
            (Fate.ENDED, True),
        ),
        (pool("update", "nodeTaints", nodeTaints=["a=b:NoExecute"]), SERVICE, (Fate.RESTARTED, True)),
        (pool("update", "nodeTaints", nodeTaints=["a=b:NoExecute"]), BOUND, (Fate.ENDED, True)),
        (pool("replace"), BOUND, (Fate.RESTARTED, True)),
        (pool("delete"), BOUND, (Fate.ENDED, True)),
        (pool("delete"), SERVICE, (Fate.RESTARTED, True)),
        (resized(2, 1), BOUND, (Fate.RESTARTED, False)),
        (Planned("ManagedCluster", "delete"), SERVICE, (Fate.ENDED, True)),
        (driver("spec.version"), training(), (Fate.UNTOUCHED, True)),
        (driver("spec.version"), SERVICE, (Fate.RESTARTED, True)),
        (driver("spec.version"), BARE, (Fate.UNTOUCHED, False)),
        (driver("spec.version"), training(pool="rtxprogpu"), (Fate.UNTOUCHED, True)),
        (driver("spec.tolerations"), SERVICE, (Fate.UNTOUCHED, True)),
        (driver(op="replace"), training(), (Fate.ENDED, True)),
        (release("gpu-operator", "version"), training(), (Fate.UNTOUCHED, True)),
        (release("gpu-operator", op="delete"), training(), (Fate.ENDED, True)),
        (release("kai-scheduler", "version"), training(), (Fate.UNTOUCHED, True)),
        (release("kai-scheduler", "version"), WAITING, (Fate.WAITS, True)),
        (Planned("ManagedCluster", "replace"), training(), (Fate.ENDED, True)),
        (Planned("ManagedCluster", "update", ("kubernetesVersion",)), training(), (Fate.UNTOUCHED, True)),
        (Planned("ManagedCluster", "update", ("networkProfile.networkPolicy",)), training(), (Fate.ENDED, True)),
        (Planned("ManagedCluster", "update", ("tags.a",)), training(), (Fate.UNTOUCHED, True)),
        (
            Planned("Namespace", "delete", old={"metadata": {"name": "osmo-workflows"}}),
            training(),
            (Fate.ENDED, True),
        ),
        (Planned("Namespace", "delete", old={"metadata": {"name": "other"}}), training(), (Fate.UNTOUCHED, True)),
        (Planned("Queue", "update", ("spec",), {"metadata": {"name": "default"}}), training(), (Fate.ENDED, False)),
        (Planned("ResourceQuota", "create"), training(), (Fate.UNTOUCHED, True)),
        (Planned("NetworkPolicy", "create"), training(), (Fate.UNTOUCHED, True)),
    ],
)
def test_the_fate_of_a_pod(change: Planned, work: Work, expected: tuple[Fate, bool]) -> None:
    assert fate(change, work) == expected


def test_the_worst_of_several_changes_counts_with_its_reasons() -> None:
    (effect,) = judge([driver("spec.tolerations"), pool("replace"), pool("delete")], [training()], POOLS, NOW).effects
    assert effect.fate is Fate.ENDED
    assert len(effect.reasons) == 2
    assert effect.minutes == (6, 15)


@pytest.mark.parametrize(
    ("checkpoint", "ran", "lost"),
    [(None, 6, (6, 6)), (1, 6, (0, 1)), (8, 6, (6, 6)), (6, 6, (0, 6)), (1, 0, (0, 0))],
)
def test_lost_hours_count_from_the_last_checkpoint(
    checkpoint: int | None, ran: float, lost: tuple[float, float]
) -> None:
    every = None if checkpoint is None else datetime.timedelta(hours=checkpoint)
    work = training(checkpoint=every, started=NOW - datetime.timedelta(hours=ran))
    assert work.lost_hours(NOW) == pytest.approx(lost)


def test_a_start_in_the_future_loses_nothing() -> None:
    assert training(started=NOW + datetime.timedelta(hours=1)).lost_hours(NOW) == (0, 0)


@pytest.mark.parametrize(
    ("change", "facts", "returns", "total"),
    [
        (pool("replace"), {}, "doubtful", (6, 15)),
        (pool("replace"), {"reservation": "/x/groups/crg"}, "certain", (6, 15)),
        (pool("delete"), {}, "never", (0, 0)),
        (pool("update", "orchestratorVersion"), {}, "certain", (10, 30)),
        (pool("update", "orchestratorVersion"), {"surge": 1}, "likely", (10, 30)),
        (driver("spec.version"), {}, "certain", (6, 20)),
    ],
)
def test_gpus_that_are_missing(
    change: Planned, facts: dict[str, Any], returns: str, total: tuple[float, float]
) -> None:
    pools = {**POOLS, "h100gpu": replace(POOLS["h100gpu"], **facts)}
    (found,) = judge([change], [], pools, NOW).outages
    assert (found.pool, found.gpus, found.returns, found.total) == ("h100gpu", 2, returns, total)


def test_spot_machines_for_which_others_stand_in_are_likely_to_be_replaced() -> None:
    label = {"physical-ai/platform": "h100"}
    stand_in = PoolFacts("h100reg", 0, 1, "H100", "operator", labels=label)
    pools = {"h100gpu": replace(POOLS["h100gpu"], labels=label), "h100reg": stand_in}
    (found,) = judge([pool("replace")], [], pools, NOW).outages
    assert found.returns == "likely"
    assert "h100reg stands in on demand" in found.why
    (found,) = judge([pool("replace", name="h100reg")], [], {"h100reg": replace(stand_in, nodes=1)}, NOW).outages
    assert found.returns == "doubtful"


def test_a_pool_without_nodes_misses_nothing() -> None:
    assert judge([pool("replace")], [], {"h100gpu": replace(POOLS["h100gpu"], nodes=0)}, NOW).outages == ()


def test_a_change_that_the_table_does_not_know_is_said_and_a_creation_touches_nothing() -> None:
    found = judge([Planned("Unheard", "delete"), Planned("Unheard", "create")], [training()], POOLS, NOW)
    assert found.not_judged == ("delete Unheard resource",)
    assert "1 change is not judged" in headline(found, CLUSTER)


HEADLINES: Sequence[tuple[list[Planned], list[Work], Seen, str]] = [
    ([], [training()], CLUSTER, "No running work ends."),
    (
        [pool("replace")],
        [training(), SERVICE],
        CLUSTER,
        "Ends 1 workflow (6 GPU-hours since the last checkpoint or start), restarts 1 Deployment (6 GPU-hours since the"
        " last checkpoint or start); 2 H100s of h100gpu are missing for 6 to 15 minutes, and may not come back.",
    ),
    (
        [resized(4, 3)],
        [training(checkpoint=datetime.timedelta(minutes=30))],
        CLUSTER,
        "May end 1 workflow (0 to 0.5 GPU-hours since the last checkpoint or start); 1 H100 of h100gpu is gone.",
    ),
    ([Planned("ResourceQuota")], [], Seen(known=False), "No running work ends."),
    (
        [Planned("Unheard")],
        [],
        Seen(known=False),
        "What runs is not known, since no cluster was read; 1 change is not judged.",
    ),
    (
        [pool("delete")],
        [],
        Seen(known=False),
        "What runs is not known, since no cluster was read; 2 H100s of h100gpu are gone.",
    ),
]


@pytest.mark.parametrize(("changes", "work", "seen", "line"), HEADLINES)
def test_the_first_line(changes: list[Planned], work: list[Work], seen: Seen, line: str) -> None:
    assert headline(judge(changes, work, POOLS, NOW), seen) == line


def test_lines_name_owner_reason_and_source() -> None:
    lines = sentences(judge([pool("replace"), release("kai-scheduler", "version")], [training()], POOLS, NOW), CLUSTER)
    assert lines[0] == (
        "workflow train-1: will end, 6 GPU-hours lost (h100gpu: the node pool is deleted without a drain, and created"
        " again)"
    )
    assert "h100gpu: Azure may give released Spot machines to others" in lines
    assert any(line.startswith("Note: kai-scheduler: KAI restarts") for line in lines)
    assert lines[-1] == "Running work as of the cluster, 2026-11-28T12:00+00:00."


def test_the_document_has_every_pod() -> None:
    found = document(judge([pool("replace")], [training(), WAITING], POOLS, NOW), CLUSTER)
    assert [(each["pod"], each["fate"]) for each in found["work"]] == [("train-0", "ended"), ("train-0", "untouched")]
    assert found["lostGpuHours"] == {"least": 6, "most": 6, "withoutCheckpoints": 6}


def test_a_checkpoint_that_may_not_have_been_written_is_said() -> None:
    found = judge([pool("replace")], [training(checkpoint=datetime.timedelta(minutes=30))], POOLS, NOW)
    assert "0 to 0.5 GPU-hours lost (or 6, if no checkpoint has been written)" in sentences(found, CLUSTER)[0]
    assert document(found, CLUSTER)["lostGpuHours"] == {"least": 0, "most": 0.5, "withoutCheckpoints": 6}


def test_work_without_checkpoints_loses_one_number_of_hours() -> None:
    (line, *_) = sentences(judge([pool("replace")], [training()], POOLS, NOW), CLUSTER)
    assert "6 GPU-hours lost (h100gpu" in line


def test_effects_are_sorted_from_the_worst() -> None:
    effects = judge([pool("replace"), driver("spec.version")], [BARE, training(), SERVICE], POOLS, NOW).effects
    assert [each.fate for each in effects] == sorted((each.fate for each in effects), reverse=True)
    assert all(isinstance(each, Effect) for each in effects)


def test_a_value_that_is_not_known_yet_is_no_evidence_of_another_driver() -> None:
    """The program makes `spec.repository` known after the release only, so the engine lists it with every change of
    the release.
    """
    unknown = Planned(
        "NVIDIADriver",
        "update",
        ("spec.repository", "spec.tolerations[2]"),
        {"metadata": {"name": "h100"}, "spec": {"nodeSelector": {"agentpool": "h100gpu"}, "repository": "nvcr.io/x"}},
        {"spec": {"repository": UNKNOWN, "tolerations": []}},
    )
    found = judge([unknown], [training(controller="ReplicaSet", labels={})], POOLS, NOW)
    assert [each.fate for each in found.effects] == [Fate.UNTOUCHED]
    alone = replace(unknown, properties=("spec.repository",))
    assert judge([alone], [training(controller="ReplicaSet", labels={})], POOLS, NOW).of(Fate.UNTOUCHED)


def test_every_operation_on_every_declared_type_is_judged() -> None:
    files = (ROOT / "tests" / "golden" / "declared").glob("*.txt")
    types = {line.split(" ", 1)[0] for file in files for line in file.read_text().splitlines()}
    own = ("physical-ai:", "pulumi:")
    declared = sorted(each for each in types if each.count(":") == 2 and not each.startswith(own))
    assert len(declared) > 80
    unknown = [
        f"{op} {each}"
        for each in declared
        for op in ("update", "replace", "delete")
        if way_of(Planned(each.rpartition(":")[2], op, ("spec.other",), type=each)) is None
    ]
    assert unknown == []


def test_a_node_that_keeps_its_driver_loses_no_work_by_another_one_but_by_its_removal() -> None:
    held = replace(SERVICE, keeps_driver=True)
    assert [each.fate for each in judge([driver("spec.version")], [held], POOLS, NOW).effects] == [Fate.UNTOUCHED]
    assert [each.fate for each in judge([driver(op="replace")], [held], POOLS, NOW).effects] == [Fate.RESTARTED]
