"""Why something in a cluster does not work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from physical_ai.cli.console import out

if TYPE_CHECKING:
    from physical_ai.readiness.workloads import CauseGroup, Explanation

MOST_SUBJECTS = 5


def print_explanations(title: str, causes: Sequence[Explanation]) -> None:
    """The first cause in full, then the others."""
    if not causes:
        out.print(f"{title}: nothing is wrong", markup=False, soft_wrap=True)
        return
    first, *others = causes
    out.print(f"{title}: {first.cause}{_ends(first)}", markup=False, soft_wrap=True, style="bold")
    _details(first, title)
    if others:
        out.print("also")
    for each in others:
        out.print(f"- {each.cause}{_ends(each)}", markup=False, soft_wrap=True)
        _details(each, title)


def print_findings(findings: Sequence[CauseGroup]) -> None:
    """Each cause with what it stops."""
    if not findings:
        out.print("nothing is wrong")
    for found in findings:
        named = list(found.subjects[:MOST_SUBJECTS])
        more = len(found.subjects) - len(named)
        subjects = ", ".join(named) + (f" and {more} more" if more else "")
        out.print(f"{found.first.cause}{_ends(found.first)}: {subjects}", markup=False, soft_wrap=True, style="bold")
        _details(found.first, found.first.subject)


def _ends(found: Explanation) -> str:
    return " (usually ends without an action)" if found.waits else ""


def _details(found: Explanation, title: str) -> None:
    lines = [("what", found.reason), ("seen", found.evidence), ("do", found.fix)]
    if found.subject != title:
        lines.insert(0, ("of", found.subject))
    for label, text in lines:
        if text:
            out.print(f"  {label:<5}{text}", markup=False, soft_wrap=True)
