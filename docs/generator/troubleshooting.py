"""The list of GPU symptoms in docs/troubleshooting.md, generated from the causes of the diagnosis."""

from __future__ import annotations

from physical_ai.readiness.causes import causes
from physical_ai.readiness.document import FILE as GATES_FILE
from physical_ai.repository import DOCS

FILE = DOCS / "troubleshooting.md"
BEGIN, END = "<!-- from physical_ai/readiness/data/causes.yaml: python -m docs.generator -->", "<!-- end -->"


def renewed() -> str:
    """The page with the current list.

    Raises:
        ValueError: The page does not contain the marks around the list.
    """
    text = FILE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{FILE.name} has no {BEGIN} … {END}")
    lines = [f"- {cause.symptom}: [{cause.id}]({GATES_FILE.name}#{cause.id})" for cause in causes().values()]
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"
