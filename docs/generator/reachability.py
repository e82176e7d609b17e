"""The table of docs/reachability.md, generated from the declared flows."""

from __future__ import annotations

from docs.generator.markdown import code, marked_part, table
from physical_ai.repository import DOCS
from workbench.policies.flows import FLOWS, Flow

FILE = DOCS / "reachability.md"
BEGIN = "<!-- from workbench/policies/flows/declared.yaml: python -m docs.generator -->"
WHERE = {"isolated": ", where policies deny what they do not name", "scraped": ", where a monitor scrapes it"}


def renewed() -> str:
    """Text of the page with the current table. Raises ValueError where the page does not contain its marks."""
    return marked_part(FILE, BEGIN, table(("from", "to", "port", "must be", "why"), map(_row, FLOWS)))


def _row(flow: Flow) -> tuple[str, ...]:
    ports = ", ".join(map(str, flow.ports)) or "its own"
    protocol = "" if flow.protocol == "TCP" else f" {flow.protocol}"
    instead = f" Protected by: {flow.instead}" if flow.instead else ""
    return (
        code(flow.source),
        code(flow.target),
        f"{ports}{protocol}",
        f"{flow.must.value}{WHERE.get(flow.where, '')}",
        flow.why + instead,
    )
