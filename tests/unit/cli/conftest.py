"""Fixtures of the tests of commands."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from workbench.mocks import recorder
from workbench.mocks.azure_answers import SUBSCRIPTION
from workbench.policies import Stack

_run = recorder.declared


@cache
def _declared(stack: str, config: str, preview: bool, today: datetime.date, subscription: str) -> Stack:
    return _run(stack, json.loads(config), preview=preview, today=today, subscription=subscription)


@pytest.fixture(autouse=True)
def declared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs the program once for each configuration of a stack that a command asks for; a run takes half a second."""

    def declared(
        stack: str, config: Mapping[str, Any], *, preview: bool, today: datetime.date, subscription: str = SUBSCRIPTION
    ) -> Stack:
        return _declared(stack, json.dumps(config, sort_keys=True), preview, today, subscription)

    monkeypatch.setattr(recorder, "declared", declared)
