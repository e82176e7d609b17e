"""The result of a rule: one type of finding and one scale of severity for all rules of the project.

>>> found = Finding(Severity.WARNING, "size-retired", "sku", "It no longer deploys.")
>>> found.severity.at_least(Severity.ERROR)
False
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Severity(StrEnum):
    """Severity of a finding, least severe first."""

    OK = "ok"
    """Severity of a subject that was checked and has no problem."""
    INFO = "info"
    UNKNOWN = "unknown"
    """Severity of a subject that could not be checked."""
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Position on the scale of severities, from 0, for sorting."""
        return list(type(self)).index(self)

    def at_least(self, least: Severity) -> bool:
        """True where this severity is at least as severe as `least`."""
        return self.rank >= least.rank


@dataclass(frozen=True)
class Finding:
    """Result of one rule for one subject."""

    severity: Severity
    rule: str
    """Name of the rule; empty for a syntax or type error, which needs no explanation."""
    where: str
    """Subject of the finding: a setting's path, a property path, a key, a quota, a part of the stack."""
    problem: str
    fix: str | None = None
    """Instruction that fixes the problem; None if the finding has no instruction."""
    source: str | None = None
    """Basis of the rule: a document, an issue, a data file, a service's answer."""

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def document(self) -> dict[str, Any]:
        """Keys and values that a finding has in every JSON document; each command adds its own keys."""
        return {
            "severity": self.severity.value,
            "rule": self.rule,
            "message": self.problem,
            "fix": self.fix,
            "source": self.source,
        }


def any_at_least(findings: Iterable[Finding], least: Severity) -> bool:
    """True where one of the findings is at least as severe as `least`."""
    return any(finding.severity.at_least(least) for finding in findings)


def counted(findings: Iterable[Finding], severities: Iterable[Severity]) -> str:
    """Number of findings of each severity, as text.

    >>> counted([], (Severity.ERROR, Severity.WARNING))
    '0 errors, 0 warnings'
    """
    counts = Counter(finding.severity for finding in findings)
    plural = {Severity.ERROR: "errors", Severity.WARNING: "warnings"}
    return ", ".join(
        f"{counts[each]} {plural.get(each, each.value) if counts[each] != 1 else each.value}" for each in severities
    )
