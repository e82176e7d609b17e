"""What policies find in a stack's resources: as a document, and for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from physical_ai.cli.console import err, out, print_json

if TYPE_CHECKING:
    from physical_ai.policies import Finding
    from physical_ai.policies import Stack as Declared

_STYLE = {"error": "red", "warning": "yellow"}


def document(stack: str, declared: Declared, findings: Sequence[Finding]) -> dict[str, Any]:
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


def print_findings(found: Mapping[str, Any]) -> None:
    """A `document` for people."""
    for each in found["findings"]:
        place = f"{each['type'].rpartition(':')[2]} {each['name']}" + (f" {each['path']}" if each["path"] else "")
        style = _STYLE[each["severity"]]
        out.print(f"[{style}]{each['severity']}[/] {each['rule']}: {escape(place)}", soft_wrap=True)
        out.print(f"  {escape(each['message'])}", soft_wrap=True)
        out.print(f"  [dim]{escape(each['reason'])} {each['link']}[/]", soft_wrap=True)
    counts = Counter(each["severity"] for each in found["findings"])
    summary = ", ".join(f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}" for name in _STYLE)
    err.print(f"{found['stack']}: {found['rules']} rules over {found['resources']} resources: {summary}")


def print_rules(*, as_json: bool) -> None:
    """Every rule, with its reason."""
    from physical_ai.policies import RULES

    if as_json:
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
