"""Policies of a stack: applied to the resources that the program declares, or as the policy pack of an engine run."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from physical_ai.repository import ROOT
from workbench.cli.console import doing, err, out
from workbench.cli.exit_codes import FAILED

if TYPE_CHECKING:
    from pathlib import Path

    from workbench.cli.changes import Run
    from workbench.cli.requested_stack import RequestedStack
    from workbench.policies import Stack as Declared

PACK = ROOT / "workbench" / "policies" / "pack" / "__main__.py"
"""File of the policy pack. The engine can start it without a language host."""
MANDATORY = "mandatory"


def declared_resources(requested: RequestedStack, *, preview: bool, subscription: str | None = None) -> Declared:
    """The resources that the program declares for a stack, from a run without the engine.

    Args:
        preview: True to run as in a first preview, in which no output of Azure is known.
        subscription: Id of the login's subscription, which determines ids and names of the data services.
    """
    with doing(f"reading what the program declares for {requested.input.stack}"):
        from simulator.program import load_azure_on_demand

        load_azure_on_demand()  # before the program imports it
        from physical_ai.settings.layers.stack_file import PREFIX, SECRETS
        from workbench.mocks.azure_answers import SUBSCRIPTION
        from workbench.mocks.recorder import declared

        stack = requested.input
        config = {key.removeprefix(PREFIX): value for key, value in stack.config.items() if key.startswith(PREFIX)}
        if stack.secrets:
            config[SECRETS] = dict(stack.secrets)
        today = datetime.datetime.now(datetime.UTC).date()
        return declared(stack.stack, config, preview=preview, today=today, subscription=subscription or SUBSCRIPTION)


def declared_or_exit(requested: RequestedStack, *, preview: bool) -> Declared:
    """The resources that the program declares for a stack. If the program refuses the settings, prints its message and
    ends the command.

    Raises:
        typer.Exit: the program refuses these settings.
    """
    import pulumi

    try:
        return declared_resources(requested, preview=preview)
    except pulumi.RunError as refusal:
        err.print(str(refusal), markup=False, style="red")
        raise typer.Exit(FAILED) from None


def read_declared(
    stack: str, file: list[Path] | None, set_: list[str] | None, *, preview: bool
) -> tuple[RequestedStack, Declared]:
    """A stack with the command line's settings, and the resources that it declares.

    Raises:
        SettingsError: the settings are invalid.
        typer.Exit: the program refuses these settings.
    """
    from workbench.cli.requested_stack import read_stack

    requested = read_stack(stack, file, set_)
    return requested, declared_or_exit(requested, preview=preview)


def is_refused(run: Run) -> bool:
    """True if the policy pack refuses the changes of a run."""
    return any(each.level == MANDATORY for each in run.violations)


def violations_document(run: Run) -> list[dict[str, Any]]:
    """Violations that the policy pack has reported in a run, as data."""
    return [
        {"rule": each.policy, "level": each.level, "urn": each.urn, "message": each.text} for each in run.violations
    ]


def print_violations(run: Run) -> None:
    """Prints the violations that the policy pack has reported in a run."""
    for each in run.violations:
        style = "red" if each.level == MANDATORY else "yellow"
        kind, _, name = each.urn.rpartition("::")
        place = f"{kind.rpartition(':')[2]} {name}" if each.urn else "stack"
        out.print(f"[{style}]{each.level}[/] {each.policy}: {escape(place)}", soft_wrap=True)
        out.print(f"  {escape(each.text)}", soft_wrap=True)
