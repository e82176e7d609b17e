"""Report of a conversion: findings with the line of the script, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass, field

from physical_ai.findings import Finding, Severity
from workbench.osmo.lint.run import MOST_FINDINGS
from workbench.osmo.lint.source import shortened

MANUAL = "https://slurm.schedmd.com/sbatch.html"
OPTION, VALUE, SCRIPT, NOTE = "sbatch-option", "sbatch-value", "sbatch-script", "sbatch-note"
"""Ids of four rules: an option without a counterpart, a value that cannot be converted, a line of the script that
cannot be converted, and a remark.
"""

LONGEST_QUOTE = 60


def quoted(text: str) -> str:
    """A text of the script for a message: on one line, and cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


class Wrong(Exception):
    """Error for an option or a value that cannot be converted. It has the problem and the fix as two texts."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.fix = problem, fix


@dataclass
class Report:
    """Collected findings about one script, so that all of them are reported together."""

    file: str
    findings: list[Finding] = field(default_factory=list[Finding])
    left_out: int = 0
    """Number of findings that were dropped because the report was full. The text of the last finding gives this
    number.
    """
    _seen: set[Finding] = field(default_factory=set[Finding])
    _is_refused: bool = False

    def refuse(self, rule: str, line: int, problem: str, fix: str) -> None:
        self._add(Severity.ERROR, rule, line, problem, fix)

    def warn(self, rule: str, line: int, problem: str, fix: str) -> None:
        self._add(Severity.WARNING, rule, line, problem, fix)

    def note(self, line: int, problem: str, fix: str | None = None) -> None:
        self._add(Severity.INFO, NOTE, line, problem, fix)

    @property
    def refused(self) -> bool:
        return self._is_refused

    @property
    def is_full(self) -> bool:
        """True if the report has the maximum number of findings. After that, the report only takes an error, and only
        if it has no error yet.
        """
        return len(self.findings) >= MOST_FINDINGS

    def in_order(self) -> list[Finding]:
        found = sorted(self.findings, key=lambda finding: int(finding.where.rpartition(":")[2]))
        if self.left_out:
            worst = max((finding.severity for finding in found), key=lambda severity: severity.rank)
            problem = f"{self.left_out} more findings are left out"
            found.append(Finding(worst, NOTE, found[-1].where, problem, None, MANUAL))
        return found

    def _add(self, severity: Severity, rule: str, line: int, problem: str, fix: str | None) -> None:
        found = Finding(
            severity, rule, f"{self.file}:{line}", shortened(problem), shortened(fix) if fix else None, MANUAL
        )
        if found in self._seen:
            return
        # The first error is always reported: without an error the script would be converted.
        if self.is_full and (self.refused or severity is not Severity.ERROR):
            self.left_out += 1
            return
        self._seen.add(found)
        self.findings.append(found)
        self._is_refused = self._is_refused or found.is_error
