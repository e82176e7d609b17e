"""The deliberate faults on record can still be made: a renamed line would leave one of them without effect."""

from __future__ import annotations

import pytest

from physical_ai.repository import ROOT
from tests.mutations import Mutation, mutations


@pytest.mark.parametrize("mutation", mutations(), ids=lambda each: each.name)
def test_a_fault_changes_one_line_and_names_tests_that_exist(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    assert mutation.applied(text) != text
    for path in mutation.tests.split():
        file, _, name = path.partition("::")
        assert "/" not in file or (ROOT / file).exists(), path
        assert not name or f"def {name.partition('[')[0]}(" in (ROOT / file).read_text(), path
