"""Output of `obtain`: ways to get each pool's nodes, as a document and for people, and a file of changed settings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import STYLES, err, out

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.preflight.capacity import Choice
    from workbench.preflight.obtaining import Decision, Difference

_ADVICE = {
    "price not accepted": "it may cost more: repeat the command with --accept-price to write the change",
    "not known": "no option is known to be available: query Azure, or select one with --fallback",
    "nowhere": "neither the pool nor a fallback is available: request quota, or add a fallback",
}


def text(settings: Settings, decisions: Sequence[Decision], change: Mapping[str, Any]) -> str:
    """Text of a layer file with the changed settings `change`. Comments at the beginning have the additional cost of
    each changed pool.
    """
    import yaml

    stack = settings.stack
    head = [
        f"For {stack}, by `physai obtain`. Review: `physai preview {stack} -f FILE`. Then add it to the stack file."
    ]
    head += [_cost(settings, each) for each in decisions if each.pool in change["pools"]]
    comments = "".join(f"# {line}\n" for line in head)
    return comments + yaml.safe_dump(dict(change), sort_keys=False, width=120)


def _cost(settings: Settings, decision: Decision) -> str:
    """Sentence about the additional cost per hour of one changed pool at its largest number of nodes."""
    taken, nodes = decision.taken, settings.pools[decision.pool].scale.most
    difference = _difference(decision, taken) if taken is not None else ""
    amount = "a difference that is not known" if difference == "not known" else f"{difference} USD per hour"
    return f"{decision.pool}: {amount}, with {nodes} nodes."


def document(
    settings: Settings,
    decisions: Sequence[Decision],
    change: Mapping[str, Any],
    changes: Sequence[Difference],
    why_not: str | None,
) -> dict[str, Any]:
    return {
        "stack": settings.stack,
        "region": settings.region,
        "whyNot": why_not,
        "pools": [
            {
                "pool": decision.pool,
                "outcome": decision.outcome,
                "taken": decision.taken.index if decision.taken is not None else None,
                "choices": [_choice(decision, each) for each in decision.choices],
            }
            for decision in decisions
        ],
        "change": change or None,
        "differences": [each.document() for each in changes],
    }


def _choice(decision: Decision, choice: Choice) -> dict[str, Any]:
    pool, price, more = choice.pool, choice.price, decision.difference(choice)
    return {
        "fallback": choice.index,
        "stack": choice.stack,
        "region": choice.region,
        "pool": choice.pool_name or None,
        "size": pool.sku if pool is not None else None,
        "priority": pool.priority.value if pool is not None else None,
        "zones": list(pool.zones) if pool is not None else None,
        "gpusPerNode": choice.gpus,
        "state": choice.state.value,
        "findings": [{**finding.document(), "where": finding.where} for finding in choice.findings],
        "usdPerHour": {"least": price.least, "most": price.most} if price is not None else None,
        "difference": {"least": more[0], "most": more[1]} if more is not None else None,
        "mayCostMore": decision.may_cost_more(choice),
    }


def print_decisions(settings: Settings, decisions: Sequence[Decision], why_not: str | None) -> None:
    for decision in decisions:
        out.print(f"[bold]{decision.pool}[/] of {settings.stack}")
        out.print(_table(decision))
        nodes = settings.pools[decision.pool].scale.most
        out.print(f"[dim]difference: USD per hour with {nodes} nodes, the most that the pool has[/]")
        if (advice := _ADVICE.get(decision.outcome)) is not None:
            err.print(f"{decision.pool}: {advice}", markup=False, style="yellow")
        elif decision.outcome == "as it is":
            err.print(f"{decision.pool}: no known obstacle for the pool as it is", markup=False)
        elif decision.outcome == "elsewhere" and decision.taken is not None:
            where = f"{decision.pool}: workflows of {decision.taken.stack}'s pool can take its work"
            err.print(f"{where}; no setting changes", markup=False)
    if why_not is not None:
        err.print(f"Azure was not queried ({why_not})", markup=False, style="yellow")


def _table(decision: Decision) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("", "what", "state"):
        table.add_column(column, no_wrap=True)
    for column in ("per node hour", "per GPU", "difference"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("because", overflow="fold")
    for each in decision.choices:
        mark = "→" if each is decision.taken and decision.settled else " "
        name = "as set" if each.index == 0 else str(each.index)
        style = STYLES[each.state]
        said = [finding.problem for finding in each.findings if finding.severity != "ok"]
        said = said or [finding.problem for finding in each.findings]
        table.add_row(
            f"{mark} {name}",
            escape(_what(each)),
            f"[{style}]{each.state.value}[/]",
            _price(each, 1),
            _price(each, each.gpus),
            _difference(decision, each),
            escape("\n".join(said)),
        )
    return table


def _what(choice: Choice) -> str:
    if choice.pool is None:
        return f"stack {choice.stack}"
    zones = f" zones {','.join(choice.pool.zones)}" if choice.pool.zones else ""
    return f"{choice.pool.sku} {choice.pool.priority.value} {choice.region}{zones}"


def _price(choice: Choice, parts: int) -> str:
    if choice.price is None or parts == 0:
        return "–"
    mark = "" if choice.price.is_exact else "≤"
    return f"{mark}{choice.price.most / parts:.2f}"


def _difference(decision: Decision, choice: Choice) -> str:
    more = decision.difference(choice)
    if choice.index == 0:
        return ""
    if more is None:
        return "not known"
    least, most = more
    return f"{least:+.2f}" if least == most else f"{least:+.2f} … {most:+.2f}"


def print_change(
    settings: Settings,
    decisions: Sequence[Decision],
    change: Mapping[str, Any],
    changes: Sequence[Difference],
    file: Path | None,
) -> None:
    """Prints on stderr the settings that change, each with its present value and file. Prints the change itself on
    stdout, unless it was written to a file.
    """
    if not change:
        return
    for each in changes:
        err.print(f"- {each.path}: {_written(each.before)}  ({each.origin})", markup=False, style="red")
        err.print(f"+ {each.path}: {_written(each.after)}", markup=False, style="green")
    for decision in decisions:
        if decision.pool in change["pools"]:
            err.print(_cost(settings, decision), markup=False)
            err.print(f"{decision.pool} is replaced by this change: its nodes are drained and deleted", markup=False)
    if file is None:
        print(text(settings, decisions, change), end="")
    else:
        err.print(f"written to {file}; nothing was changed", markup=False)


def _written(value: Any) -> str:
    """A setting's value in YAML syntax."""
    return json.dumps(value) if isinstance(value, list) else str(value)
