"""Workflow files that the command line names, and the OSMO configuration that they are checked against."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from workbench.osmo.lint import Context
    from workbench.osmo.workflow.rendering import Variables

SUFFIXES = (".yaml", ".yml")


def of_template(given: Sequence[str] | None, instead: str) -> Sequence[str]:
    """Template variables `NAME=VALUE` from an option of a workflow command.

    Raises typer.BadParameter for the path of a stack setting, which is no template variable. `instead`: the option to
    write for settings.
    """
    for each in given or ():
        name = each.partition("=")[0]
        if "." in name or "[" in name:
            raise typer.BadParameter(
                f"'{name}' is no variable of a template. A setting of the stack: {instead} {each}", param_hint="--set"
            )
    return given or ()


def workflow_files(paths: Sequence[Path], hint: str = "FILES") -> dict[Path, Path]:
    """Workflow files at `paths`, and in the folders among them, each with the folder that must contain it. A file that
    is a symbolic link out of that folder is refused later.

    Raises typer.BadParameter for a folder without workflow files, which is probably a mistake.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir():
            files = sorted(item for item in path.rglob("*") if item.suffix in SUFFIXES and item.is_file())
            if not files:
                raise typer.BadParameter(f"the folder {path} contains no *.yaml file", param_hint=hint)
            found.update(dict.fromkeys(files, path))
        elif os.path.lexists(path):
            here = Path(os.path.realpath(Path.cwd()))
            found[path] = here if Path(os.path.realpath(path)).is_relative_to(here) else path.parent
        else:
            raise typer.BadParameter(f"the file {path} does not exist", param_hint=hint)
    return found


def stack_context(
    stack: str, pool: str | None, variables: Variables, overlays: Sequence[Path], assignments: Sequence[str]
) -> Context:
    """Context of a check of workflows: the OSMO configuration of a stack with the command line's settings."""
    from physical_ai.settings import Overlay, load
    from workbench.osmo.lint import of_stack

    layers = [Overlay.read(path) for path in overlays]
    layers += [Overlay.assign(list(assignments))] if assignments else []
    loaded = load(stack, layers)
    return with_known_pool(of_stack(loaded.settings, pool, variables, loaded.served))


def values_context(path: Path, pool: str | None, variables: Variables) -> Context:
    """Context for checking workflows against the OSMO configuration in a file of chart values. Ends the command if OSMO
    could not start with these values.
    """
    from physical_ai.untrusted import documents, files
    from workbench.osmo.lint import of_chart_values
    from workbench.osmo.lint.isolated import failure
    from workbench.osmo.shapes import a_map

    def context() -> Context:
        return of_chart_values(a_map(documents.load(text)), str(path), pool, variables)

    try:
        text = files.read_text(path)
    except files.Unreadable as problem:
        raise typer.BadParameter(f"{path}: {problem}", param_hint="--values") from None
    if problem := failure(context):
        raise typer.BadParameter(
            f"{path}: OSMO's service can't start with these values: {problem}", param_hint="--values"
        )
    return with_known_pool(context())


def with_known_pool(context: Context) -> Context:
    """The unchanged `context`. Raises typer.BadParameter if its configuration has no OSMO pool named `context.pool`."""
    if context.pool not in context.config.pool_names:
        known = ", ".join(context.config.pool_names) or "none"
        problem = f"{context.name} has no OSMO pool '{context.pool}'. Pools: {known}"
        raise typer.BadParameter(problem, param_hint="--pool")
    return context
