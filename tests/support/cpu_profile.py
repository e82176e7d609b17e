"""A pytest plugin that ranks folders, files, tests and fixtures by processor time: `make test-profile`.

Elapsed time says little on a busy machine, and about tests that wait. Processor time includes the worker and the child
processes that it has waited for. A process that a test leaves running, such as a shared control plane, counts for the
test during which it ends.
"""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

SPENT = pytest.StashKey[float]()
"""Processor seconds of the phase (setup, call or teardown) of a test that has just ended."""
REPORTED = "processor_seconds"
"""Name of the attribute that carries the seconds in a test report. pytest-xdist sends it to the main process."""
PARTS = {"folder": 15, "file": 40, "test": 40, "fixture": 15}
"""Number of rows in each table."""


def seconds() -> float:
    """Processor time of this process and of the child processes that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def parts(test: str) -> Iterator[tuple[str, str]]:
    """Parts (folder, file, test) to which a test's time is added.

    >>> dict(parts("tests/unit/cli/test_a.py::test_b"))
    {'folder': 'tests/unit/cli', 'file': 'tests/unit/cli/test_a.py', 'test': 'tests/unit/cli/test_a.py::test_b'}
    """
    file = test.partition("::")[0]
    yield "folder", file.rpartition("/")[0]
    yield "file", file
    yield "test", test


def table(title: str, found: Mapping[str, float], total: float, rows: int) -> list[str]:
    """Table of the largest entries with their share of the whole. Its last row counts those that are left out."""
    ranked = sorted(found.items(), key=lambda each: (-each[1], each[0]))
    lines = [f"{value:8.2f} s {value / total:6.1%}  {name}" for name, value in ranked[:rows]]
    if rest := [value for _, value in ranked[rows:]]:
        lines.append(f"{sum(rest):8.2f} s {sum(rest) / total:6.1%}  {len(rest)} more")
    return [f"by {title}", *lines]


@contextmanager
def measured(item: pytest.Item) -> Generator[None]:
    before = seconds()
    try:
        yield
    finally:
        item.stash[SPENT] = seconds() - before


class Profile:
    """Profile of a session. A worker measures with it; the main process adds up and prints."""

    def __init__(self) -> None:
        self.found = {part: defaultdict[str, float](float) for part in PARTS}
        self.fixtures = defaultdict[str, float](float)
        self.collection = 0.0
        self.processes: list[list[float]] = []
        """Processor seconds of each worker: those of its collection of tests, and all of them."""

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, Any, Any]:
        before = seconds()
        found = yield
        self.collection = seconds() - before
        return found

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        with measured(item):
            yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        with measured(item):
            yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None]:
        with measured(item):
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
        before = seconds()
        try:
            return (yield)
        finally:
            self.fixtures[f"{fixturedef.baseid}::{fixturedef.argname}"] += seconds() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        setattr(report, REPORTED, [item.stash.get(SPENT, 0.0), dict(self.fixtures)])
        self.fixtures.clear()
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent, fixtures = getattr(report, REPORTED, (0.0, {}))
        of_fixtures = [("fixture", name, taken) for name, taken in fixtures.items()]
        for part, name, taken in (*((*each, spent) for each in parts(report.nodeid)), *of_fixtures):
            self.found[part][name] += taken

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        own = [self.collection, seconds()]
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[REPORTED] = own
        elif not self.processes:
            self.processes.append(own)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        if (own := getattr(node, "workeroutput", {}).get(REPORTED)) is not None:
            self.processes.append(own)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("processor time")
        terminalreporter.write_line("\n".join(self.lines()))

    def lines(self) -> list[str]:
        total = sum(own for _, own in self.processes)
        tests = sum(self.found["test"].values())
        collection = sum(collecting for collecting, _ in self.processes)
        if not total:
            return ["nothing ran"]
        return [
            f"{total:.0f} s in {len(self.processes)} processes",
            f"{tests / total:.0%} in {len(self.found['test'])} tests, {collection / total:.0%} in collection",
            *(line for part, rows in PARTS.items() for line in table(part, self.found[part], total, rows)),
        ]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Profile(), "processor time")
