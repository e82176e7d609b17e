"""Secrets travel beside the settings, as secret Outputs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest

from physical_ai.settings import SettingsError
from physical_ai.settings.secrets import secret_texts, secrets


@pytest.fixture
def config() -> Iterator[Any]:
    """Sets the project's configuration the way the engine does, and clears it afterwards."""

    def put(value: object) -> pulumi.Config:
        pulumi.runtime.set_all_config({"physical-ai:secrets": json.dumps(value)}, ["physical-ai:secrets"])
        return pulumi.Config("physical-ai")

    yield put
    pulumi.runtime.set_all_config({})


def test_each_value_is_a_secret_output(config: Any) -> None:
    async def reveal() -> dict[str, tuple[str | None, bool]]:
        found = secrets(secret_texts(config({"token": "s3cret"})))
        return {name: (await output.future(), await output.is_secret()) for name, output in found.items()}

    assert asyncio.run(reveal()) == {"token": ("s3cret", True)}


def test_a_stack_without_secrets_has_none() -> None:
    pulumi.runtime.set_all_config({})
    assert secret_texts(pulumi.Config("physical-ai")) == {}


@pytest.mark.parametrize("value", [{"token": 12345678}, {"token": {"a": "12345678"}}, ["12345678"]])
def test_a_secret_that_is_no_text_is_refused_without_being_shown(config: Any, value: object) -> None:
    with pytest.raises(SettingsError) as caught:
        secret_texts(config(value))
    assert caught.value.faults[0].where.startswith("physical-ai:secrets")
    assert "12345678" not in str(caught.value)
