"""What a preview says of a change of the network mode."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console

from physical_ai.repository import ROOT
from workbench.cli.changes import Run, Step
from workbench.cli.preview import change_list, markdown
from workbench.cli.preview.moves import network_move

FOLDER = ROOT / "tests" / "golden" / "moves"
RECORDED: list[dict[str, Any]] = json.loads((FOLDER / "network-move.json").read_text())
"""The changes of `physai preview dev-westus2` when it gets private, with data services and metrics in Azure."""
CLUSTER = "azure-native:containerservice:ManagedCluster"
POOL = "azure-native:containerservice:AgentPool"


def step(op: str, type_: str, name: str, *access: str, opening: bool = False) -> Step:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    for path in access:
        *holders, last = path.split(".")
        inside = after
        for each in holders:
            inside = inside.setdefault(each, {})
        inside[last] = True if last == "enablePrivateCluster" else "Disabled"
    if type_ in (POOL, CLUSTER):
        before["agentPoolName"] = name.removesuffix("-nodes").rpartition("-")[2]
    old, new = (after, before) if opening else (before, after)
    return Step(urn=f"urn::{type_}::{name}", type=type_, op=op, properties=access, old=old, new=new)


def recorded(*, opening: bool = False) -> Run:
    run = Run()
    for each in RECORDED:
        made = step(each["op"], each["type"], each["name"], *each.get("access", ()), opening=opening)
        run.steps[made.urn, made.op] = made
    return run


def shown(run: Run, **nodes: int) -> str:
    console = Console(width=300, color_system=None)
    with console.capture() as captured:
        console.print(change_list.render(run, nodes))
    return captured.get()


def test_the_move_of_a_stack_to_a_private_network_is_summed_up() -> None:
    lines = [each.rstrip() for each in shown(recorded(), cpu=1, h100gpu=2, rtxprogpu=4).splitlines()]
    start = next(index for index, each in enumerate(lines) if each.startswith("The API server"))
    assert "\n".join(lines[start:]) + "\n" == (FOLDER / "network-move.txt").read_text()


def test_the_way_back_opens_what_was_closed() -> None:
    found = change_list.move(recorded(opening=True), {})
    assert found is not None
    assert found.title == "The API server becomes public. Services of Azure are opened to the internet."
    assert found.in_place[0].startswith("opened to the internet, with their data kept: ")
    assert not any("lost" in each for each in found.replaced)


def test_between_public_and_hybrid_nothing_is_replaced() -> None:
    run = [each for each in recorded().steps.values() if each.op != "replace"]
    found = network_move(run, 0)
    assert found is not None
    assert (found.title, found.replaced) == ("Services of Azure are closed to the internet.", ())


def test_another_replacement_of_the_cluster_is_no_move() -> None:
    changes = [step("replace", CLUSTER, "aks"), step("update", POOL, "aks-h100gpu")]
    assert network_move(changes, 1) is None
    assert change_list.document(Run(), {})["networkMove"] is None


def test_nodes_that_are_lost_are_counted() -> None:
    found = network_move([step("replace", CLUSTER, "aks", "apiServerAccessProfile.enablePrivateCluster")], 4)
    assert found is not None
    assert "4 nodes lost; capacity may not be available at once" in found.replaced


def test_a_pull_request_shows_it_above_the_table() -> None:
    found = change_list.move(recorded(), {})
    assert found is not None
    text = markdown.move({"networkMove": found.document()})
    assert text.startswith("**The API server becomes private. ")
    assert [line.partition(":")[0] for line in text.splitlines()[2:]] == [
        "- Replaced",
        "- In place",
        "- Created",
        "- Deleted",
    ]
    assert markdown.move({}) == ""
