"""Workflow files as the command line names them, and what they are checked against."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from physical_ai.osmo.lint import Context
    from physical_ai.osmo.workflow.rendering import Variables

SUFFIXES = (".yaml", ".yml")


def workflow_files(paths: Sequence[Path], hint: str = "FILES") -> list[Path]:
    """Files, and those in folders. A folder without any is a mistake, not a success."""
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            files = sorted(item for item in path.rglob("*") if item.suffix in SUFFIXES and item.is_file())
            if not files:
                raise typer.BadParameter(f"the folder {path} contains no *.yaml file", param_hint=hint)
            found += files
        elif path.is_file():
            found.append(path)
        else:
            raise typer.BadParameter(f"the file {path} does not exist", param_hint=hint)
    return list(dict.fromkeys(found))


def read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{path} is not UTF-8 text", param_hint="FILES") from None
    except OSError as error:
        raise typer.BadParameter(f"{path}: {error.strerror}", param_hint="FILES") from None


def stack_context(
    stack: str, pool: str | None, variables: Variables, overlays: Sequence[Path], assignments: Sequence[str]
) -> Context:
    """What OSMO's service of a stack knows, by the stack's settings."""
    from physical_ai.osmo.lint import of_stack
    from physical_ai.settings import Overlay, load

    layers = [Overlay.read(path) for path in overlays]
    layers += [Overlay.assign(list(assignments))] if assignments else []
    return with_known_pool(of_stack(load(stack, layers).settings, pool, variables))


def values_context(path: Path, pool: str | None, variables: Variables) -> Context:
    """The same by a file of chart values, with which the service has to be able to start."""
    import yaml

    from physical_ai.osmo.lint import of_chart_values
    from physical_ai.osmo.refusal import Refusal
    from physical_ai.osmo.shapes import a_map

    try:
        return with_known_pool(of_chart_values(a_map(yaml.safe_load(read_text(path))), str(path), pool, variables))
    except yaml.YAMLError as error:
        raise typer.BadParameter(f"{path} is not YAML: {error}", param_hint="--values") from None
    except Refusal as refusal:
        raise typer.BadParameter(f"{path}: OSMO's service rejects it: {refusal}", param_hint="--values") from None


def with_known_pool(context: Context) -> Context:
    """The context. Raises typer.BadParameter where it has no OSMO pool of the chosen name."""
    if context.pool not in context.config.pool_names:
        known = ", ".join(context.config.pool_names) or "none"
        problem = f"{context.name} has no OSMO pool '{context.pool}'. Pools: {known}"
        raise typer.BadParameter(problem, param_hint="--pool")
    return context
