"""What a user gets told about a wrong setting: file, path, what is wrong, what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing wrong (or, as a warning, doubtful) in the files a stack is made of."""

    file: str
    """The file to edit, relative to the repository, as `stacks/Pulumi.dev-westus2.yaml`; `--set` for an assignment."""
    path: str
    """Where in it: `physical-ai:pools.h100gpu.sku` in a stack file, `pools.h100gpu.sku` in a layer."""
    problem: str
    fix: str | None = None
    warning: bool = False
    line: int | None = None
    """Line in the file, from 1, where it is known."""
    stand_in: bool = False
    """The value stands in for one of the user's own: good enough to simulate with, a fault on Azure."""
    rule: str | None = None
    """Name of the rule that is broken, where it is one about the world."""
    source: str | None = None
    """What the rule rests on."""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line is not None else self.file
        lines = [f"{place}: {'warning: ' if self.warning else ''}{self.path}", f"  {self.problem}"]
        lines += [f"  {self.fix}"] if self.fix else []
        lines += [f"  Rule {self.rule}; source: {self.source}"] if self.rule else []
        return "\n".join(printable(line) for line in lines)


def printable(text: str) -> str:
    """The text with what a terminal would obey instead of show, line ends included, written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


class SettingsError(Exception):
    """The settings of a stack can't be used. `faults` holds every reason found, not just the first."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(str(fault) for fault in faults))
        self.faults = list(faults)
