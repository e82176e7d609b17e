"""Cases that are too small for a test each."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest

Test = Callable[..., None]
Case = tuple[str, dict[str, Any]]
"""Label of a case in a report, and its arguments by name."""

_made: dict[Test, tuple[Test, list[Case]]] = {}
"""Function and cases of each test that `in_one_test` has made."""


def in_one_test(
    names: str | tuple[str, ...], values: Iterable[Any], ids: Iterable[str] | Callable[[Any], str] | None = None
) -> Callable[[Test], Test]:
    """A decorator with the arguments of `pytest.mark.parametrize`. It makes one test that goes through all cases.

    To be collected by three workers, reported and counted, a test takes 4 ms of processor time. Each case that fails is
    reported as a subtest, and the others go on. Fixtures are made once for all cases. Two of these decorators on one
    function make every combination.

    >>> @in_one_test(("number", "square"), [(1, 1), (2, 4)])
    ... def test_square(number: int, square: int) -> None:
    ...     assert number * number == square
    >>> inspect.signature(test_square)
    <Signature (subtests: 'pytest.Subtests')>
    """
    own = (names,) if isinstance(names, str) else names
    rows = [(value,) if isinstance(names, str) else tuple(value) for value in values]
    if not rows:
        raise ValueError(f"there is no case of {', '.join(own)}")
    if ids is None or callable(ids):
        labels = ["-".join(ids(value) if ids else str(value) for value in row) for row in rows]
    else:
        labels = list(ids)
    cases: list[Case] = [(said, dict(zip(own, row, strict=True))) for said, row in zip(labels, rows, strict=True)]

    def decorate(test: Test) -> Test:
        called, others = _made.get(test, (test, [("", {})]))
        both = [("-".join(filter(None, (b, a))), {**one, **two}) for a, one in cases for b, two in others]
        made = _in_one(called, both)
        made.__name__, made.__qualname__, made.__module__ = test.__name__, test.__qualname__, test.__module__
        made.__doc__ = test.__doc__
        _made[made] = (called, both)
        return made

    return decorate


def _in_one(called: Test, cases: list[Case]) -> Test:
    """A test whose parameters are those of `called` that no case has: its fixtures."""

    def run(subtests: pytest.Subtests, **fixtures: Any) -> None:
        for said, arguments in cases:
            try:
                called(**fixtures, **arguments)
            except BaseException:  # what pytest raises to skip a test, or to make it fail, is no Exception
                with subtests.test(said):
                    raise

    signature = inspect.signature(called)
    fixtures = [found for name, found in signature.parameters.items() if name not in cases[0][1]]
    first = inspect.Parameter("subtests", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="pytest.Subtests")
    shown = signature.replace(parameters=[first, *fixtures], return_annotation=inspect.Signature.empty)
    setattr(run, "__signature__", shown)  # noqa: B010 - the type of functions has no such attribute
    return run
