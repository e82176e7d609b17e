"""Faults of settings, as a user sees them: file, path, problem, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from physical_ai.citations import cited
from physical_ai.findings import Finding, Severity
from physical_ai.input_errors import InputError
from physical_ai.untrusted.text import printable


@dataclass(frozen=True, kw_only=True)
class Fault(Finding):
    """A finding in the files of a stack.

    `file`: relative to the repository, like `stacks/Pulumi.dev-westus2.yaml`; `--set` for an assignment.
    `where`: path in the file: `physical-ai:pools.h100gpu.sku` in a stack file, `pools.h100gpu.sku` in a layer.
    """

    file: str
    line: int | None = None
    """Line number from 1; None if the line is not known."""
    stand_in: bool = False
    """True if the value is a placeholder that the user has to replace: a simulation accepts it, a deployment to Azure
    does not.
    """

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else self.file
        lines = [f"{place}: {'' if self.is_error else 'warning: '}{self.where}", f"  {self.problem}"]
        lines += [f"  {self.fix}"] if self.fix else []
        lines += [f"  Rule {self.rule}; source: {self.source}"] if self.rule else []
        return "\n".join(printable(cited(line)) for line in lines)

    def document(self) -> dict[str, Any]:
        """The fault as an entry of a command's `--json` output."""
        return {
            "file": self.file,
            "line": self.line,
            "path": self.where,
            "problem": self.problem,
            "fix": self.fix,
            "rule": self.rule or None,
            "source": self.source,
        }

    def as_error(self) -> Fault:
        return replace(self, severity=Severity.ERROR)

    def as_warning(self) -> Fault:
        return replace(self, severity=Severity.WARNING)


def fault(
    file: str,
    where: str,
    problem: str,
    fix: str | None = None,
    *,
    severity: Severity = Severity.ERROR,
    line: int | None = None,
) -> Fault:
    """Returns a fault that is not the result of a rule."""
    return Fault(severity, "", where, problem, fix, file=file, line=line)


class SettingsError(InputError):
    """Raised where the settings of a stack can't be used.

    `faults` are all reasons that were found, not just the first.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = list(faults)
