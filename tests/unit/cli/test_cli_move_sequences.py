"""Random sequences of work, kills, cordons, evictions, deployments and changes of mind: a move never ends work."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.moved_stack import PLACE, STACK, Killed, begin, begin_again, deploy, go_on, node
from workbench.cli import move_nodes
from workbench.cli.moves import Result, Run
from workbench.moves import stack_file
from workbench.moves.emptying import ANNOTATION
from workbench.moves.layers import Move, State
from workbench.moves.progress import Progress

STEPS = 30


@pytest.fixture(autouse=True)
def proven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_nodes, "prove", lambda run, progress: Result("passed"))
    known: dict[tuple[str, str, int | None], str] = {}

    def rewritten(text: str, move: Move, own: Mapping[str, Any], state: State, cap: int | None) -> str:
        """The real function, once for each text: there is one move."""
        if (text, state, cap) not in known:
            known[text, state, cap] = real(text, move, own, state, cap)
        return known[text, state, cap]

    real = stack_file.rewritten
    monkeypatch.setattr(stack_file, "rewritten", rewritten)


def pool_of(name: str) -> str:
    return str(PLACE.nodes[name]["metadata"]["labels"]["agentpool"])


def arrive(name: str, *, names_old: bool) -> None:
    """A task of a workflow, with the pool that the platform has at this time, or a Pod that names the old pool."""
    pool = "h100gpub" if PLACE.deployed in {"switched", "moved"} and not names_old else "h100gpu"
    spec = {"nodeName": "", "nodeSelector": {"agentpool": pool}, "containers": []}
    metadata = {"name": name, "namespace": "team"}
    PLACE.pods.append({"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}})


def schedule() -> None:
    """What the scheduler and the autoscaler do: a Pod gets a node of its pool, and the pool one for it if it may."""
    for pod in PLACE.pods:
        if pod["spec"]["nodeName"]:
            continue
        pool = pod["spec"]["nodeSelector"]["agentpool"]
        own = [name for name in PLACE.nodes if pool_of(name) == pool]
        there = [name for name in own if not PLACE.nodes[name]["spec"].get("unschedulable")]
        exists = PLACE.deployed != {"h100gpu": "moved", "h100gpub": "original"}[pool]
        if not own and exists:
            PLACE.nodes[f"{pool}-more"] = node(f"{pool}-more", pool)
            there = [f"{pool}-more"]
        if there:
            pod["spec"]["nodeName"] = there[0]
            pod["status"]["phase"] = "Running"


def is_harmless(progress: Progress) -> bool:
    """What a reviewer sees in the comment: nothing runs on the pool that the written change removes."""
    gone = {"moved": "h100gpu", "original": "h100gpub"}.get(progress.written)
    return not any(each["spec"]["nodeSelector"]["agentpool"] == gone for each in PLACE.pods)


def act(chance: random.Random, run: Run, progress: Progress, step: int) -> None:
    kept = run.world.folder.read(STACK, "h100gpu", simulated=False)
    match chance.randrange(9):
        case 0:
            arrive(f"task-{step}", names_old=chance.random() < 0.5)
        case 1 if PLACE.pods:
            PLACE.pods.pop(chance.randrange(len(PLACE.pods)))
        case 2 if PLACE.nodes:
            other = PLACE.nodes[chance.choice(sorted(PLACE.nodes))]
            other["spec"] = {} if other["spec"] else {"unschedulable": True}
        case 3 if PLACE.nodes:
            evicted = chance.choice(sorted(PLACE.nodes))
            del PLACE.nodes[evicted]
            PLACE.pods = [each for each in PLACE.pods if each["spec"]["nodeName"] != evicted]
        case 4 if kept is not None and chance.random() < 0.1:
            run.world.folder.save(kept.forward() if kept.back else kept.turned())
        case 5 if kept is not None and is_harmless(kept):
            deploy(kept)
        case _:
            if kept is None and step:
                return
            PLACE.left = chance.choice([10**6, chance.randrange(6)])
            try:
                progress = go_on(run, progress)
                at = progress.following()
                if at and at.kind == "settings" and progress.entries[at.name].outcome == "waiting":
                    deploy(progress)  # at once, and unseen: the command itself has just looked
            except Killed:
                pass
            finally:
                PLACE.left = 10**6
    schedule()


def finish(run: Run) -> None:
    """The end of every sequence: work ends, changes are deployed, and the command is run again."""
    for _ in range(20):
        kept = run.world.folder.read(STACK, "h100gpu", simulated=False)
        if kept is None:
            return
        PLACE.pods = []
        deploy(kept)
        go_on(run, kept)
    raise AssertionError("the move never ends")


@pytest.mark.parametrize("sequences", [40, pytest.param(200, marks=pytest.mark.deep)])
def test_in_random_sequences_no_pool_is_deleted_under_its_work(sequences: int, tmp_path: Path) -> None:
    """`deploy` asserts it; nothing may be evicted, as the client in memory refuses it."""
    ends: dict[str, int] = {}
    for number in range(sequences):
        chance = random.Random(number)  # noqa: S311 - sequences that can be made again
        begin_again()
        run, progress = begin(tmp_path / f"{number}")
        for step in range(STEPS):
            act(chance, run, progress, step)
        finish(run)
        last = run.world.folder.last(STACK, "h100gpu", simulated=False)
        end: Any = last.written if last else "not begun"
        ends[end] = ends.get(end, 0) + 1
        pools = {pool_of(name) for name in PLACE.nodes}
        assert end != "moved" or "h100gpu" not in pools, number
        if end == "original":
            assert "h100gpub" not in pools, number
            marked = [name for name, each in PLACE.nodes.items() if ANNOTATION in each["metadata"]["annotations"]]
            assert not [name for name in marked if PLACE.nodes[name]["spec"]], number
    assert ends["moved"] > sequences / 5
    assert ends["original"] > sequences / 20
