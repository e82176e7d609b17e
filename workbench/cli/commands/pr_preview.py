"""The `pr-preview` command: what a change does to every stack it affects, without Azure and without credentials."""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.console import err, print_json, print_text
from workbench.cli.exit_codes import FAILED
from workbench.cli.options import Json

if TYPE_CHECKING:
    from workbench.cli.pull_request.comment import Report

Base = Annotated[str, typer.Option("--base", metavar="REF", help="The branch or commit to merge into: origin/main.")]
Head = Annotated[
    str | None, typer.Option("--head", metavar="REF", help="The change; the files of this checkout if omitted.")
]
Only = Annotated[list[str] | None, typer.Option("--stack", help="Only this stack, if it is affected; repeatable.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write the comment to this file, and pictures next to it."),
]


def pr_preview(base: Base, head: Head = None, stack: Only = None, output: Output = None, json: Json = False) -> None:
    """Preview a change on each stack that it affects, and write the result as a comment for the pull request.

    The base of each stack is deployed to a separate simulator, and the change previewed against it. Your simulations
    and this checkout do not change. Exit code 1: a stack cannot be previewed.
    """
    from physical_ai.repository import PROJECT
    from workbench.cli.pull_request.affected import affected, own_files
    from workbench.cli.pull_request.comment import comment
    from workbench.cli.pull_request.revisions import Repository
    from workbench.cli.pull_request.stack_previews import report
    from workbench.cli.pull_request.trees import sides

    if output is not None:  # before anything is deployed: a folder that cannot be made is noticed at once
        output.parent.mkdir(parents=True, exist_ok=True)
    repository = Repository(PROJECT)
    commit, tree = repository.head(head)
    start = repository.base(base, commit)
    files = repository.changed(start, tree)
    with _interrupted_by_sigterm(), sides(repository, start, tree) as (before, after):
        found = affected(files, own_files(before.folder / "stacks"), own_files(after.folder / "stacks"))
        chosen = [each for each in found if not stack or each.stack in stack]
        names = ", ".join(each.stack for each in chosen) or "none"
        if note := other_version(before.folder, after.folder):
            err.print(note, markup=False)
        err.print(f"{len(files)} files differ from {base} at {start[:10]}; affected stacks: {names}", markup=False)
        pictures = output.resolve().parent if output is not None else None
        reports = [report(each, before, after, pictures) for each in chosen]
    text = comment(reports, files)
    if output is not None:
        output.write_text(text)
    if json:
        print_json({"base": start, "files": files, "stacks": [_data(each) for each in reports]})
    elif output is None:
        print_text(text)
    if any(each.head_failed for each in reports):
        raise typer.Exit(FAILED)


def other_version(before: Path, after: Path) -> str:
    """Note that the project at `before` or `after` is a team's project and pins another version of the platform than
    the installed one. Empty if neither does.
    """
    from physical_ai.releases import pinned_version
    from physical_ai.repository import is_team_project
    from workbench.cli.new_project.pins import version

    pinned = [pinned_version(each) for each in (before, after) if is_team_project(each)]
    others = sorted({each for each in pinned if each not in (None, version())})
    if not others:
        return ""
    return f"requirements.txt pins the platform's version {', '.join(others)}; both sides run the installed {version()}"


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
def _interrupted_by_sigterm() -> Generator[None]:
    """Handler for SIGTERM, with which CI cancels a job: the command cleans up as after Ctrl-C."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    kept = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, kept)
