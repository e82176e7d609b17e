"""The `policy` command: what the rules find in the resources that a stack declares."""

from __future__ import annotations

import datetime
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from physical_ai.cli.console import err, out, print_json
from physical_ai.cli.options import DEFAULT_STACK, Assignments, Files, Json, Stack
from physical_ai.repository import ROOT

if TYPE_CHECKING:
    from physical_ai.cli.preview.changes import Run
    from physical_ai.cli.stack_input import Given
    from physical_ai.policies import Finding
    from physical_ai.policies import Stack as Declared

FAILED, FINDINGS = 1, 3
PACK = ROOT / "physical_ai" / "policies" / "pack" / "__main__.py"
"""The policy pack, as a file that the engine starts without a language host."""
MANDATORY = "mandatory"
_STYLE = {"error": "red", "warning": "yellow"}


class Least(StrEnum):
    """From which severity on a finding counts."""

    WARNING = "warning"
    ERROR = "error"


Severity = Annotated[Least, typer.Option("--severity", help="Exit with 3 when a finding is as grave as this.")]
ListOption = Annotated[bool, typer.Option("--list", help="List the rules instead, with their reasons.")]
Before = Annotated[
    bool, typer.Option("--preview", help="Judge what a first preview knows, before Azure has answered anything.")
]


def policy(  # noqa: PLR0917 - each is an option
    stack: Stack = DEFAULT_STACK,
    severity: Severity = Least.ERROR,
    preview: Before = False,
    rules: ListOption = False,
    file: Files = None,
    set_: Assignments = None,
    json: Json = False,
) -> None:
    """Hold the policies to every resource a stack declares. The program runs without an engine, in seconds."""
    import pulumi

    from physical_ai.policies import RULES, evaluate

    if rules:
        _list(json=json)
        return
    from physical_ai.cli import stack_input

    given = stack_input.read(stack, file or [], set_ or [])
    try:
        declared = declared_by(given, preview=preview)
    except pulumi.RunError as refusal:
        err.print(str(refusal), markup=False, style="red")
        raise typer.Exit(FAILED) from None
    findings = evaluate(declared)
    document = document_of(stack, declared, findings)
    if json:
        print_json(document)
    else:
        _render(findings)
        counts = Counter(each.severity.value for each in findings)
        told = ", ".join(f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}" for name in _STYLE)
        err.print(f"{stack}: {len(RULES)} rules over {document['resources']} resources: {told}")
    if any(each.severity.value == "error" or severity is Least.WARNING for each in findings):
        raise typer.Exit(FINDINGS)


def declared_by(given: Given, *, preview: bool) -> Declared:
    """What the program declares with these settings."""
    from physical_ai.mocks.recorder import record_config
    from physical_ai.settings.layers.stack_file import PREFIX, SECRETS

    ours = {key.removeprefix(PREFIX): value for key, value in given.input.config.items() if key.startswith(PREFIX)}
    if given.input.secret_names:
        ours[SECRETS] = dict.fromkeys(given.input.secret_names, "made up for the policies")
    today = datetime.datetime.now(datetime.UTC).date()
    return record_config(given.input.stack, ours, preview=preview, simulated=True, today=today).stack


def document_of(stack: str, declared: Declared, findings: list[Finding]) -> dict[str, Any]:
    """The findings as data."""
    from physical_ai.policies import RULES

    rules = {rule.id: rule for rule in RULES}
    return {
        "stack": stack,
        "rules": len(RULES),
        "resources": sum(each.custom for each in declared.resources),
        "findings": [
            {
                "rule": each.rule,
                "severity": each.severity.value,
                "topic": rules[each.rule].topic.value,
                "type": each.type,
                "name": each.name,
                "path": each.path,
                "message": each.message,
                "reason": each.reason,
                "link": rules[each.rule].link,
            }
            for each in findings
        ],
    }


def _render(findings: list[Finding]) -> None:
    from physical_ai.policies import RULES

    links = {rule.id: rule.link for rule in RULES}
    for each in findings:
        style = _STYLE[each.severity.value]
        place = f"{each.type.rpartition(':')[2]} {each.name}" + (f" {each.path}" if each.path else "")
        out.print(f"[{style}]{each.severity.value}[/] {each.rule}: {escape(place)}", soft_wrap=True)
        out.print(f"  {escape(each.message)}", soft_wrap=True)
        out.print(f"  [dim]{escape(each.reason)} {links[each.rule]}[/]", soft_wrap=True)


def stops(run: Run) -> bool:
    """Whether the policy pack refuses what a run would do."""
    return any(each.level == MANDATORY for each in run.refusals)


def refusals_document(run: Run) -> list[dict[str, Any]]:
    """What the policy pack says of a run's resources."""
    return [{"rule": each.policy, "level": each.level, "urn": each.urn, "message": each.text} for each in run.refusals]


def render_refusals(run: Run) -> None:
    """The same, for people."""
    for each in run.refusals:
        style = "red" if each.level == MANDATORY else "yellow"
        kind, _, name = each.urn.rpartition("::")
        place = f"{kind.rpartition(':')[2]} {name}" if each.urn else "stack"
        out.print(f"[{style}]{each.level}[/] {each.policy}: {escape(place)}", soft_wrap=True)
        out.print(f"  {escape(each.text)}", soft_wrap=True)


def _list(*, json: bool) -> None:
    from physical_ai.policies import RULES

    if json:
        print_json(
            [
                {
                    "id": rule.id,
                    "severity": rule.severity.value,
                    "topic": rule.topic.value,
                    "reason": rule.reason,
                    "link": rule.link,
                    "types": list(rule.types),
                }
                for rule in RULES
            ]
        )
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("rule", "severity", "topic"):
        table.add_column(column, no_wrap=True)
    table.add_column("reason", overflow="fold")
    for rule in sorted(RULES, key=lambda each: each.topic.value):
        severity = rule.severity.value
        table.add_row(rule.id, f"[{_STYLE[severity]}]{severity}[/]", rule.topic.value, rule.reason)
    out.print(table)
