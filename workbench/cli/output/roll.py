"""Output of an upgrade node by node: its plan and its progress, as a document and for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.console import err, out

if TYPE_CHECKING:
    from workbench.rolls.deciding import Step
    from workbench.rolls.planning import Plan
    from workbench.rolls.view import View


def plan_document(stack: str, pool: str, plan: Plan) -> dict[str, Any]:
    return {
        "stack": stack,
        "pool": pool,
        "changes": None if plan.changes is None else list(plan.changes),
        "nothingToDo": plan.has_nothing_to_do,
        "nodes": [
            {"node": each.node, "phase": each.phase or None, "outdated": list(each.outdated), "does": each.does}
            for each in plan.rows
        ],
        "problems": list(plan.problems),
    }


def print_plan(stack: str, pool: str, plan: Plan, limits: str) -> None:
    lines = [f"upgrade {pool} of {stack} in place, one node at a time; {limits}"]
    if plan.changes is not None and not any(each.outdated for each in plan.rows):
        lines += [f"deployment: {each}" for each in plan.changes] or ["deployment: the cluster has what the files say"]
    for each in plan.rows:
        phase = f", {each.phase}" if each.phase else ""
        lines.append(f"  {each.node}: {'old' if each.outdated else 'present'} driver{phase}; {each.does}")
    for line in lines:
        out.print(line, markup=False, highlight=False, soft_wrap=True)
    for problem in plan.problems:
        err.print(f"against it: {problem}", markup=False, style="red", soft_wrap=True)


def document(stack: str, pool: str, view: View, step: Step | None) -> dict[str, Any]:
    return {
        "stack": stack,
        "pool": pool,
        "outcome": step.outcome if step else None,
        "message": step.says if step else None,
        "nodes": [
            {
                "node": each.name,
                "phase": each.mark.phase if each.mark else None,
                "began": each.mark.began if each.mark else None,
                "reason": each.mark.reason or None if each.mark else None,
                "cordoned": each.cordoned,
                "upgradeState": each.state or None,
                "outdated": [part.daemon_set for part in each.parts if part.is_outdated],
                "work": [f"{work.namespace}/{work.name}" for work in each.running],
            }
            for each in view.nodes
        ],
    }


def print_status(stack: str, pool: str, view: View) -> None:
    out.print(f"{pool} of {stack}", markup=False, highlight=False)
    for row in document(stack, pool, view, None)["nodes"]:
        parts = [
            row["phase"] or "not held",
            "old driver" if row["outdated"] else "present driver",
            *(["cordoned"] if row["cordoned"] else []),
            *([row["upgradeState"]] if row["upgradeState"] else []),
            f"{len(row['work'])} Pods with work" if row["work"] else "no work",
        ]
        out.print(f"  {row['node']}: {', '.join(parts)}", markup=False, highlight=False, soft_wrap=True)
        if row["reason"]:
            out.print(f"    {row['reason']}", markup=False, highlight=False, soft_wrap=True)


class Progress:
    """Prints the steps of a run, each text once."""

    def __init__(self) -> None:
        self._said = ""

    def show(self, step: Step) -> None:
        if step.says != self._said:
            style = "dim" if step.outcome == "waiting" else None
            err.print(step.says, markup=False, style=style, soft_wrap=True)
            self._said = step.says
