"""Refusals of a stack that Azure would make: as a document, and for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from physical_ai.findings import Severity
from workbench.cli.console import STYLES, err, out

if TYPE_CHECKING:
    from physical_ai.findings import Finding


def document(
    stack: str, region: str | None, findings: Sequence[Finding], *, queried: bool, why_not: str | None
) -> dict[str, Any]:
    return {
        "stack": stack,
        "region": region,
        "azureAsked": queried,
        "whyNot": why_not,
        "summary": dict(Counter(each.severity.value for each in findings)),
        "findings": [
            {
                "status": each.severity.value,
                "topic": each.rule,
                "subject": each.where,
                "message": each.problem,
                "fix": each.fix,
                "source": each.source,
            }
            for each in findings
        ],
    }


def print_findings(stack: str, findings: Sequence[Finding], why_not: str | None, asked: str = "Azure") -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "check", "about"):
        table.add_column(column, no_wrap=True)
    table.add_column("result", overflow="fold")
    for each in findings:
        style = STYLES[each.severity]
        text = escape(each.problem) + (f"\n[dim]{escape(each.fix)}[/]" if each.fix else "")
        table.add_row(f"[{style}]{each.severity.value}[/]", each.rule, escape(each.where), text)
    out.print(table)
    counts = Counter(each.severity.value for each in findings)
    summary = ", ".join(f"{counts[name]} {name}" for name in Severity if counts[name])
    err.print(f"{stack}: {summary}")
    if why_not is not None:
        login = why_not != "--offline" and asked == "Azure"
        hint = "; log in with `az login` or a workload identity to query it" if login else ""
        err.print(f"{asked} was not queried ({why_not}){hint}", style="yellow", markup=False)
