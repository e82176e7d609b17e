"""The result of a rule: one type of finding, one scale of severity, for every rule in the project.

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
    """Checked, without a problem."""
    INFO = "info"
    UNKNOWN = "unknown"
    """Could not be checked."""
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Position on the scale, from 0; for sorting."""
        return list(type(self)).index(self)

    def at_least(self, least: Severity) -> bool:
        """True where this is as severe as `least`, or more."""
        return self.rank >= least.rank


@dataclass(frozen=True)
class Finding:
    """One rule's result for one subject."""

    severity: Severity
    rule: str
    """Name of the rule; empty for a syntax or type error, which needs no explanation."""
    where: str
    """The subject: a setting's path, a property path, a key, a quota, a part of the stack."""
    problem: str
    fix: str | None = None
    """Instruction that fixes it."""
    source: str | None = None
    """The basis of the rule: a document, an issue, a data file, a service's answer."""

    @property
    def is_error(self) -> bool:
        return self.severity is Severity.ERROR

    def document(self) -> dict[str, Any]:
        """The keys that a finding has in every JSON document; each command adds its own."""
        return {
            "severity": self.severity.value,
            "rule": self.rule,
            "message": self.problem,
            "fix": self.fix,
            "source": self.source,
        }


def any_at_least(findings: Iterable[Finding], least: Severity) -> bool:
    """True where one of the findings is as severe as `least`, or more."""
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
