"""Output of the explanations of `why` and `doctor`, for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.cli.console import out

if TYPE_CHECKING:
    from physical_ai.readiness.workloads import CauseGroup, Explanation

MOST_SUBJECTS = 5


def print_explanations(title: str, causes: Sequence[Explanation], unread: Sequence[str] = ()) -> None:
    """Prints the first cause in full, then the other causes, then the evidence that could not be read."""
    if not causes:
        out.print(f"{title}: {_fine(unread)}", markup=False, soft_wrap=True)
    else:
        _explain(title, causes)
    _print_unread(unread)


def _fine(unread: Sequence[str]) -> str:
    return "nothing is wrong in what could be read" if unread else "nothing is wrong"


def _print_unread(unread: Sequence[str]) -> None:
    for each in unread:
        out.print(f"not read: {each}", markup=False, soft_wrap=True, style="yellow")


def _explain(title: str, causes: Sequence[Explanation]) -> None:
    first, *others = causes
    out.print(f"{title}: {first.cause}{_ends(first)}", markup=False, soft_wrap=True, style="bold")
    _details(first, title)
    if others:
        out.print("also")
    for each in others:
        out.print(f"- {each.cause}{_ends(each)}", markup=False, soft_wrap=True)
        _details(each, title)


def print_findings(findings: Sequence[CauseGroup], unread: Sequence[str] = ()) -> None:
    """Prints each cause with the subjects that it affects, then the evidence that could not be read."""
    if not findings:
        out.print(_fine(unread))
    for found in findings:
        named = list(found.subjects[:MOST_SUBJECTS])
        more = len(found.subjects) - len(named)
        subjects = ", ".join(named) + (f" and {more} more" if more else "")
        out.print(f"{found.first.cause}{_ends(found.first)}: {subjects}", markup=False, soft_wrap=True, style="bold")
        _details(found.first, found.first.subject)
    _print_unread(unread)


def _ends(found: Explanation) -> str:
    if found.past:
        return " (history)"
    return " (usually ends without an action)" if found.waits else ""


def _details(found: Explanation, title: str) -> None:
    lines = [("what", found.reason), ("seen", found.evidence), ("in", found.where if found.evidence else "")]
    lines += [("", sign) for sign in found.signs[1:]]
    lines.append(("do", found.fix))
    if found.subject != title:
        lines.insert(0, ("of", found.subject))
    for label, text in lines:
        if text:
            indented = text.replace("\n", "\n       ")
            out.print(f"  {label:<5}{indented}", markup=False, soft_wrap=True)
