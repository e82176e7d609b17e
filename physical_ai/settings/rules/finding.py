"""Findings of rules about settings, and the settings that a rule may rely on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from physical_ai.findings import Finding, Severity
from physical_ai.settings.layers.paths import Path, show


@dataclass(frozen=True)
class Rule:
    """Name of a rule, and its basis: a document, an issue, a data file."""

    name: str
    source: str


@dataclass(frozen=True, kw_only=True)
class SettingFinding(Finding):
    """Violation of a rule (or, as a warning, a doubtful choice) at one setting."""

    path: Path
    others: tuple[Path, ...] = ()
    """Settings that conflict with the setting at `path`. The fault is reported at whichever of these settings was set
    last.
    """
    stand_in: bool = False
    """True for a warning about a placeholder, which must not be deployed to Azure (`Loaded.for_azure`)."""


def finding(
    severity: Severity,
    path: Path,
    problem: str,
    fix: str | None = None,
    *,
    others: tuple[Path, ...] = (),
    stand_in: bool = False,
    rule: Rule | None = None,
) -> SettingFinding:
    """A finding at the setting `path`.

    `rule`: the rule with its source, if the finding rests on an external fact such as a limit of Azure; None for a
    finding without a source.
    """
    name, source = (rule.name, rule.source) if rule else ("", None)
    return SettingFinding(severity, name, show(path), problem, fix, source, path=path, others=others, stand_in=stand_in)


error = partial(finding, Severity.ERROR)
"""Function that makes a finding about settings that cannot work."""
warning = partial(finding, Severity.WARNING)
"""Function that makes a finding about settings that work, but may not be intended."""


@dataclass(frozen=True)
class Trust:
    """Test whether rules may judge a setting. Where a file contains an unusable value, validation has put a sample in
    its place; rules must not judge samples. `broken`: paths of the samples.
    """

    broken: frozenset[Path]

    def __call__(self, *paths: Path) -> bool:
        """True if no value at, above or below the given paths was replaced by a sample."""
        return not any(_overlap(path, place) for path in paths for place in self.broken)


def _overlap(a: Path, b: Path) -> bool:
    shared = min(len(a), len(b))
    return a[:shared] == b[:shared]
