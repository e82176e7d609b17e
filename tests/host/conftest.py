"""Fixtures of the host tests, and the one word on why they can't run somewhere."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from tests.host.lab import Lab
from tests.host.namespaces import why_not


@cache
def _obstacle() -> str | None:
    return why_not()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs a node where none can be made; the rest of the folder still runs."""
    for item in items:
        if "lab" in getattr(item, "fixturenames", ()) and (reason := _obstacle()):
            item.add_marker(pytest.mark.skip(reason=f"no namespaces here ({reason})"))


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A node that is still off, with a mirror that has both drivers."""
    made = Lab()
    try:
        yield made
    finally:
        made.close()
