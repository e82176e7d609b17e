"""The list of GPU symptoms in docs/troubleshooting.md, from the causes that the diagnosis knows."""

from __future__ import annotations

from pathlib import Path

from gates.causes import causes
from gates.document import FILE as GATES_FILE

FILE = Path(__file__).resolve().parents[1] / "docs" / "troubleshooting.md"
BEGIN, END = "<!-- from gates/data/causes.yaml: python -m reference -->", "<!-- end -->"


def renewed() -> str:
    """The page with its list as the causes are now.

    Raises:
        ValueError: The page has lost the marks between which the list stands.
    """
    text = FILE.read_text(encoding="utf-8")
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{FILE.name} has no {BEGIN} … {END}")
    lines = [f"- {cause.symptom}: [{cause.id}]({GATES_FILE.name}#{cause.id})" for cause in causes().values()]
    return f"{before}{BEGIN}\n\n" + "\n".join(lines) + f"\n\n{END}{after}"
