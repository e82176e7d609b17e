"""What the check of a workflow file tells: rules, and findings at a line and column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning"]
"""error: OSMO refuses it, or it runs otherwise than it looks. warning: it may cost more than it should."""

Path = tuple[str | int, ...]
"""A place in the workflow section: keys and indexes, `("workflow", "tasks", 0, "image")`."""


@dataclass(frozen=True)
class Rule:
    """A rule, as its documentation tells it."""

    id: str
    severity: Severity
    title: str
    reason: str
    fix: str
    source: str


@dataclass(frozen=True)
class Finding:
    """A rule broken at a place of a file."""

    rule: Rule
    file: str
    line: int
    """From 1, in the file as it is written, before rendering."""
    column: int
    """From 1."""
    message: str
    fix: str

    @property
    def severity(self) -> Severity:
        return self.rule.severity

    def document(self) -> dict[str, Any]:
        """With stable keys, for JSON."""
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "rule": self.rule.id,
            "severity": self.severity,
            "message": self.message,
            "reason": self.rule.reason,
            "fix": self.fix,
            "source": self.rule.source,
        }
