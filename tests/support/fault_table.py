"""Writes docs/reference/faults.md, which says what each command reports about each fault: `python -m
tests.support.fault_table`.
"""

from __future__ import annotations

from docs.generator.markdown import code, table
from physical_ai.repository import DOCS
from simulator.faults import faults
from tests.support.fault_signs import Seen, with_faults
from tests.support.readiness_objects import NODE

FILE = DOCS / "reference" / "faults.md"
_HEAD = """\
# What each command says of a fault

Written by `python -m tests.support.fault_table`, from the objects and alerts of each fault and the functions behind the
commands; `tests/unit/readiness/test_one_verdict.py` keeps it fresh, and tries all pairs of faults as well.

`physai why` of the node and of its pool and `physai doctor` name the causes in this order. `physai gates` names the
closed gate with the fix of the first cause that explains it, `physai alerts` the cause of each alert, and `physai
evidence` all causes. `physai node replace` without `--reboot` or `--replace` does what is in the column machine, and
refuses a machine without a fault. `NODE` is the node, and the stack is `dev-westus2`.
"""


def page() -> str:
    """Text of the page."""
    rows = [_row(name, with_faults(name)) for name in faults()]
    columns = ["fault", "what happens", "gate", "alerts", "causes", "do", "machine"]
    return f"{_HEAD}\n{table(columns, rows)}"


def _row(name: str, seen: Seen) -> list[str]:
    why = seen.why()
    gates = [gate.gate for report in seen.given.reports for gate in report.closed]
    fixes = dict.fromkeys(each.fix.replace(NODE, "NODE") for each in why)
    return [
        code(name),
        faults()[name].summary,
        ", ".join(map(code, gates)) or "open",
        ", ".join(faults()[name].alerts),
        ", ".join(code(each.cause) for each in why),
        " ".join(fixes).replace("|", "\\|"),
        seen.evidence.advice,
    ]


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
