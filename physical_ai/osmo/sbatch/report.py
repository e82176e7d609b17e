"""What a conversion reports: findings with the line of the script, and what to write instead."""

from __future__ import annotations

from dataclasses import dataclass, field

from physical_ai.findings import Finding, Severity

MANUAL = "https://slurm.schedmd.com/sbatch.html"
OPTION, VALUE, SCRIPT, NOTE = "sbatch-option", "sbatch-value", "sbatch-script", "sbatch-note"
"""Rules: an option that has no counterpart; a value that can't be used; a line of the script; a remark."""


class Wrong(Exception):
    """A value that can't be converted."""

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem)
        self.problem, self.fix = problem, fix


@dataclass
class Report:
    """Findings about one script, collected so that all of them are reported at once."""

    file: str
    findings: list[Finding] = field(default_factory=list[Finding])

    def refuse(self, rule: str, line: int, problem: str, fix: str) -> None:
        self._add(Severity.ERROR, rule, line, problem, fix)

    def warn(self, rule: str, line: int, problem: str, fix: str) -> None:
        self._add(Severity.WARNING, rule, line, problem, fix)

    def note(self, line: int, problem: str, fix: str | None = None) -> None:
        self._add(Severity.INFO, NOTE, line, problem, fix)

    @property
    def refused(self) -> bool:
        return any(finding.is_error for finding in self.findings)

    def in_order(self) -> list[Finding]:
        return sorted(self.findings, key=lambda finding: int(finding.where.rpartition(":")[2]))

    def _add(self, severity: Severity, rule: str, line: int, problem: str, fix: str | None) -> None:
        self.findings.append(Finding(severity, rule, f"{self.file}:{line}", problem, fix, MANUAL))
