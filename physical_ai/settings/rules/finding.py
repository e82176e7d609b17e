"""Findings of a rule about settings, and the settings that a rule may rely on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from physical_ai.findings import Finding, Severity
from physical_ai.settings.layers.paths import Path, show


@dataclass(frozen=True)
class Rule:
    """A rule's name, and what it rests on: a document, an issue, a data file."""

    name: str
    source: str


@dataclass(frozen=True, kw_only=True)
class SettingFinding(Finding):
    """A rule that is broken (or, as a warning, a choice that is doubtful) at one setting."""

    path: Path
    others: tuple[Path, ...] = ()
    """Settings that `path` conflicts with. The fault is reported at whichever was set last."""
    stand_in: bool = False
    """True for a warning about a placeholder, which must not be sent to Azure (`Loaded.for_azure`)."""


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
    """A finding at a setting. `rule` is cited wherever it is about the world and not about how settings are written."""
    name, source = (rule.name, rule.source) if rule else ("", None)
    return SettingFinding(severity, name, show(path), problem, fix, source, path=path, others=others, stand_in=stand_in)


error = partial(finding, Severity.ERROR)
"""Settings that cannot work."""
warning = partial(finding, Severity.WARNING)
"""Settings that work, but may not be intended."""


@dataclass(frozen=True)
class Trust:
    """The paths whose values are made up because the user's values are unusable."""

    broken: frozenset[Path]

    def __call__(self, *paths: Path) -> bool:
        """True where everything at, in and around these paths is the user's own."""
        return not any(_overlap(path, place) for path in paths for place in self.broken)


def _overlap(a: Path, b: Path) -> bool:
    shared = min(len(a), len(b))
    return a[:shared] == b[:shared]
