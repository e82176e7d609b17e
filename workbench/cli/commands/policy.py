"""The `policy` command: findings of the policies about the resources that a stack declares."""

from __future__ import annotations

from typing import Annotated

import typer

from physical_ai.findings import Severity, any_at_least
from workbench.cli.console import print_json
from workbench.cli.exit_codes import FINDINGS
from workbench.cli.options import DEFAULT_STACK, Assignments, BeforeAzure, Files, Json, Least, Stack

ListOption = Annotated[bool, typer.Option("--list", help="List the rules instead, with their reasons.")]


def policy(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    severity: Least = Severity.ERROR,
    preview: BeforeAzure = False,
    rules: ListOption = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Check every resource that a stack declares against the policies.

    The program runs without the Pulumi engine, in seconds; nothing is deployed or simulated.
    """
    from workbench.cli.output import policy as output
    from workbench.cli.policy_pack import read_declared
    from workbench.policies import evaluate

    if rules:
        output.print_rules(as_json=json)
        return
    _, declared = read_declared(stack, file, set_, preview=preview)
    findings = evaluate(declared)
    document = output.document(stack, declared, findings)
    if json:
        print_json(document)
    else:
        output.print_findings(document)
    if any_at_least(findings, severity):
        raise typer.Exit(FINDINGS)
