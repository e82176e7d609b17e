"""Rules on workflow files, and findings at a line and column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from physical_ai.findings import Finding, Severity

Path = tuple[str | int, ...]
"""A place in the workflow section: keys and indexes, `("workflow", "tasks", 0, "image")`."""


@dataclass(frozen=True)
class Rule:
    """A rule, as its documentation describes it.

    Its severity is an error if OSMO refuses the file or runs it differently than it looks, and a warning if the file
    may cost more than it should.
    """

    id: str
    severity: Severity
    title: str
    reason: str
    fix: str
    source: str
    can_be_allowed: bool = True
    """True where a comment suppresses it: not where the file was not checked to its end."""


@dataclass(frozen=True, kw_only=True)
class WorkflowFinding(Finding):
    """A finding of a rule in a file. `where`: path in the workflow section."""

    file: str
    line: int
    """Line number from 1, in the file as it is written, before rendering."""
    column: int
    """Column number from 1."""
    title: str
    reason: str

    def document(self) -> dict[str, Any]:
        place = {"file": self.file, "line": self.line, "column": self.column}
        return super().document() | place | {"reason": self.reason}
