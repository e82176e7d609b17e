"""Output of the simulated stack's alerts, and of the faults that can cause them, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}
NONE = "no alert is pending or firing"
NO_FAULTS = "no node has a fault"


def render(documents: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Alerts as blocks of text: message, what to do, and where to read more."""
    return Group(*(_block(each) for each in documents)) if documents else Text(NONE)


def _block(document: Mapping[str, Any]) -> Text:
    severity = document["severity"]
    text = Text.assemble(
        (f"{severity:<8} ", STYLES.get(severity, "")),
        (document["alert"], "bold"),
        f" {document['state']}",
    )
    if document["fault"] is not None:
        text.append(f", {minutes(document['modelSecondsAfterFault'])} after {document['fault']}")
    cause = f"cause: {document['cause']}: {document['reason']}" if document["cause"] else ""
    lines = ((document["summary"], ""), (cause, ""), (document["fix"], ""), (document["runbook"], "dim"))
    for part, style in lines:
        if part:
            text.append(f"\n         {part}", style)
    return text


def minutes(seconds: float) -> str:
    """Simulated time in minutes, as text.

    >>> minutes(90)
    '1.5 min'
    """
    return f"{seconds / 60:.3g} min"


def table(documents: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> Table:
    """A table with a row for each document. `columns`: for each column's title, the key of the documents that fills
    it.
    """
    found = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for title in columns:
        found.add_column(title, overflow="fold")
    for document in documents:
        found.add_row(*(_text(document[key]) for key in columns.values()))
    return found


def _text(value: str | int | Sequence[str] | None) -> str:
    if value is None:
        return ""
    return str(value) if isinstance(value, str | int) else ", ".join(value)


def injected_text(document: Mapping[str, Any]) -> str:
    """Text about an injected fault, with the alerts that it causes and the node conditions that it changes."""
    where = document["node"] if document["gpu"] is None else f"GPU {document['gpu']} of {document['node']}"
    alerts = ", ".join(document["alerts"]) or "none"
    conditions = ", ".join(document["conditions"])
    changed = f"\nconditions of the node that change: {conditions}; see `kubectl describe node`" if conditions else ""
    said = f"{document['fault']} on {where}: {document['summary']}\nalerts that follow: {alerts}; see `physai alerts`"
    return said + changed


def healed_text(documents: Sequence[Mapping[str, Any]]) -> str:
    """Text about healed faults, one line each, with the restarts that follow."""
    return "\n".join(map(_healed, documents)) or NO_FAULTS


def _healed(document: Mapping[str, Any]) -> str:
    said = f"{document['fault']} on {document['node']} is healed"
    reset = f": GPU {document['gpu']} counts as reset, so that the Pod of the node's DCGM exporter starts again"
    return said + reset * document["gpuReset"]
