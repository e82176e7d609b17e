"""The ranking of tests by processor time adds up what the workers report."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.support.cpu_profile import REPORTED, Profile, table


def report(test: str, when: str, spent: float, **fixtures: float) -> pytest.TestReport:
    made = pytest.TestReport(test, ("", 0, ""), {}, "passed", None, "setup")
    made.when = "setup" if when == "setup" else "call"
    setattr(made, REPORTED, [spent, fixtures])
    return made


def test_phases_of_a_test_are_added_and_each_worker_counts() -> None:
    profile = Profile()
    for each in (
        report("tests/unit/cli/test_a.py::test_b", "setup", 3.0, stack=2.5),
        report("tests/unit/cli/test_a.py::test_b", "call", 1.0),
        report("tests/unit/cli/test_c.py::test_d", "call", 2.0),
    ):
        profile.pytest_runtest_logreport(each)
    for own in ([1.0, 5.0], [1.0, 5.0]):
        profile.pytest_testnodedown(SimpleNamespace(workeroutput={REPORTED: own}))
    lines = profile.lines()
    assert lines[:2] == ["10 s in 2 processes", "60% in 2 tests, 20% in collection"]
    assert "    6.00 s  60.0%  tests/unit/cli" in lines
    assert "    4.00 s  40.0%  tests/unit/cli/test_a.py::test_b" in lines
    assert lines[-2:] == ["by fixture", "    2.50 s  25.0%  stack"]


def test_what_a_table_leaves_out_is_counted() -> None:
    found = table("test", {"a": 1.0, "b": 4.0, "c": 2.0, "d": 3.0}, 10.0, 2)
    assert found == ["by test", "    4.00 s  40.0%  b", "    3.00 s  30.0%  d", "    3.00 s  30.0%  2 more"]


def test_a_session_without_tests_has_no_shares() -> None:
    assert Profile().lines() == ["nothing ran"]
