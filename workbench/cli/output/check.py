"""Output of `check`: the findings about what Azure would refuse, as a document and for people."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from physical_ai.findings import Severity
from workbench.cli.console import STYLES, err, out, print_json

if TYPE_CHECKING:
    from physical_ai.findings import Finding


OF_A_VERDICT = ("code", "resource", "setting", "file")
"""Keys in the document that only findings from ARM's verdict have."""


def document(
    stack: str,
    region: str | None,
    findings: Sequence[Finding],
    *,
    queried: bool,
    why_not: str | None,
    oldest: datetime.datetime | None = None,
) -> dict[str, Any]:
    return {
        "stack": stack,
        "region": region,
        "azureAsked": queried,
        "whyNot": why_not,
        "oldestAnswer": oldest.isoformat(timespec="seconds") if oldest is not None else None,
        "summary": dict(Counter(each.severity.value for each in findings)),
        "findings": [
            {
                "status": each.severity.value,
                "topic": each.rule,
                "subject": each.where,
                "message": each.problem,
                "fix": each.fix,
                "source": each.source,
                **{key: getattr(each, key) or None for key in OF_A_VERDICT if hasattr(each, key)},
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


def print_age(oldest: datetime.datetime | None) -> None:
    """Prints the age of the oldest stored answer of Azure that was used. Prints nothing if `oldest` is None."""
    if oldest is not None:
        minutes = int((datetime.datetime.now(datetime.UTC) - oldest).total_seconds() // 60)
        age = f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
        err.print(f"some of Azure's answers were kept from up to {age} ago; --fresh asks again", markup=False)


def print_questions(*, json: bool) -> None:
    """Prints the table of the questions to Azure, for people or as JSON."""
    from workbench.preflight.questions import QUESTIONS

    if json:
        rows = [
            {
                "topic": each.topic,
                "asks": each.asks,
                "request": each.request,
                "right": each.right,
                "without": each.without,
                "keptHours": each.hours,
            }
            for each in QUESTIONS
        ]
        print_json({"questions": rows})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("topic", "asks", "right", "without it"):
        table.add_column(column, overflow="fold")
    for each in QUESTIONS:
        table.add_row(each.topic, each.asks, each.right, each.without)
    out.print(table)
