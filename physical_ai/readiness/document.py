"""Tables of docs/troubleshooting-gpu.md and docs/troubleshooting-pods.md, from the data of the diagnosis.

`python -m docs.generator` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from physical_ai.readiness.causes import Cause, causes, workload_causes
from physical_ai.readiness.model import GATES
from physical_ai.readiness.workloads.model import STAGES
from physical_ai.repository import DOCS

FILE = DOCS / "troubleshooting-gpu.md"
PODS_FILE = DOCS / "troubleshooting-pods.md"


SEVERAL = 3
"""Number of gates from which on a cause is listed in a separate table instead of below each gate."""


def tables() -> str:
    """Text with a section for each gate, in order, with the causes that keep it closed, and a section for causes of
    several gates.
    """
    parts = [
        "### Several gates",
        "Causes for which no pod runs, and common causes of the gates from the toolkit on.",
    ]
    met: set[str] = set()
    parts.append(_table([cause for cause in causes().values() if len(cause.stages) >= SEVERAL], met))
    for number, (gate, meaning) in enumerate(GATES.items(), 1):
        own = [cause for cause in causes().values() if gate in cause.stages and len(cause.stages) < SEVERAL]
        parts += [f"### {number}. `{gate}`: {meaning}", _table(own, met)]
    return "\n\n".join(parts)


def stage_tables() -> str:
    """Text with a section for each stage of a Pod, in order, with the causes that stop a Pod there."""
    parts: list[str] = []
    met: set[str] = set()
    for number, (stage, meaning) in enumerate(STAGES.items(), 1):
        own = [cause for cause in workload_causes().values() if stage in cause.stages]
        parts += [f"### {number}. `{stage}`: {meaning}", _table(own, met)]
    return "\n\n".join(parts)


def _table(rows: Sequence[Cause], met: set[str]) -> str:
    """Table of causes. Other pages can link to a cause's first row by the cause's id."""
    lines = ["| symptom | cause | fix | source |", "|---|---|---|---|"]
    for cause in rows:
        anchor = "" if cause.id in met else f'<a id="{cause.id}"></a>'
        met.add(cause.id)
        cause_cell, fix = f"{anchor}`{cause.id}`: {cell(cause.reason)}", cell(cause.fix) or "wait"
        if cause.fix_elsewhere not in ("", cause.fix):
            fix += f"<br>On an existing cluster: {cell(cause.fix_elsewhere)}"
        lines.append(f"| {cell(cause.symptom)} | {cause_cell} | {fix} | {cell(cause.source)} |")
    return "\n".join(lines) if rows else "Only the causes of several gates."


def cell(text: str) -> str:
    """Text for a table cell, with placeholders in angle brackets."""
    return re.sub(r"\{(\w+)\}", r"‹\1›", text).replace("|", "\\|")


def gates_page() -> str:
    """Text of docs/troubleshooting-gpu.md with the current tables."""
    return _renewed(FILE, "causes.yaml", tables())


def pods_page() -> str:
    """Text of docs/troubleshooting-pods.md with the current tables."""
    return _renewed(PODS_FILE, "workload_causes.yaml", stage_tables())


def _renewed(file: Path, data: str, tables: str) -> str:
    """Text of a page with these tables between its marks.

    Raises:
        ValueError: The page lacks the marks.
    """
    opening, closing = f"<!-- from physical_ai/readiness/data/{data}: python -m docs.generator -->", "<!-- end -->"
    before, begin, rest = file.read_text(encoding="utf-8").partition(opening)
    _, end, after = rest.partition(closing)
    if not begin or not end:
        raise ValueError(f"{file.name} has no {opening} … {closing}")
    return f"{before}{opening}\n\n{tables}\n\n{closing}{after}"
