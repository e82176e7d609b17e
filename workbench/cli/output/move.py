"""Output of a move: its plan and its progress, as a document and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.console import err, out

if TYPE_CHECKING:
    from workbench.cli.move_plan import Plan
    from workbench.moves.progress import Progress
    from workbench.moves.stages import Stage


def plan_document(plan: Plan) -> dict[str, Any]:
    from workbench.impact.telling import Seen, headline
    from workbench.moves.layers import layer

    seen = Seen(known=True)
    move = plan.move
    return {
        "stack": move.stack,
        "pool": move.old,
        "newPool": move.new,
        "to": move.to,
        "newNodes": plan.nodes,
        "needs": [
            {"status": each.severity.value, "topic": each.rule, "subject": each.where, "message": each.problem}
            for each in plan.needs
        ],
        "atOnce": {"headline": headline(plan.at_once, seen), "lostGpuHours": round(plan.at_once.lost[1], 2)},
        "move": {"headline": headline(plan.moved, seen), "lostGpuHours": round(plan.moved.lost[1], 2)},
        "changes": {state: layer(move, state, None) for state in ("both", "switched", "moved")},
        "notes": list(plan.notes),
        "problems": list(plan.problems),
    }


def print_plan(plan: Plan) -> None:
    from workbench.impact.telling import Seen, headline, sentences
    from workbench.moves.stages import FORWARD

    move, seen = plan.move, Seen(known=True)
    asked = ", ".join(f"{path}={value}" for path, value in move.to.items())
    lines = [
        f"move {move.old} of {move.stack} to {move.new}: {asked}",
        f"new pool: {plan.nodes}",
        *(f"{each.rule} {each.where}: {each.severity.value}: {each.problem}" for each in plan.needs),
        f"the same change at once: {headline(plan.at_once, seen)}",
        *(f"  {each}" for each in sentences(plan.at_once, seen)),
        f"the move: {headline(plan.moved, seen)}",
        *(f"note: {each}" for each in plan.notes),
        "stages:",
        *(f"  {each.name}: {each.does.format(old=move.old, new=move.new)}" for each in FORWARD),
    ]
    for line in lines:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    for problem in plan.problems:
        err.print(f"against it: {problem}", markup=False, style="red", soft_wrap=True)


def document(progress: Progress) -> dict[str, Any]:
    from workbench.moves.stages import stages

    move, at = progress.move, progress.following()
    return {
        "stack": move.stack,
        "pool": move.old,
        "newPool": move.new,
        "to": move.to,
        "simulated": progress.simulated,
        "back": progress.back,
        "stage": at.name if at else None,
        "written": progress.written,
        "limits": {
            "withinSeconds": progress.limits.within,
            "lostGpuHours": progress.limits.budget,
            "restartServices": progress.limits.restart_services,
        },
        "stages": [_row(progress, each) for each in stages(back=progress.back)],
    }


def _row(progress: Progress, stage: Stage) -> dict[str, Any]:
    entry, move = progress.entries.get(stage.name), progress.move
    return {
        "stage": stage.name,
        "outcome": entry.outcome if entry else None,
        "began": entry.began if entry else None,
        "ended": entry.ended if entry else None,
        "remarks": list(entry.remarks) if entry else [],
        "does": stage.does.format(old=move.old, new=move.new),
        "wayBack": way_back(stage, progress),
    }


def way_back(stage: Stage, progress: Progress) -> str:
    move = progress.move
    return stage.back.format(stack=move.stack, pool=move.old, old=move.old, new=move.new)


def print_status(progress: Progress) -> None:
    move = progress.move
    head = f"{'way back of the move' if progress.back else 'move'} of {move.old} of {move.stack} to {move.new}"
    out.print(head, markup=False, highlight=False)
    for row in document(progress)["stages"]:
        out.print(f"  {row['stage']:12} {row['outcome'] or 'not begun'}", markup=False, highlight=False)
        for remark in row["remarks"] if row["outcome"] != "passed" else ():
            out.print(f"    {remark}", markup=False, highlight=False, soft_wrap=True)


def print_stage(stage: Stage, progress: Progress) -> None:
    move = progress.move
    err.print(
        f"[bold]{stage.name}[/]: {stage.does.format(old=move.old, new=move.new)}", highlight=False, soft_wrap=True
    )
    err.print(f"   back: {way_back(stage, progress)}", markup=False, style="dim", soft_wrap=True)


def print_end(progress: Progress, command: str) -> None:
    move, at = progress.move, progress.following()
    if at is None:
        what = (
            f"{move.old} is as before, and {move.new} is gone"
            if progress.back
            else f"the work of {move.old} is on {move.new}"
        )
        err.print(f"{move.stack}: {what}", style="green", markup=False)
        return
    outcome = progress.entries[at.name].outcome if at.name in progress.entries else "not begun"
    err.print(f"{move.stack}: stage {at.name}: {outcome}; to go on: {command}", markup=False, soft_wrap=True)
