"""Durations in a recording against the catalogue's timings: planted ones are found, exactly these, and written down."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from physical_ai.catalog import seen as seen_rows
from physical_ai.catalog.timings import GPU_GATE, timing
from tests.support.recorded_cluster import AT, STACK
from workbench.recordings.comparing import Difference, differences
from workbench.recordings.durations import CLUSTER, POOL, RELEASE, durations
from workbench.recordings.form import Entry
from workbench.recordings.learning import new_rows, written
from workbench.recordings.making import head, made
from workbench.recordings.reading import Recording

BEGIN = datetime.datetime(2026, 11, 28, 1, tzinfo=datetime.UTC)
NODE = "aks-h100gpu-19345786-vmss000000"
AKS = "Microsoft.ContainerService/managedClusters"
ID = f"/subscriptions/3f2b8c1e-9a4d-4f6e-8b7a-112233445566/resourceGroups/rg/providers/{AKS}/aks"
TIMINGS = "physical_ai/catalog/data/timings.yaml"
NODE_STEPS = "physical_ai/catalog/data/node_steps.yaml"
Times = dict[str, float]
USUAL: Times = {
    "cluster": 0,
    "first": 8,
    "asked": 60,
    "node": 62,
    "ready": 64,
    "plugin": 70,
    "release": 80,
    "available": 84,
}
"""Minutes after the beginning, none of which is unusual."""


def at(minutes: float) -> str:
    return (BEGIN + datetime.timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def true(kind: str, since: float) -> list[dict[str, Any]]:
    return [{"type": kind, "status": "True", "lastTransitionTime": at(since)}]


def entries(times: Times) -> list[Entry]:
    t = {**USUAL, **times}
    system = {"metadata": {"name": "aks-system-19345786-vmss000000", "labels": {"agentpool": "system"},
                           "creationTimestamp": at(t["first"] - 1)},
              "spec": {}, "status": {"conditions": true("Ready", t["first"])}}  # fmt: skip
    node = {"metadata": {"name": NODE, "labels": {"agentpool": "h100gpu"}, "creationTimestamp": at(t["node"])},
            "spec": {}, "status": {"conditions": true("Ready", t["ready"])}}  # fmt: skip
    pods = [
        {"metadata": {"name": name, "namespace": "gpu-operator", "creationTimestamp": at(t["node"])},
         "spec": {"nodeName": NODE, "containers": [{"name": "c", "image": "i"}]},
         "status": {"conditions": true("Ready", t[end]), "containerStatuses": [
             {"name": "c", "restartCount": int(t.get("restarts", 0))}]}}
        for name, end in (("nvidia-driver-x", "ready"), ("nvidia-device-plugin-y", "plugin"))
    ]  # fmt: skip
    event = {"metadata": {"name": "e", "namespace": "n"}, "reason": "TriggeredScaleUp",
             "firstTimestamp": at(t["asked"]), "involvedObject": {"kind": "Pod", "name": "p"},
             "message": "pod triggered scale-up: [{aks-h100gpu-19345786-vmss 0->1 (max: 4)}]"}  # fmt: skip
    release = {"metadata": {"name": "d", "namespace": "osmo", "creationTimestamp": at(t["release"]),
                            "generation": int(t.get("generation", 1)),
                            "annotations": {"meta.helm.sh/release-name": "osmo"}},
               "spec": {}, "status": {"conditions": true("Available", t["available"])}}  # fmt: skip
    body = {"id": ID, "systemData": {"createdAt": at(t["cluster"]), "createdBy": "Ada King"}, "properties": {}}
    lists = {"/api/v1/events": [event], "/api/v1/nodes": [system, node], "/api/v1/pods": pods,
             "/apis/apps/v1/deployments": [release]}  # fmt: skip
    return [
        head(STACK, AT, "t", simulated=False),
        {"kind": "azure", "id": ID, "type": AKS, "body": body},
        *({"kind": "list", "path": path, "items": items} for path, items in lists.items()),
    ]


def recording(**times: float) -> Recording:
    return Recording(Path("it.gz"), made(entries(times)))


def slow(kind: str, *minutes: float) -> Difference:
    home = NODE_STEPS if kind == GPU_GATE else TIMINGS
    return Difference("timing", kind, "minutes", list(timing(kind).minutes), list(minutes), home)


def test_the_durations_are_those_of_the_recording() -> None:
    assert durations(recording()) == {CLUSTER: (8, 8), POOL: (4, 4), GPU_GATE: (6, 6), RELEASE: (4, 4)}
    assert differences(recording(), recording()) == []


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"first": 31}, lambda: [slow(CLUSTER, 31, 31)]),
        ({"ready": 69, "plugin": 75}, lambda: [slow(POOL, 9, 9)]),
        ({"plugin": 97}, lambda: [slow(GPU_GATE, 33, 33)]),
        ({"plugin": 66}, lambda: [slow(GPU_GATE, 2, 2)]),
        ({"available": 95.5}, lambda: [slow(RELEASE, 15.5, 15.5)]),
        ({"first": 31, "available": 95.5}, lambda: [slow(CLUSTER, 31, 31), slow(RELEASE, 15.5, 15.5)]),
    ],
)
def test_an_unusual_duration_is_found_and_nothing_else(times: Times, expected: Callable[[], list[Difference]]) -> None:
    assert differences(recording(**times), recording()) == expected()


@pytest.mark.parametrize(
    "times",
    [
        {"ready": 700, "plugin": 700},  # the node was NotReady for a while, long after it had come
        {"restarts": 1, "plugin": 97},
        {"generation": 2, "available": 95.5},
        {"available": 79},  # a clock that went back
    ],
)
def test_a_later_life_is_no_duration(times: Times) -> None:
    assert differences(recording(**times), recording()) == []


def test_a_simulated_cluster_has_times_of_its_own() -> None:
    found = recording(first=31)
    simulated = Recording(found.file, [{**found.head, "simulated": True}, *found.entries[1:]])
    assert differences(simulated, recording()) == []


def test_a_duration_that_is_written_is_what_the_program_then_believes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied = tmp_path / "seen.yaml"
    copied.write_text(seen_rows.FILE.read_text())
    monkeypatch.setattr(seen_rows, "FILE", copied)
    seen_rows.seen_facts.cache_clear()
    given = recording(plugin=97)
    assert written(new_rows(differences(given, recording()), given)) == ["1 rows of seen.yaml"]
    seen_rows.seen_facts.cache_clear()
    try:
        found = timing(GPU_GATE)
        assert found.minutes == (33, 33)
        assert found.source.startswith(f"recording of {STACK}, ")
        assert differences(given, recording()) == []
    finally:
        seen_rows.seen_facts.cache_clear()
