"""Stages of a move that read the cluster: the proof of the new pool, the end of the old pool's work, the comparison."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.cli.console import err
from workbench.cli.moves import Result
from workbench.moves.progress import Progress
from workbench.moves.stages import Stage

if TYPE_CHECKING:
    from workbench.cli.moves import Run
    from workbench.moves.emptying import Decision

AGAIN = 3
"""Number of attempts to cordon a node that somebody else changes meanwhile."""


def prove(run: Run, progress: Progress) -> Result:
    """Waits for a node of the new pool with its GPUs, and runs acceptance on the pool's nodes."""
    from physical_ai.settings.facts.gpu import nvidia_pools
    from workbench.moves.layers import layer

    world, move = run.world, progress.move
    layered = layer(move, progress.written, progress.cap) if world.simulated else {}
    settings = world.loaded(layered).settings
    closed = _until_ready(run, progress, settings)
    if closed:
        return Result("waiting" if run.max_wait is not None else "failed", closed)
    if move.new not in nvidia_pools(settings):
        return Result("passed", (f"{move.new} has no NVIDIA GPUs, for which acceptance has programs",))
    where = ("--kubeconfig", str(world.kubeconfig)) if world.kubeconfig else ()
    context = ("--context", world.context) if world.context else ()
    words = ("accept", world.stack, "--pool", move.new, "--new", "--level", progress.level, *where, *context, "--json")
    code, _ = world.physai(*words)
    if code == 0:
        return Result("passed")
    return Result("failed", (f"acceptance of {move.new} ended with exit code {code}; its output names the node",))


def _until_ready(run: Run, progress: Progress, settings: Any) -> tuple[str, ...]:
    """Waits until the new pool has a node and no closed gate. Returns the closed gates at the end of the time."""
    from physical_ai.readiness import expected_pools, read_reports

    world, new = run.world, progress.move.new

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        return world.send("GET", path, parameters)

    expected = [each for each in expected_pools(settings) if each.pool == new]
    end = run.now() + datetime.timedelta(seconds=run.max_wait or settings.gpu_operator.gate.timeout_minutes * 60)
    said = ""
    while True:
        report = next(iter(read_reports(get, expected)))
        closed = tuple(f"gate {each.gate} of {each.node} is closed: {each.message}" for each in report.closed)
        if report.nodes and not closed:
            return ()
        text = closed[0] if closed else f"{new} has no node yet"
        if text != said:
            err.print(f"   {text}", markup=False, style="dim", soft_wrap=True)
            said = text
        if run.now() >= end:
            return closed or (f"{new} has no node: Azure may have no machine now; see kubectl describe, physai why",)
        run.sleep(run.pause)


def empty(run: Run, progress: Progress, stage: Stage) -> Result:
    """Keeps new Pods off a pool, and waits until its work has ended."""
    from workbench.moves.emptying import decide

    move = progress.move
    pool, holder = (move.old, move.new) if stage.pool == "old" else (move.new, move.old)
    began = datetime.datetime.fromisoformat(progress.entries[stage.name].began)
    end = None if run.max_wait is None else run.now() + datetime.timedelta(seconds=run.max_wait)
    said = ""
    while True:
        view = run.world.view(pool)
        decision = decide(view, progress.limits, began, run.now(), holder)
        _act(run, decision, holder)
        if decision.outcome == "empty":
            return Result("passed")
        if decision.outcome == "refused":
            return Result("failed", (decision.says, "More time: --within. The way back: --back"))
        if decision.says and decision.says != said:
            err.print(f"   {decision.says}", markup=False, style="dim", soft_wrap=True)
            said = decision.says
        if end is not None and run.now() >= end:
            return Result("waiting", (f"{decision.says or 'nodes were cordoned'}; run the same command again",))
        run.sleep(run.pause)


def _act(run: Run, decision: Decision, holder: str) -> None:
    from workbench.health.replacement.cluster import Blocked, RepairCluster

    for name in decision.cordon:
        _mark(run, name, holder)
    for name in decision.uncordon:
        _mark(run, name, None)
    cluster = RepairCluster(run.world.send)
    for namespace, pod in decision.evict:
        uid = _uid(run, namespace, pod)
        if uid:
            try:
                cluster.evict(namespace, pod, uid)
            except Blocked as budget:
                err.print(f"   {namespace}/{pod}: {budget}", markup=False, style="dim", soft_wrap=True)


def _uid(run: Run, namespace: str, pod: str) -> str:
    from physical_ai.readiness.reader import Missing

    try:
        return str(run.world.send("GET", f"/api/v1/namespaces/{namespace}/pods/{pod}", {})["metadata"]["uid"])
    except Missing:
        return ""


def _mark(run: Run, name: str, holder: str | None) -> None:
    """Cordons a node for this move, or uncordons it if `holder` is None. A node that has gone is left out."""
    from physical_ai.readiness.reader import Missing
    from workbench.health.replacement.cluster import Changed, conflicting, is_cordoned
    from workbench.moves.emptying import ANNOTATION

    for attempt in range(AGAIN):
        try:
            node = run.world.send("GET", f"/api/v1/nodes/{name}", {})
            if is_cordoned(node) == (holder is not None):
                return
            metadata = {"annotations": {ANNOTATION: holder}, "resourceVersion": node["metadata"]["resourceVersion"]}
            body = {"metadata": metadata, "spec": {"unschedulable": True if holder else None}}
            conflicting(partial(run.world.send, "PATCH", f"/api/v1/nodes/{name}", {}, body))
        except Missing:
            return
        except Changed:
            if attempt == AGAIN - 1:
                raise
        else:
            return


def reopen(run: Run, progress: Progress) -> Result:
    """Uncordons the nodes of the old pool that this move has cordoned."""
    move = progress.move
    for each in run.world.view(move.old).nodes:
        if each.cordoned and each.holder == move.new:
            _mark(run, each.name, None)
    return Result("passed")


def confirm(run: Run, progress: Progress, stage: Stage) -> Result:
    if stage.name == "plan":
        return Result("passed")
    gone = progress.move.old if stage.name == "confirm" else progress.move.new
    left = [each.name for each in run.world.view(gone).nodes]
    if left:
        return Result(
            "failed", (f"{gone} still has nodes: {', '.join(left)}; deploy the stack, and run the command again",)
        )
    return Result("passed")
