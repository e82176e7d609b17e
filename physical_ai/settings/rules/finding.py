"""What a rule finds, and which settings a rule may rely on."""

from __future__ import annotations

from dataclasses import dataclass

from physical_ai.settings.layers.paths import Path


@dataclass(frozen=True)
class Rule:
    """A rule's name, and what it rests on: a document, an issue, a data file."""

    name: str
    source: str


@dataclass(frozen=True)
class Finding:
    """A rule that is broken (or, as a warning, a choice that is doubtful) at one setting."""

    path: Path
    problem: str
    fix: str | None = None
    warning: bool = False
    others: tuple[Path, ...] = ()
    """Settings that `path` doesn't go with. The user is told at whichever was set last."""
    stand_in: bool = False
    """A warning about a value that only stands in for the user's own: Azure must not get it (`Loaded.for_azure`)."""
    rule: Rule | None = None
    """Cited wherever the rule is about the world and not about how settings are written."""


@dataclass(frozen=True)
class Trust:
    """Knows the places whose values were made up because the user's were unusable."""

    broken: frozenset[Path]

    def __call__(self, *paths: Path) -> bool:
        """Whether everything at, in and around these places is the user's own."""
        return not any(_touch(path, place) for path in paths for place in self.broken)


def _touch(a: Path, b: Path) -> bool:
    shared = min(len(a), len(b))
    return a[:shared] == b[:shared]
