"""Output of `reach`: connections as a table, step by step, as data, and as a diagram."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rich.markup import escape
from rich.table import Table

from workbench.cli.console import err, out
from workbench.policies.flows.asking import counts, grouped
from workbench.policies.flows.judging import Judgement, state_of
from workbench.policies.flows.verdicts import Verdict

EDGES = {"open": "-->", "closed": "--x", "unknown": "-.->"}
STATES = {True: "open", False: "closed", None: "unknown"}


def document(stack: str, judged: Sequence[Judgement], notes: Sequence[str], cluster: str | None) -> dict[str, Any]:
    """All connections as data. `cluster`: kubeconfig of the cluster that was read; None if only the declared resources
    were read.
    """
    return {
        "stack": stack,
        "azure": "declared",
        "kubernetes": cluster or "declared",
        "summary": dict(counts(judged)),
        "flows": [flow(each) for each in judged],
        "notes": list(notes),
    }


def flow(judged: Judgement) -> dict[str, Any]:
    """One connection as data. `open` is null if it is not known whether the connection is open."""
    verdict = judged.way.verdict
    return {
        "from": judged.flow.source,
        "to": judged.flow.target,
        "target": judged.way.target,
        "port": judged.way.port or None,
        "protocol": judged.flow.protocol,
        "must": judged.flow.must.value,
        "open": verdict.open,
        "holds": judged.holds,
        "by": verdict.by,
        "why": judged.flow.why or None,
        "instead": judged.flow.instead or None,
        "steps": [_step(each) for each in judged.way.hops],
    }


def _step(verdict: Verdict) -> dict[str, Any]:
    resource = verdict.resource
    named = {"type": resource.type, "name": resource.name} if resource is not None else None
    return {"open": verdict.open, "by": verdict.by, "resource": named}


def print_table(stack: str, judged: Sequence[Judgement], notes: Sequence[str]) -> None:
    """Prints one line for each network flow, and the reason for each flow that is open or closed against its
    requirement. Flows that violate their requirement come first.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("from", "to", "port", "is", "must be"):
        table.add_column(column, no_wrap=True)
    table.add_column("by", overflow="fold")
    for each, ports in sorted(grouped(judged), key=lambda row: row[0].holds):
        style = "red" if not each.holds else "yellow" if each.way.verdict.open is None else ""
        cells = (each.flow.source, _target(each), _ports(each, ports), state_of(each), each.flow.must.value)
        table.add_row(*(escape(cell) for cell in (*cells, each.way.verdict.by)), style=style)
    out.print(table)
    for each in (each for each in judged if not each.holds):
        out.print(
            f"{each}. It must be {each.flow.must.value}: {each.flow.why}", markup=False, style="red", soft_wrap=True
        )
    _print_notes(notes)
    number = counts(judged)
    states = ", ".join(f"{number[each]} {each}" for each in ("open", "closed", "unknown"))
    err.print(f"{stack}: {len(judged)} connections: {states}; {number['broken']} not as they have to be")


def print_steps(judged: Sequence[Judgement], notes: Sequence[str]) -> None:
    """Prints each connection with its hops, in order."""
    for each, ports in grouped(judged):
        head = f"{each.flow.source} → {_target(each)}, port {_ports(each, ports)}: {state_of(each)}"
        out.print(head, markup=False, style="bold" if each.holds else "bold red", soft_wrap=True)
        for at, step in enumerate(each.way.hops, 1):
            resource = f" ({step.resource.type.rpartition(':')[2]} {step.resource.name})" if step.resource else ""
            out.print(f"  {at}. {STATES[step.open]}: {step.by}{resource}", markup=False, soft_wrap=True)
        if each.flow.why:
            held = "" if each.holds else "It is not as it has to be. "
            out.print(f"  {held}Must be {each.flow.must.value}: {each.flow.why}", markup=False, soft_wrap=True)
        if each.flow.instead and each.way.verdict.open:
            out.print(f"  Protected by: {each.flow.instead}", markup=False, soft_wrap=True)
    _print_notes(notes)


def _print_notes(notes: Sequence[str]) -> None:
    for each in notes:
        err.print(each, markup=False, style="yellow", soft_wrap=True)


def _target(judged: Judgement) -> str:
    target, way = judged.flow.target, judged.way.target
    return target if way == target else f"{target} {way}"


def _ports(judged: Judgement, ports: Sequence[int]) -> str:
    shown = ",".join(str(each) for each in dict.fromkeys(ports) if each) or "?"
    return shown if judged.flow.protocol == "TCP" else f"{shown}/{judged.flow.protocol}"


DESCRIPTION = (
    "  accTitle: Who reaches whom",
    "  accDescr: An arrow is an open connection, a dotted one is unknown, and one with a cross is closed.",
)
"""Title and description for readers who cannot see the diagram."""


def diagram(judged: Sequence[Judgement], *, steps: bool) -> str:
    """A Mermaid diagram with each connection as an edge; with `steps`, each connection with all its hops."""
    # Steps are below each other, which a phone can show; the long list of connections is not made for one.
    lines = [f"flowchart {'TD' if steps else 'LR'}", *DESCRIPTION]
    if not steps:
        return "\n".join([*lines, *_edges(judged)]) + "\n"
    for number, (each, ports) in enumerate(grouped(judged)):
        last = f"f{number}[{_quoted(f'{each.flow.source}')}]"
        for at, step in enumerate(each.way.hops):
            here = f"h{number}_{at}{{{{{_quoted(step.by)}}}}}"
            lines.append(f"  {last} --> {here}")
            last = f"h{number}_{at}"
            if step.open is not True:
                break
        target = f"t{number}[{_quoted(f'{_target(each)} : {_ports(each, ports)}')}]"
        lines.append(f"  {last} {EDGES[state_of(each)]} {target}")
    return "\n".join(lines) + "\n"


def _edges(judged: Sequence[Judgement]) -> Iterator[str]:
    """Lines of Mermaid text for the diagram's edges. All ports between the same two endpoints share one edge if they
    have the same state. An edge is red if its state violates the flow's requirement.
    """
    ports: dict[tuple[str, str, str, bool], list[str]] = {}
    for each, numbers in grouped(judged):
        key = (each.flow.source, _target(each), state_of(each), each.holds)
        ports.setdefault(key, []).append(_ports(each, numbers))
    for (source, target, state, _), texts in ports.items():
        yield f"  {_node(source)} {EDGES[state]}|{_text(', '.join(dict.fromkeys(texts)))}| {_node(target)}"
    wrong = [str(place) for place, (*_, holds) in enumerate(ports) if not holds]
    if wrong:
        yield f"  linkStyle {','.join(wrong)} stroke:red,stroke-width:3px"


def _node(name: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9]', '_', name)}[{_quoted(name)}]"


def _quoted(text: str) -> str:
    return f'"{_text(text)}"'


def _text(text: str) -> str:
    """The text with characters escaped that Mermaid, or the page around the diagram, would read as markup."""
    return "".join(each if each.isalnum() or each in " .,:;-_/()'→" else f"#{ord(each)};" for each in text)
