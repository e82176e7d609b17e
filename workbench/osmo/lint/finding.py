"""Types `Rule`, for a rule on workflow files, and `WorkflowFinding`, for a finding at a line and column of a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from physical_ai.findings import Finding, Severity

Path = tuple[str | int, ...]
"""Path of a value in the file: keys and indexes, such as `("workflow", "tasks", 0, "image")`."""


@dataclass(frozen=True)
class Rule:
    """A rule on workflow files, as the reference page describes it.

    The severity of a rule is error if OSMO refuses the file, or runs it in another way than its author would expect.
    The severity is warning if the file may cost more than necessary.
    """

    id: str
    severity: Severity
    title: str
    reason: str
    fix: str
    source: str
    can_be_allowed: bool = True
    """True if a comment in the file can suppress the rule's findings. False for a rule whose finding says that the rest
    of the file was not checked.
    """


@dataclass(frozen=True, kw_only=True)
class WorkflowFinding(Finding):
    """Finding about a workflow file. `where`: path of the value that the finding is about, with dots."""

    file: str
    line: int
    """Line number, counted from 1, in the file before it is rendered."""
    column: int
    """Column number, counted from 1."""
    title: str
    reason: str

    def document(self) -> dict[str, Any]:
        place = {"file": self.file, "line": self.line, "column": self.column}
        return super().document() | place | {"reason": self.reason}
