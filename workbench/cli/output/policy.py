"""Output of `policy`, the findings about a stack's resources, as a document and for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from physical_ai.findings import Severity
from workbench.cli.console import STYLES, err, out, print_json

if TYPE_CHECKING:
    from workbench.policies import ResourceFinding
    from workbench.policies import Stack as Declared


def document(stack: str, declared: Declared, findings: Sequence[ResourceFinding]) -> dict[str, Any]:
    """The findings of the policies about a stack, as data."""
    from workbench.policies import RULES

    rules = {rule.id: rule for rule in RULES}
    return {
        "stack": stack,
        "rules": len(RULES),
        "resources": sum(each.custom for each in declared.resources),
        "findings": [
            {
                **each.document(),
                "topic": rules[each.rule].topic.value,
                "type": each.type,
                "name": each.name,
                "path": each.where,
                "reason": each.reason,
                "link": rules[each.rule].link,
            }
            for each in findings
        ],
    }


def print_findings(found: Mapping[str, Any]) -> None:
    """Prints the findings for people. `found`: result of `document`."""
    for each in found["findings"]:
        place = f"{each['type'].rpartition(':')[2]} {each['name']}" + (f" {each['path']}" if each["path"] else "")
        style = STYLES[Severity(each["severity"])]
        out.print(f"[{style}]{each['severity']}[/] {each['rule']}: {escape(place)}", soft_wrap=True)
        out.print(f"  {escape(each['message'])}", soft_wrap=True)
        out.print(f"  [dim]{escape(each['reason'])} {each['link']}[/]", soft_wrap=True)
    counts = Counter(each["severity"] for each in found["findings"])
    summary = ", ".join(
        f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}" for name in (Severity.ERROR, Severity.WARNING)
    )
    err.print(f"{found['stack']}: {found['rules']} rules over {found['resources']} resources: {summary}")


def print_rules(*, as_json: bool) -> None:
    """Prints every rule with its reason."""
    from workbench.policies import RULES

    if as_json:
        rules = [
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
        print_json({"rules": rules})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("rule", "severity", "topic"):
        table.add_column(column, no_wrap=True)
    table.add_column("reason", overflow="fold")
    for rule in sorted(RULES, key=lambda each: each.topic.value):
        severity = rule.severity.value
        table.add_row(rule.id, f"[{STYLES[rule.severity]}]{severity}[/]", rule.topic.value, rule.reason)
    out.print(table)
