"""The tables of docs/troubleshooting-gpu.md, from the same data as the diagnosis.

Written by `python -m docs.generator`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from physical_ai.readiness.causes import Cause, causes
from physical_ai.readiness.model import GATES
from physical_ai.repository import DOCS

FILE = DOCS / "troubleshooting-gpu.md"
BEGIN, END = (
    "<!-- from physical_ai/readiness/data/causes.yaml: python -m docs.generator -->",
    "<!-- end -->",
)


SEVERAL = 3
"""From this number of gates on, a cause is listed in a separate table, not below each gate."""


def tables() -> str:
    """A section for each gate in order, with the causes that keep it closed, and one for causes of several gates."""
    parts = [
        "### Several gates",
        "Causes for which no pod runs, and common causes of the gates from the toolkit on.",
    ]
    met: set[str] = set()
    parts.append(_table([cause for cause in causes().values() if len(cause.gates) >= SEVERAL], met))
    for number, (gate, meaning) in enumerate(GATES.items(), 1):
        own = [cause for cause in causes().values() if gate in cause.gates and len(cause.gates) < SEVERAL]
        parts += [f"### {number}. `{gate}`: {meaning}", _table(own, met)]
    return "\n\n".join(parts)


def _table(rows: Sequence[Cause], met: set[str]) -> str:
    """Other pages can link to a cause's first row by its id."""
    lines = ["| symptom | cause | fix | source |", "|---|---|---|---|"]
    for cause in rows:
        anchor = "" if cause.id in met else f'<a id="{cause.id}"></a>'
        met.add(cause.id)
        cause_cell, fix = f"{anchor}`{cause.id}`: {cell(cause.reason)}", cell(cause.fix) or "wait"
        lines.append(f"| {cell(cause.symptom)} | {cause_cell} | {fix} | {cell(cause.source)} |")
    return "\n".join(lines) if rows else "Only the causes of several gates."


def cell(text: str) -> str:
    """Text for a cell, with placeholders in angle brackets, as code."""
    return re.sub(r"\{(\w+)\}", r"‹\1›", text).replace("|", "\\|")


def renewed(text: str) -> str:
    """The document with up-to-date tables.

    Raises:
        ValueError: The document lacks the marks around the tables.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{FILE.name} has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


if __name__ == "__main__":
    FILE.write_text(renewed(FILE.read_text()))
