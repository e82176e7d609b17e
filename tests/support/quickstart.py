"""Commands of the README that lead from a clone to a finished workflow on a real subscription."""

from __future__ import annotations

from tests.support.documentation import ROOT, parts
from tests.support.shell_blocks import SHELLS

PAGE, HEADING = ROOT / "README.md", "## On a real subscription"


def section() -> str:
    """Text of the README's section "On a real subscription"."""
    text = PAGE.read_text(encoding="utf-8")
    return text.partition(f"\n{HEADING}\n")[2].partition("\n## ")[0]


def block() -> str:
    """The only shell block of the section."""
    inside = section()
    (found,) = (each.text for each in parts(PAGE)[1] if each.info in SHELLS and each.text in inside)
    return found


def typed() -> list[str]:
    """Commands as a person types them: one for each line and for each `&&`; a continued line counts as one."""
    lines = block().replace("\\\n", " ").splitlines()
    return [" ".join(each.partition(" #")[0].split()) for line in lines for each in line.split(" && ")]
