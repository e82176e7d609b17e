"""The deliberate faults on record can still be made: a renamed line would leave one of them without effect."""

from __future__ import annotations

from physical_ai.repository import ROOT
from tests.mutations import Mutation, mutations
from tests.support.cases import in_one_test


@in_one_test("mutation", mutations(), ids=lambda each: each.name)
def test_a_fault_changes_one_line_and_names_tests_that_exist(mutation: Mutation) -> None:
    """The tests are a folder or a file: a single test that becomes deep would no longer run, and find nothing."""
    text = (ROOT / mutation.file).read_text()
    assert mutation.applied(text) != text
    path = ROOT / mutation.tests
    assert path.exists()
    assert path.is_dir() or "\npytestmark = pytest.mark.deep" not in path.read_text()
