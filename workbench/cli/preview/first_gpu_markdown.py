"""Time to the first GPU of a preview as Markdown. Pure functions over a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.cli.preview.markdown_text import code, severity, text

Document = Mapping[str, Any]


def first_gpu(document: Document) -> str:
    """Time to the first GPU as Markdown: minutes, the differences that the change makes, and findings about the budget.
    Empty if the stack has no GPU pool, or the code that made `document` does not report it.
    """
    found: Document = document.get("firstGpu") or {}
    changed = {each["kind"]: each for each in found.get("changes", ())}
    times: list[str] = []
    for kind, title in found.get("titles", {}).items():
        if found[kind]:
            since = f", {text(changed[kind]['text'])}" if kind in changed else ""
            times.append(f"{text(title)}: {_span(found[kind])} minutes{since}.")
    if not times:
        return ""
    rows = [_budget_finding(each) for each in found["findings"]]
    return "\n".join([f"**Time to first GPU** (estimate): {' '.join(times)}", *([""] if rows else []), *rows])


def over_budget(document: Document) -> list[str]:
    """Findings about the budget for the time to the first GPU that the change causes, each as one line of Markdown."""
    found: Document = document.get("firstGpu") or {}
    longer = {each["kind"] for each in found.get("changes", ()) if each["after"] > each["before"]}
    return [_budget_finding(each).removeprefix("- ") for each in found.get("findings", ()) if each["kind"] in longer]


def _budget_finding(each: Document) -> str:
    fix = f" {text(each['fix'])}" if each["fix"] else ""
    return f"- {severity(each)} {text(each['rule'])}, {code(each['setting'])}: {text(each['message'])}{fix}"


def _span(minutes: Sequence[float]) -> str:
    low, high = (f"{round(each):d}" for each in minutes)
    return low if low == high else f"{low} to {high}"
