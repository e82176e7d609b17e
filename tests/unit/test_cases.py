"""Cases in one test: all run, each that fails is reported by its label, and no list of cases is empty."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest

from tests.support.cases import in_one_test


class Reported:
    """In the place of pytest's fixture: the label and the class of each exception."""

    def __init__(self) -> None:
        self.failed: list[tuple[str, str]] = []

    @contextmanager
    def test(self, label: str) -> Iterator[None]:
        try:
            yield
        except BaseException as problem:
            self.failed.append((label, type(problem).__name__))


def failures(test: Any, **fixtures: Any) -> list[tuple[str, str]]:
    reported = Reported()
    test(cast("pytest.Subtests", reported), **fixtures)
    return reported.failed


def test_each_case_that_fails_is_reported_and_the_others_go_on() -> None:
    ran: list[tuple[int, int, int]] = []

    @in_one_test("small", [1, 2])
    @in_one_test(("low", "high"), [(3, 4), (5, 6)], ids=lambda value: f"v{value}")
    def made(small: int, low: int, high: int, wrong: int) -> None:
        ran.append((small, low, high))
        assert small != wrong or low == 5

    assert failures(made, wrong=2) == [("v3-v4-2", "AssertionError")]
    assert ran == [(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)]
    assert list(inspect.signature(made).parameters) == ["subtests", "wrong"]
    assert made.__name__ == "made"


def test_what_pytest_raises_is_reported_too() -> None:
    @in_one_test("case", [1, 2], ids=["first", "second"])
    def made(case: int) -> None:
        pytest.fail(f"case {case}")

    assert failures(made) == [("first", "Failed"), ("second", "Failed")]


def test_no_case_is_an_error() -> None:
    with pytest.raises(ValueError, match="there is no case of low, high"):
        in_one_test(("low", "high"), [])
