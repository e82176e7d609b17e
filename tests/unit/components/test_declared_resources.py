"""The golden recordings: what each committed stack and each optional part declares, resource by resource."""

from __future__ import annotations

from tests.golden.declared_resources import FOLDER, cases, lines, path, recorded
from tests.golden.regenerate import COMMAND
from tests.support.cases import in_one_test
from tests.support.stacks import azure_stacks
from tests.unit.conftest import Simulate

SHARED = azure_stacks()
"""Cases whose recording other tests use, too: those of stacks on Azure without an option."""


@in_one_test("case", cases())
def test_a_stack_declares_what_is_on_record(case: str, simulate: Simulate) -> None:
    found = lines(simulate(case) if case in SHARED else recorded(*cases()[case]))
    kept = path(case).read_text().splitlines()
    changed = sorted({line.rpartition(" ")[0] for line in set(found) ^ set(kept)})
    assert changed == [], f"resources of {case} that differ from the recording; if that is meant: {COMMAND}"


def test_each_recording_is_of_a_case() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(cases())
