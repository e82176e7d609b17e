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
"""From so many gates on a cause stands in a table of its own, not below each of them."""


def tables() -> str:
    """A section for each gate in the order of the path, with what can keep it shut, and one for what can shut many."""
    parts = ["### Several gates", "What can keep any pod from running, and what the gates from the toolkit on share."]
    met: set[str] = set()
    parts.append(_table([cause for cause in causes().values() if len(cause.gates) >= SEVERAL], met))
    for number, (gate, meaning) in enumerate(GATES.items(), 1):
        own = [cause for cause in causes().values() if gate in cause.gates and len(cause.gates) < SEVERAL]
        parts += [f"### {number}. `{gate}`: {meaning}", _table(own, met)]
    return "\n\n".join(parts)


def _table(rows: Sequence[Cause], met: set[str]) -> str:
    """Where a cause is met first, other pages can link to it by its id."""
    lines = ["| symptom | cause | way out | known from |", "|---|---|---|---|"]
    for cause in rows:
        anchor = "" if cause.id in met else f'<a id="{cause.id}"></a>'
        met.add(cause.id)
        why, way_out = f"{anchor}`{cause.id}`: {cell(cause.reason)}", cell(cause.way_out) or "wait"
        lines.append(f"| {cell(cause.symptom)} | {why} | {way_out} | {cell(cause.source)} |")
    return "\n".join(lines) if rows else "Nothing but the causes of several gates."


def cell(text: str) -> str:
    """Text for a cell: what is filled in per case stands in angle brackets, as code."""
    return re.sub(r"\{(\w+)\}", r"‹\1›", text).replace("|", "\\|")


def renewed(text: str) -> str:
    """The document with its tables as the data has them now.

    Raises:
        ValueError: The document has lost the marks between which they stand.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{FILE.name} has no {BEGIN} … {END}")
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


if __name__ == "__main__":
    FILE.write_text(renewed(FILE.read_text()))
