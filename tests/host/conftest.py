"""Fixtures of the host tests, and the one word on why they can't run somewhere."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache

import pytest

from tests.host.harness import Harness, compiled
from tests.host.installers import OLD
from tests.host.namespaces import why_not

NODES = {"harness", "installed"}
"""Fixtures that make a node."""


@cache
def _obstacle() -> str | None:
    return why_not()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a node where none can be made; the rest of the folder still runs."""
    for item in items:
        if NODES & set(getattr(item, "fixturenames", ())) and (reason := _obstacle()):
            item.add_marker(pytest.mark.skip(reason=f"no namespaces here ({reason})"))


def pytest_sessionfinish() -> None:
    """Workers of pytest-xdist end without running what is registered for the exit."""
    if compiled.cache_info().currsize:
        shutil.rmtree(compiled().parent, ignore_errors=True)


@pytest.fixture
def harness() -> Iterator[Harness]:
    """A node that is still off, with a mirror that has both drivers."""
    made = Harness()
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def served(harness: Harness) -> Harness:
    """A node that the agent has given the old driver, in service."""
    harness.want(harness.old)
    harness.begin()
    harness.wait(f"{OLD} serves", lambda: harness.ready() and harness.operator.settled())
    return harness
