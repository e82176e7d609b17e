"""The `pr-preview` command: what a change does to every stack it affects, without Azure and without a credential."""

from __future__ import annotations

import signal
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from physical_ai.cli.console import err, print_json
from physical_ai.cli.exit_codes import FAILED
from physical_ai.cli.options import Json

if TYPE_CHECKING:
    from physical_ai.cli.pull_request.affected import Affected
    from physical_ai.cli.pull_request.comment import Report
    from physical_ai.cli.pull_request.trees import Side

UP_SECONDS, PREVIEW_SECONDS = 1200, 600
"""How long one stack may take. A simulated `up` takes a minute, on a laptop less."""

Base = Annotated[str, typer.Option("--base", metavar="REF", help="What the change is to go into, as origin/main.")]
Head = Annotated[
    str | None, typer.Option("--head", metavar="REF", help="The change; the checkout as it lies here if absent.")
]
Only = Annotated[list[str] | None, typer.Option("--stack", help="Only this stack, if affected at all; repeatable.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the comment to this file, and pictures beside it."),
]


def pr_preview(base: Base, head: Head = None, stack: Only = None, output: Output = None, json: Json = False) -> None:
    """Simulate each stack that a change affects as the base has it, preview the change against it, write a comment.

    The user's own simulations and the checkout are not touched. Exit code 1: a stack can't be previewed.
    """
    from physical_ai.cli.pull_request.affected import affected, own_files
    from physical_ai.cli.pull_request.comment import comment
    from physical_ai.cli.pull_request.trees import Repository, sides
    from physical_ai.repository import ROOT

    repository = Repository(ROOT)
    commit, tree = repository.head(head)
    start = repository.base(base, commit)
    files = repository.changed(start, tree)
    with _ended_by_signals(), sides(repository, start, tree) as (before, after):
        found = affected(files, own_files(before.folder / "stacks"), own_files(after.folder / "stacks"))
        wanted = [each for each in found if not stack or each.stack in stack]
        names = ", ".join(each.stack for each in wanted) or "none"
        err.print(f"files that differ from {base} at {start[:10]}: {len(files)}; stacks affected: {names}")
        pictures = output.resolve().parent if output is not None else None
        reports = [_report(each, before, after, pictures) for each in wanted]
    text = comment(reports, files)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    if json:
        print_json({"base": start, "files": files, "stacks": [_data(each) for each in reports]})
    elif output is None:
        print(text, end="")
    if any(each.head_failed for each in reports):
        raise typer.Exit(FAILED)


def _report(affected: Affected, before: Side, after: Side, pictures: Path | None) -> Report:
    from physical_ai.cli.pull_request.affected import Kind
    from physical_ai.cli.pull_request.comment import Report
    from physical_ai.cli.pull_request.trees import end_processes

    if affected.kind is Kind.REMOVED:
        return Report(affected)
    base_failed = picture = ""
    try:
        if affected.kind is Kind.CHANGED:
            base_failed = _simulated(affected.stack, before, after)
            if pictures is not None and not base_failed:
                picture = _drawn(affected.stack, after, pictures)
        began = time.monotonic()
        document, head_failed = after.document("preview", affected.stack, "--format", "json", timeout=PREVIEW_SECONDS)
        _tell(affected.stack, "head previewed", head_failed, began)
    finally:
        end_processes(before.home)
    return Report(affected, document, base_failed, head_failed, picture)


def _simulated(stack: str, before: Side, after: Side) -> str:
    """Deploys the base and lets the head find it; what went wrong, or nothing."""
    from physical_ai.simulator.errors import SimulationError

    began = time.monotonic()
    try:
        deployed, problem = before.document("up", stack, "--json", timeout=UP_SECONDS)
        if deployed is not None:
            # A simulation belongs to a checkout; the head's gets the base's under its own name.
            mine, theirs = before.simulation(stack), after.simulation(stack)
            theirs.symlink_to(mine)
    except SimulationError as failure:
        problem = str(failure)
    _tell(stack, "base simulated", problem, began)
    return problem


def _drawn(stack: str, after: Side, folder: Path) -> str:
    """The name of the picture of what is deployed, drawn into `folder`; empty where the head's code draws none."""
    file = folder / f"{stack}.svg"
    file.unlink(missing_ok=True)
    ran = after.physai("status", stack, "--picture", str(file), timeout=PREVIEW_SECONDS)
    return file.name if ran.code == 0 and file.exists() else ""


def _tell(stack: str, what: str, problem: str, began: float) -> None:
    seconds = f"[dim]{time.monotonic() - began:.0f} s[/]"
    if problem:
        err.print(f"[red]{stack}: not {what}[/] {seconds}")
        err.print(problem, markup=False)
    else:
        err.print(f"[green]{stack}: {what}[/] {seconds}")


def _data(report: Report) -> dict[str, Any]:
    return {
        "stack": report.affected.stack,
        "kind": report.affected.kind.value,
        "files": list(report.affected.files),
        "baseFailed": report.base_failed or None,
        "headFailed": report.head_failed or None,
        "picture": report.picture or None,
        "preview": report.document,
    }


@contextmanager
def _ended_by_signals() -> Generator[None]:
    """SIGTERM, by which CI cancels a job, ends this like Ctrl-C: cleaning up."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    kept = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, kept)
