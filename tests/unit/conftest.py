"""Fixtures of the unit tests."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

import pytest

from physical_ai.settings import existing
from tests.support.recording import Recording, record

STACKS = tuple(existing())


class Simulate(Protocol):
    def __call__(self, stack: str, overrides: Mapping[str, Any] | None = None, *, preview: bool = False) -> Recording:
        """Run the program for `stack`, with `overrides` over its stack file, and return what it declared."""
        ...


@cache
def _unmodified(stack: str, preview: bool) -> Recording:
    return record(stack, preview=preview)


@pytest.fixture(scope="session")
def simulate() -> Simulate:
    """The program under a recording monitor; committed stacks run once a session."""

    def run(stack: str, overrides: Mapping[str, Any] | None = None, *, preview: bool = False) -> Recording:
        return record(stack, overrides, preview=preview) if overrides else _unmodified(stack, preview)

    return run


@pytest.fixture(params=STACKS)
def stack_name(request: pytest.FixtureRequest) -> str:
    """Each committed stack in turn."""
    return request.param
