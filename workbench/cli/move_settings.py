"""Stages of a move that change the stack's settings: written into the stack file, or deployed to the simulator."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.cli.exit_codes import FINDINGS
from workbench.cli.moves import Result
from workbench.moves.progress import Progress
from workbench.moves.stages import Stage

if TYPE_CHECKING:
    from workbench.cli.moves import Run
    from workbench.moves.layers import State


def change_settings(run: Run, progress: Progress, stage: Stage) -> tuple[Progress, Result]:
    removed = {"remove": progress.move.old, "withdraw": progress.move.new}.get(stage.name)
    if removed is not None and (busy := _not_empty(run, progress, removed)):
        return _emptied_again(progress), Result(
            "failed", (f"{busy}. Run the same command again: it empties the pool first",)
        )
    if stage.state == "switched" and progress.cap is None:
        progress = replace(progress, cap=_cap(run, progress))
    if run.world.simulated:
        return _rehearsed(run, progress, stage)
    return _written(run, progress, stage)


def _emptied_again(progress: Progress) -> Progress:
    """The progress in which the old or the new pool is emptied once more."""
    entries = {name: each for name, each in progress.entries.items() if name not in ("empty", "empty-new")}
    return replace(progress, entries=entries)


def _not_empty(run: Run, progress: Progress, pool: str) -> str:
    """Reason why a pool cannot be removed now; empty if nothing runs there."""
    from workbench.moves.emptying import owners

    view = run.world.view(pool)
    if view.running or view.waiting:
        return f"{owners([*view.running, *view.waiting])} runs on {pool}, or waits for it"
    return f"nodes of {pool} take Pods" if any(not each.cordoned for each in view.nodes) else ""


def _cap(run: Run, progress: Progress) -> int | None:
    """Largest number of nodes of the old pool from now on: those that it has, one at least."""
    scale: dict[str, Any] = progress.move.before["scale"]
    if scale.get("max") is None:
        return None
    present = len(run.world.view(progress.move.old).nodes)
    return min(max(present, int(scale.get("min") or 0), 1), int(scale["max"]))


def _rehearsed(run: Run, progress: Progress, stage: Stage) -> tuple[Progress, Result]:
    """Deploys the settings of a stage to the simulated stack."""
    import yaml

    from workbench.moves.layers import layer

    world = run.world
    layered = layer(progress.move, stage.state, progress.cap)
    world.folder.keep(world.folder.layer.name, yaml.safe_dump(layered, sort_keys=False))
    progress = replace(progress, written=stage.state)
    world.folder.save(progress)
    over = ("-f", str(world.folder.layer)) if layered else ()
    code, _ = world.physai("up", world.stack, *progress.extra, *over, "--max-lost", "0", "--json")
    if code == 0:
        return progress, Result("passed")
    why = "it would end running work" if code == FINDINGS else f"it ended with exit code {code}; its output says why"
    return progress, Result("failed", (f"physai up: {why}",))


def _written(run: Run, progress: Progress, stage: Stage) -> tuple[Progress, Result]:
    """Writes the settings of a stage into the stack file, and looks whether they are deployed."""
    from workbench.moves.stack_file import rewritten
    from workbench.upgrade.yaml_text import NotEditable

    world, move, label = run.world, progress.move, run.world.label
    text = world.stack_text()
    try:
        new = rewritten(text, move, progress.own, stage.state, progress.cap)
    except NotEditable:
        return progress, Result("failed", _by_hand(progress, stage.state, label))
    progress = replace(progress, written=stage.state)
    if new != text:
        world.folder.save(progress)  # before the file, so that an interrupted run knows what it has written
        world.write_stack(new)
        said = f"{label} is written: look at it with git diff, have it reviewed, and deploy it"
        return progress, Result("waiting", (said, "then run the same command again"))
    if run.deployed:
        return progress, Result("passed")
    match world.has_deployed(progress, stage.state):
        case True:
            return progress, Result("passed")
        case False:
            return progress, Result(
                "waiting", (f"{label} is not deployed yet; deploy it, and run the same command again",)
            )
        case None:
            ask = "pulumi stack output cannot be read: --deployed confirms that the stack file is deployed"
            return progress, Result("waiting", (ask,))


def _by_hand(progress: Progress, state: State, label: str) -> tuple[str, ...]:
    import yaml

    from workbench.moves.layers import layer

    shown = yaml.safe_dump(layer(progress.move, state, progress.cap), sort_keys=False, default_flow_style=None)
    return (
        f"{label} has a layout in which the change cannot be made; make it by hand, and run the command again:",
        shown,
    )
