"""The policy pack in the real engine: it checks each resource of a preview and stops on a violated error rule."""

from __future__ import annotations

import pytest

from simulator.home import Home
from tests.simulator.physai import physai

pytestmark = pytest.mark.usefixtures("home")


@pytest.mark.deep  # in `make test`: its answers to an engine, in test_policy_pack.py
def test_a_preview_that_breaks_a_rule_is_refused_and_leaves_nothing(home: Home) -> None:
    unprotected = ("prod-westus2", "--policies", "--set", "protect=false", "--json")
    said = physai("preview", *unprotected, expect=3).json["policies"]
    assert {(each["rule"], each["level"]) for each in said} == {("protected-in-production", "mandatory")}
    assert any(each["urn"].endswith("::physical-ai-h100gpu-nodes") for each in said)
    assert list(home.folder.glob("simulations/*")) == []


@pytest.mark.deep  # in `make test`: errors above, levels of rules in tests/unit/policies/test_policy_pack.py
def test_a_preview_that_keeps_the_error_rules_passes_and_a_warning_stops_nothing() -> None:
    said = physai("preview", "--policies", "--json", "--set", "pools.h100gpu.priority=Regular").json["policies"]
    assert [(each["rule"], each["level"]) for each in said] == [("spot-in-dev", "advisory")]
    assert said[0]["urn"].endswith("::physical-ai-h100gpu-nodes")
