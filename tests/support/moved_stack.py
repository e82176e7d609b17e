"""A stack and a cluster in memory, on which a move works: its stack file, its last deployment, nodes and Pods."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from physical_ai.settings import Loaded, load
from physical_ai.settings.layers.names import STACKS
from workbench.cli.move_run import advance
from workbench.cli.moves import Folder, Run, World
from workbench.moves.emptying import View, view_of
from workbench.moves.layers import Move, State
from workbench.moves.planning import Wish, own_values, planned
from workbench.moves.progress import Limits, Progress

STACK = "prod-westus2"
ORIGINAL = (STACKS / f"Pulumi.{STACK}.yaml").read_text()


class Killed(BaseException):
    """The end of a process, at any of its writes."""


@dataclass
class Place:
    """The stack file, the last deployment, and the cluster; `left` counts the writes until the process is killed."""

    text: str = ORIGINAL
    deployed: State = "original"
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    pods: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    left: int = 10**6

    def write(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed


PLACE = Place()


class OneFolder(Folder):
    def keep(self, name: str, content: str) -> None:
        PLACE.write()
        super().keep(name, content)


@dataclass(frozen=True)
class OneWorld(World):
    """A world in memory: nodes and Pods are objects as the API server has them."""

    def stack_text(self) -> str:
        return PLACE.text

    def write_stack(self, text: str) -> None:
        PLACE.write()
        PLACE.text = text

    def loaded(self, layer: Any = None) -> Loaded:
        del layer
        return load(self.stack)

    def view(self, pool: str) -> View:
        return view_of(PLACE.pods, list(PLACE.nodes.values()), pool, ())

    def has_deployed(self, progress: Progress, state: State) -> bool | None:
        return PLACE.deployed == state

    @property
    def send(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]  # a client in memory
        return send


def send(method: str, path: str, parameters: Any, body: Any = None) -> Any:
    del parameters
    kind, name = path.split("/")[-2:]
    if (method, kind) == ("GET", "nodes"):
        return copy.deepcopy(PLACE.nodes[name])
    if (method, kind) == ("PATCH", "nodes"):
        PLACE.write()
        node = PLACE.nodes[name]
        node["spec"] = {"unschedulable": True} if body["spec"]["unschedulable"] else {}
        node["metadata"]["annotations"] = {k: v for k, v in body["metadata"]["annotations"].items() if v}
        return node
    raise AssertionError(f"{method} {path}")


def node(name: str, pool: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"agentpool": pool}, "annotations": {}, "resourceVersion": "1"}
    return {"metadata": metadata, "spec": spec}


def train() -> dict[str, Any]:
    spec = {"nodeName": "old-0", "nodeSelector": {"agentpool": "h100gpu"}, "containers": []}
    return {"metadata": {"name": "train", "namespace": "team"}, "spec": spec, "status": {"phase": "Running"}}


def begin_again() -> None:
    nodes = {"old-0": node("old-0", "h100gpu"), "old-1": node("old-1", "h100gpu", unschedulable=True)}
    PLACE.__dict__.update(Place(nodes=nodes, pods=[train()]).__dict__)


@cache
def loaded_stack() -> tuple[Loaded, Move]:
    loaded = load(STACK)
    return loaded, planned(loaded, Wish("h100gpu", {"osDisk.sizeGb": "1024"}))


def begin(folder: Path, **given: Any) -> tuple[Run, Progress]:
    loaded, move = loaded_stack()
    world = OneWorld(STACK, False, OneFolder(folder))
    folder.mkdir(exist_ok=True)
    progress = Progress(move, False, Limits(3600.0, **given), own_values(loaded, "h100gpu"))
    return Run(world, max_wait=0.0, sleep=lambda seconds: None), progress


def go_on(run: Run, progress: Progress) -> Progress:
    """One run of the command, with the progress of the state file, where there is one."""
    kept = run.world.folder.read(STACK, "h100gpu", simulated=False)
    return advance(run, kept or progress, lambda stage: None)


def deploy(progress: Progress) -> None:
    """What the pipeline does after a merge: pools come and go with their nodes."""
    PLACE.deployed = progress.written
    if progress.written in ("both", "switched"):
        PLACE.nodes.setdefault("new-0", node("new-0", "h100gpub"))
        PLACE.nodes.setdefault("old-0", node("old-0", "h100gpu"))
    gone = {"moved": "h100gpu", "original": "h100gpub"}.get(progress.written)
    lost = [name for name, each in PLACE.nodes.items() if each["metadata"]["labels"]["agentpool"] == gone]
    assert not [pod for pod in PLACE.pods if pod["spec"]["nodeName"] in lost], "a pool was deleted under its work"
    for name in lost:
        del PLACE.nodes[name]
