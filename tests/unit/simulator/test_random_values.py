"""Random values: made once, replaced by every change, refused as the provider refuses them."""

from __future__ import annotations

import base64
from importlib.metadata import version
from typing import Any

import pytest

from simulator.random_values import BYTES, PASSWORD, RandomValues
from simulator.wire.provider import Refused, Request
from simulator.wire.values import UNKNOWN

GIVEN: dict[str, Any] = {"length": 43, "special": False, "minLower": 1, "minUpper": 1, "minNumeric": 1}


def about(kind: str, *, preview: bool = False) -> Request:
    return Request("urn:x", kind, "x", preview=preview)


def test_a_password_has_the_length_and_the_kinds_of_characters_asked_for() -> None:
    provider = RandomValues()
    inputs, failures = provider.check(about(PASSWORD), {}, GIVEN)
    assert failures == []
    first, second = (provider.create(about(PASSWORD), inputs)[1]["result"].value for _ in range(2))
    assert first != second
    assert len(first) == 43
    assert first.isalnum()
    assert not first.islower()
    assert not first.isalpha()


def test_bytes_come_in_base64_and_as_a_secret() -> None:
    provider = RandomValues()
    inputs, _ = provider.check(about(BYTES), {}, {"length": 32})
    _, made = provider.create(about(BYTES), inputs)
    assert len(base64.b64decode(made["base64"].value)) == 32
    assert "Secret" in repr(made["base64"])


def test_a_preview_knows_no_value() -> None:
    _, made = RandomValues().create(about(BYTES, preview=True), {"length": 32})
    assert made["base64"].value is UNKNOWN


@pytest.mark.parametrize("length", [0, -1, None, "32", 2])
def test_a_length_that_leaves_no_room_is_refused(length: object) -> None:
    _, failures = RandomValues().check(about(PASSWORD), {}, {**GIVEN, "length": length})
    assert [each.property for each in failures] == ["length"]


def test_an_unknown_argument_and_an_unknown_type_are_refused() -> None:
    _, failures = RandomValues().check(about(BYTES), {}, {"length": 1, "upper": True})
    assert [each.property for each in failures] == ["upper"]
    with pytest.raises(Refused):
        RandomValues().check(about("random:index/randomPet:RandomPet"), {}, {})


def test_another_keeper_makes_another_value() -> None:
    provider = RandomValues()
    before, _ = provider.check(about(PASSWORD), {}, {**GIVEN, "keepers": {"rotation": "1"}})
    after, _ = provider.check(about(PASSWORD), before, {**GIVEN, "keepers": {"rotation": "2"}})
    assert provider.diff(about(PASSWORD), before, {}, after).replaces == ("keepers.rotation",)
    assert provider.diff(about(PASSWORD), before, {}, before).changes == {}


def test_the_stand_in_is_of_the_version_that_the_program_asks_for() -> None:
    assert RandomValues.version == version("pulumi-random")
