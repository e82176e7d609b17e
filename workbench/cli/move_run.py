"""Run of a move: each stage in turn, with the progress saved before and after it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import TYPE_CHECKING

from workbench.cli import move_nodes
from workbench.cli.console import err
from workbench.cli.move_settings import change_settings
from workbench.moves.progress import Progress
from workbench.moves.stages import Stage

if TYPE_CHECKING:
    from workbench.cli.moves import Result, Run


def advance(run: Run, progress: Progress, show: Callable[[Stage], None]) -> Progress:
    """Runs stages until one does not pass, or all have. Returns the progress, which is saved."""
    folder = run.world.folder
    while (stage := progress.following()) is not None:
        show(stage)
        progress = progress.begun(stage, _text(run.now()))
        folder.save(progress)
        progress, result = _stage(run, progress, stage)
        progress = progress.ended(stage, result.outcome, _text(run.now()), *result.remarks)
        folder.save(progress)
        for each in result.remarks:
            err.print(f"   {each}", markup=False, soft_wrap=True)
        if result.outcome != "passed":
            return progress
    folder.close(progress)
    return progress


def _stage(run: Run, progress: Progress, stage: Stage) -> tuple[Progress, Result]:
    match stage.kind:
        case "settings":
            return change_settings(run, progress, stage)
        case "prove":
            return progress, move_nodes.prove(run, progress)
        case "empty":
            return progress, move_nodes.empty(run, progress, stage)
        case "open":
            return progress, move_nodes.reopen(run, progress)
        case "check":
            return progress, move_nodes.confirm(run, progress, stage)


def _text(when: datetime.datetime) -> str:
    return when.isoformat(timespec="seconds")
