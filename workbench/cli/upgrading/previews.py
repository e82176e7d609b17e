"""Previews of an upgrade: the present version is deployed to a separate simulator, and the new one previewed there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.cli.pull_request.affected import Affected, Kind
from workbench.cli.pull_request.comment import Report
from workbench.cli.pull_request.revisions import Repository
from workbench.cli.pull_request.stack_previews import report
from workbench.cli.pull_request.trees import SHARED, sides
from workbench.cli.upgrading.programs import Program


def previews(
    project: Path, stacks: Sequence[str], texts: Mapping[str, str], old: Program, new: Program
) -> dict[str, Report]:
    """Report of each stack, by its name: its files as they are, deployed by `old`, and with new texts previewed by
    `new`.
    """
    repository = Repository(project)
    _, tree = repository.head(None)
    with sides(repository, tree, tree) as (before, after):
        for path, text in texts.items():
            file = after.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        for name in SHARED:  # both are the platform's own code, which may use the user's tools
            (after.home / name).symlink_to((before.home / name).resolve())
        base = replace(before, platform=old.folder)
        head = replace(after, platform=new.folder, shares_tools=True)
        return {stack: report(Affected(stack, Kind.CHANGED, tuple(texts)), base, head, None) for stack in stacks}
