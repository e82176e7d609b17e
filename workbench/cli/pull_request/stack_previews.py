"""Preview of one affected stack: the base is deployed to a separate simulator, and the head is previewed against it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.markup import escape

from workbench.cli.console import err
from workbench.cli.preview.picture import picture
from workbench.cli.pull_request.affected import Affected, Kind
from workbench.cli.pull_request.bytecode import take_bytecode
from workbench.cli.pull_request.comment import Report, comment
from workbench.cli.pull_request.trees import Side, kill_processes

UP_SECONDS, PREVIEW_SECONDS = 1200, 600
"""Time limits in seconds for one stack's `up` and its preview. A simulated `up` takes a minute, on a laptop less."""


def report(affected: Affected, base: Side, head: Side, pictures: Path | None) -> Report:
    """Deploys the base of a stack, previews the head, and returns the report on the change's effects.

    Args:
        pictures: Existing folder for the picture of the simulated base; None for no picture.
    """
    if affected.kind is Kind.REMOVED:
        return Report(affected)
    stack, base_failed, drawn = affected.stack, "", ""
    try:
        if affected.kind is Kind.CHANGED:
            deployed, base_failed = _deploy(stack, base, head)
            if pictures is not None and deployed is not None:
                drawn = _draw(deployed, pictures / f"{stack}.svg")
        start = time.monotonic()
        # Done after the base has run, which may have installed tools and compiled further modules.
        head.copy_tools()
        take_bytecode(head.folder, base.folder)
        document, head_failed = head.document("preview", stack, "--format", "json", timeout=PREVIEW_SECONDS)
        if document is not None and not _can_be_shown(affected, document):
            document, head_failed = None, "The head's code printed a preview of another form than this command reads."
        if document is not None and affected.kind is Kind.CHANGED and not base_failed and not document["deployed"]:
            document, head_failed = None, "The head's code does not find the simulation of the base."
        _print_result(stack, "preview of the head", head_failed, start)
    finally:
        for side in (base, head):
            kill_processes(side.home)
    return Report(affected, document, base_failed, head_failed, drawn)


def _can_be_shown(affected: Affected, document: dict[str, Any]) -> bool:
    """True if a comment can be made from `document`, which the head's code may have written in another form."""
    try:
        comment([Report(affected, document)], ())
    except (AttributeError, LookupError, TypeError, ValueError):
        return False
    return "deployed" in document


def _deploy(stack: str, base: Side, head: Side) -> tuple[dict[str, Any] | None, str]:
    """Deploys the base, and makes its simulation available to the head. Returns the status of the deployed base, and an
    empty text; if the deployment fails, None and the error output.
    """
    start = time.monotonic()
    status, problem = base.document("up", stack, "--json", timeout=UP_SECONDS)
    if status is not None:
        # Each home folder and checkout has its own simulations: through the link, the head uses that of the base.
        head.simulation(stack).parent.mkdir(exist_ok=True)
        head.simulation(stack).symlink_to(base.simulation(stack))
    _print_result(stack, "simulation of the base", problem, start)
    return status, problem


def _draw(status: Mapping[str, Any], file: Path) -> str:
    """Draws the deployed stack. Returns the picture's file name; empty if the base's code reports the stack in another
    form.
    """
    file.unlink(missing_ok=True)
    try:
        file.write_text(picture(status))
    except (KeyError, TypeError):
        return ""
    return file.name


def _print_result(stack: str, what: str, problem: str, start: float) -> None:
    seconds = f"[dim]{time.monotonic() - start:.0f} s[/]"
    stack = escape(stack)
    if problem:
        err.print(f"[red]{stack}: {what} failed[/] {seconds}")
        err.print(problem, markup=False)
    else:
        err.print(f"[green]{stack}: {what} done[/] {seconds}")
