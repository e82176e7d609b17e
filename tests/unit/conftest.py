"""Fixtures of the unit tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, Protocol

import pytest

from tests.support.recording import Recording, record
from tests.support.stacks import STACKS, azure_stacks, sweep


class Simulate(Protocol):
    def __call__(self, stack: str, overrides: Mapping[str, Any] | None = None, *, preview: bool = False) -> Recording:
        """Run the program for `stack`, with `overrides` over its stack file, and return what it declared."""
        ...


@cache
def _recorded(stack: str, overrides: str, preview: bool) -> Recording:
    return record(stack, json.loads(overrides), preview=preview)


@pytest.fixture(scope="session")
def simulate() -> Simulate:
    """The program under a recording monitor, run once a session for each stack with the same overrides.

    A test that replaces a part of the program takes `record`: others would get its recording.
    """

    def run(stack: str, overrides: Mapping[str, Any] | None = None, *, preview: bool = False) -> Recording:
        return _recorded(stack, json.dumps(overrides or {}, sort_keys=True), preview)

    return run


@pytest.fixture(params=sweep(STACKS))
def stack_name(request: pytest.FixtureRequest) -> str:
    """Each committed stack in turn; in `make test`, representative ones."""
    return request.param


@pytest.fixture(params=sweep(azure_stacks()))
def azure_stack_name(request: pytest.FixtureRequest) -> str:
    """Each committed stack that creates its cluster on Azure; in `make test`, representative ones."""
    return request.param
