"""The list of GPU symptoms in docs/troubleshooting.md, generated from the causes of the diagnosis."""

from __future__ import annotations

from docs.generator.markdown import marked_part
from physical_ai.readiness.causes import causes
from physical_ai.readiness.document import FILE as GATES_FILE
from physical_ai.repository import DOCS

FILE = DOCS / "troubleshooting.md"
BEGIN = "<!-- from physical_ai/readiness/data/causes.yaml: python -m docs.generator -->"


def renewed() -> str:
    """Text of the page with the current list. Raises ValueError where the page does not contain its marks."""
    lines = [f"- {cause.symptom}: [{cause.id}]({GATES_FILE.name}#{cause.id})" for cause in causes().values()]
    return marked_part(FILE, BEGIN, "\n".join(lines) + "\n")
