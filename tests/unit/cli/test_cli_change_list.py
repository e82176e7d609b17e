"""What a person reads of a run: counts, differences, and what a replaced pool costs."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi.automation.events import EngineEvent
from rich.console import Console

from physical_ai.catalog.engine_values import SECRET, SIGNATURE, UNKNOWN
from physical_ai.settings import load
from workbench.cli.changes import Message, Run
from workbench.cli.preview import change_list

POOL = "azure-native:containerservice:AgentPool"
URN = f"urn:pulumi:dev::physical-ai::physical-ai:azure:GpuPool${POOL}::h100"


def event(kind: str, op: str, *, type: str = POOL, urn: str = URN, **more: Any) -> EngineEvent:
    metadata = {"op": op, "urn": urn, "type": type, "provider": "", **more}
    return EngineEvent.from_json({"sequence": 1, "timestamp": 1, kind: {"metadata": metadata}})


def state(**inputs: Any) -> dict[str, Any]:
    empty = {"type": POOL, "urn": URN, "id": "x", "parent": "", "protect": False, "provider": ""}
    return {**empty, "inputs": inputs, "outputs": {}}


def replaced() -> Run:
    run = Run()
    name = {"agentPoolName": "h100", "count": 1}
    old, new = state(**name, vmSize="A", nodeLabels={"a/b": "1"}), state(**name, vmSize="B")
    more: dict[str, Any] = {"old": old, "new": new, "keys": ["vmSize"], "diffs": ["vmSize"]}
    for op in ("delete-replaced", "replace", "create-replacement"):
        run.add(event("resourcePreEvent", op, **more))
        run.add(event("resOutputsEvent", op, **more))
    return run


def text(run: Run, **nodes: int) -> str:
    console = Console(width=120, color_system=None)
    with console.capture() as captured:
        console.print(change_list.render(run, nodes))
    return captured.get()


def test_a_replacement_is_one_change_to_a_reader() -> None:
    run = replaced()
    assert [change["op"] for change in change_list.document(run, {})["changes"]] == ["replace"]
    assert dict(run.counts()) == {"replace": 1}


def test_a_replaced_pool_shows_its_present_nodes_and_why_they_are_lost() -> None:
    shown = text(replaced(), h100=5, other=9)
    assert "5 nodes lost" in shown
    assert "vmSize: A → B (replaces)" in shown


def test_unchanged_resources_components_and_providers_are_not_changes() -> None:
    run = Run()
    run.add(event("resourcePreEvent", "same"))
    run.add(event("resourcePreEvent", "create", type="physical-ai:azure:GpuPool", urn="urn:a::b::c::d"))
    run.add(event("resourcePreEvent", "create", type="pulumi:providers:kubernetes", urn="urn:a::b::c::e"))
    assert change_list.document(run, {}) == {"changes": [], "summary": {}, "readBack": [], "networkMove": None}
    assert text(run).strip() == "no changes"


def test_an_update_shows_the_properties_that_change_and_no_others() -> None:
    run = Run()
    old, new = state(count=1, mode="User"), state(count=3, mode="User")
    run.add(event("resourcePreEvent", "update", old=old, new=new, diffs=["count"]))
    shown = text(run)
    assert "count: 1 → 3" in shown
    assert "mode" not in shown
    assert "1 to update" in shown


def test_a_failed_operation_is_not_counted_as_done() -> None:
    run = Run()
    run.add(event("resourcePreEvent", "create"))
    run.add(event("resOpFailedEvent", "create"))
    assert not run.counts()


def test_debug_chatter_is_dropped_and_errors_are_kept() -> None:
    run = Run()
    for severity in ("debug", "error"):
        diagnostic = {"message": f"a {severity}", "severity": severity, "color": "never"}
        run.add(EngineEvent.from_json({"sequence": 1, "timestamp": 1, "diagnosticEvent": diagnostic}))
    assert run.messages == [Message("error", "", "a error")]


def test_what_was_done_reads_as_a_sentence() -> None:
    assert change_list.done({"create": 3, "update": 1}) == "3 created, 1 updated"
    assert change_list.done({}) == "no changes"


def test_a_replaced_cluster_counts_its_inline_pools() -> None:
    run = Run()
    kind = "azure-native:containerservice:ManagedCluster"
    old = {**state(agentPoolProfiles=[{"name": "system"}]), "type": kind}
    run.add(event("resourcePreEvent", "replace", type=kind, old=old, new=old, keys=["dnsPrefix"]))
    (change,) = change_list.document(run, {"system": 3, "h100": 2})["changes"]
    assert change["nodesLost"] == 3


def test_keys_with_dots_show_their_values() -> None:
    run = Run()
    old, new = state(tags={"cost.center": "1"}), state(tags={"cost.center": "42"})
    run.add(event("resourcePreEvent", "update", old=old, new=new, diffs=['tags["cost.center"]']))
    assert 'tags["cost.center"]: 1 → 42' in text(run)


def test_a_value_that_is_not_known_yet_is_said_to_be_so() -> None:
    run = Run()
    run.add(event("resourcePreEvent", "update", old=state(count=1), new=state(count=UNKNOWN), diffs=["count"]))
    assert "count: 1 → (not known yet)" in text(run)
    assert "updated only if that value turns out to be another one" in text(run)
    assert change_list.document(run, {})["changes"][0]["mayBeSame"] is True


def test_an_update_with_one_known_value_is_made() -> None:
    run = Run()
    old, new = state(count=1, size=1), state(count=UNKNOWN, size=2)
    run.add(event("resourcePreEvent", "update", old=old, new=new, diffs=["count", "size"]))
    assert "turns out" not in text(run)
    assert change_list.document(run, {})["changes"][0]["mayBeSame"] is False


def test_of_a_secret_only_the_change_is_shown() -> None:
    run = Run()
    hidden = {SIGNATURE: SECRET, "ciphertext": "[secret]"}
    old, new = state(stringData=hidden, count=1), state(stringData=hidden, count=2)
    run.add(event("resourcePreEvent", "update", old=old, new=new, diffs=["stringData.token", "stringData", "count"]))
    assert "stringData.token: (secret) → (secret)" in text(run)
    assert "stringData: (secret) → (secret)" in text(run)
    assert "count: 1 → 2" in text(run)
    assert "ciphertext" not in text(run)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"enableAutoScaling": True, "minCount": 0, "count": 0}, "starts without nodes"),
        (
            {"enableAutoScaling": True, "minCount": 0, "count": 1, "scaleSetPriority": "Spot"},
            "starts with 1 node (scale.initial): fails without Spot capacity at once",
        ),
        ({"enableAutoScaling": True, "minCount": 1, "count": 1}, None),
        ({"enableAutoScaling": False, "count": 0}, None),
    ],
)
def test_a_pool_that_may_be_empty_says_how_it_starts(inputs: dict[str, Any], said: str | None) -> None:
    run = Run()
    run.add(event("resourcePreEvent", "create", new=state(**inputs)))
    (change,) = change_list.document(run, {})["changes"]
    assert (change["firstNodes"] or "").startswith(said or "")
    assert ("starts with" in text(run)) is (said is not None)
    assert (said or "AgentPool") in text(run)


def test_gpu_pools_that_may_be_empty_start_so_but_where_the_stack_says_why() -> None:
    starts = {
        (stack, name)
        for stack in ("dev-southeastasia", "dev-westus2", "staging-westus2", "prod-westeurope", "prod-swedencentral")
        for name, pool in load(stack).settings.pools.items()
        if pool.scale.least == 0 and pool.scale.initial_count
    }
    assert starts == {("dev-westus2", "h100gpu"), ("dev-westus2", "rtxprogpu")}
