"""Lints the language of pages, messages, docstrings and comments: `python -m tests.support.lint_language`.

The patterns, each with its reason and what to write instead, are in `language.yaml`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from physical_ai.repository import ROOT
from physical_ai.safe_yaml import load

FILE = Path(__file__).with_name("language.yaml")
READ = (
    *("*.md", "components", "docs", "manifests", "parts", "physical_ai", "simulator", "stacks/layers", "values"),
    "workbench",
)
ENDINGS = (".md", ".py", ".yaml")
NOTHING = 1
"""Exit code of a search that has found nothing."""
LEFT_OUT = (
    "agents/grid_driver/grid_agent/",
    "docs/reference/grid-agent-states.md",
    "simulator/azure/data/",
    "tests/",
)
"""Beginnings of paths that are not read: programs that are deployed, where a changed text restarts Pods, and the page
that quotes them; recordings of Azure's own texts; tests.
"""


@dataclass(frozen=True)
class Phrase:
    """A pattern of words to avoid."""

    pattern: str
    reason: str
    instead: str


def phrases() -> list[Phrase]:
    """The phrases of the data file."""
    return [Phrase(**row) for row in load(FILE.read_text(encoding="utf-8"))]


def found_in(line: str, known: Iterable[Phrase]) -> Iterator[tuple[str, Phrase]]:
    """The words of a line that match a phrase, each with the phrase."""
    for phrase in known:
        if match := re.search(phrase.pattern, line):
            yield match[0], phrase


def findings(root: Path = ROOT) -> list[str]:
    """Message for each phrase that a file of the repository has: file, line, words, reason, and what to write.

    Git searches, because Python takes seconds for the same.
    """
    known = phrases()
    patterns = [part for phrase in known for part in ("-e", phrase.pattern)]
    command = [
        "git",
        "grep",
        "--untracked",
        "--null",
        "-nIP",
        *patterns,
        "--",
        *READ,
        *(f":!{each}" for each in LEFT_OUT),
    ]
    found = subprocess.run(command, cwd=root, capture_output=True, check=False, text=True)
    if found.returncode not in (0, NOTHING):
        raise RuntimeError(found.stderr)
    lines = (line.split("\0", 2) for line in found.stdout.splitlines())
    return [
        f"{name}:{number}: '{words}': {phrase.reason} Write: {phrase.instead}."
        for name, number, line in lines
        if name.endswith(ENDINGS)
        for words, phrase in found_in(line, known)
    ]


def main() -> int:
    """Exit code: 1 if a file has one of the phrases."""
    found = findings()
    sys.stderr.writelines(f"{each}\n" for each in found)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
