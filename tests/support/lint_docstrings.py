"""Lints how docstrings begin: `python -m tests.support.lint_docstrings`.

A docstring begins with a noun or a verb: "Namespace of the certificate", not "Of the certificate"; "True where the pool
has GPUs", not "Whether the pool has GPUs". `agents/` is left out: its texts are deployed, and a change restarts Pods.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

from physical_ai.repository import ROOT

FOLDERS = (".github", "components", "docs", "parts", "physical_ai", "simulator", "workbench")
BARE = re.compile(
    r"(After|Also|As|At|Before|Below|Beside|Between|But|By|Empty|For|From|How|If|In|It|Its|Like|Neither|Never|No|None|"
    r"Nothing|Of|On|Only|Or|Such|That|There|They|Those|Through|To|Until|What|When|Where|Whether|Which|Who|Whom|Whose|Why|"
    r"With|Without)\b(?!-)"
)


SUSPECT = re.compile(rf"""^\s*\(?\s*[rRuUbB]*["']+[\s\\]*{BARE.pattern}""", re.MULTILINE)
"""Text that begins like such a docstring. Only files with some are parsed: all of them take seconds."""


def bare_docstrings(source: str) -> Iterator[tuple[int, str]]:
    """Lines and first words of the docstrings, those of attributes included, that do not begin with a noun or a
    verb.
    """
    if not SUSPECT.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str() as text)) if found := BARE.match(text.strip()):
                yield node.lineno, found[0]
            case _:
                pass


def findings() -> list[str]:
    """Message for each docstring of the product that begins with a refused word: file, line, word and advice."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *FOLDERS], cwd=ROOT, capture_output=True, check=True, text=True
    )
    names = [each for each in listed.stdout.split("\0") if each.endswith(".py") and (ROOT / each).is_file()]
    return [
        f"{name}:{line}: The docstring begins with '{word}'. Begin with a noun that says what the thing is, or"
        " with what the function returns or does."
        for name in names
        for line, word in bare_docstrings((ROOT / name).read_text(encoding="utf-8"))
    ]


def main() -> int:
    """Exit code: 1 if a docstring begins with one of the words."""
    found = findings()
    sys.stderr.writelines(f"{each}\n" for each in found)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
