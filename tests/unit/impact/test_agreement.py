"""Count of predicted impacts that came true in the simulator."""

from __future__ import annotations

from tests.support.cases import in_one_test
from workbench.impact.agreement import Cell, agreement, grid, read_cells, read_reasons, table


def cell(fate: str, seen: str, *, sure: bool = True, work: str = "serve") -> Cell:
    return Cell("a change", "service", work, fate, sure, seen)


@in_one_test(
    ("given", "agrees"),
    [
        (cell("untouched", "untouched"), True),
        (cell("untouched", "restarted"), False),
        (cell("ended", "ended"), True),
        (cell("ended", "restarted"), False),
        (cell("restarted", "ended"), False),
        (cell("restarted", "untouched"), False),
        (cell("ended", "untouched", sure=False), True),
        (cell("ended", "restarted", sure=False), False),
        (cell("untouched", "ended", sure=False), True),
        (cell("cut", "untouched"), True),
        (cell("waits", "ended"), False),
    ],
)
def test_a_prediction_came_true_or_not(given: Cell, agrees: bool) -> None:
    assert given.agrees is agrees


def test_differences_have_the_reason_of_their_change_and_pod() -> None:
    cells = [cell("ended", "ended"), cell("ended", "untouched"), cell("untouched", "ended", work="web")]
    found = agreement(cells, {("a change", "web"): "the model has no web"})
    assert (found.cells, found.agreeing) == (3, 1)
    assert [each.reason for each in found.differences] == ["", "the model has no web"]
    assert found.text.splitlines()[1:] == ["  a change, serve: ended → untouched", "  a change, web: untouched → ended"]
    assert "a change  ended → untouched  untouched → ended" in table(cells[1:])


def test_what_is_recorded_agrees_and_explains_what_does_not() -> None:
    cells, kinds = read_cells()
    found = agreement(cells)
    assert {each.kind for each in cells} == set(kinds)
    assert found.share >= 0.95
    assert [each for each in found.differences if not each.reason] == []
    known = {(each.change, each.work) for each in cells}
    assert set(read_reasons()) <= known, "a reason of a difference that is gone"
    works, rows = grid(cells)
    assert all(len(row) == len(works) for row in rows.values())
