"""A pipeline installs the archives of charts that it has verified, whatever a stack says."""

from __future__ import annotations

import pytest

from components.config import CHARTS_VARIABLE, SIMULATED_VARIABLE, environment_faults, with_verified_charts
from physical_ai.settings import load
from tests.support.recording import record

PULLED = {CHARTS_VARIABLE: "cache"}


def test_in_a_pipeline_each_release_is_the_archive_that_was_verified(monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("dev-westus2").settings.charts.source == "repository"
    monkeypatch.setenv(CHARTS_VARIABLE, "cache")
    releases = record("dev-westus2").of_type("Release")
    assert releases
    assert all(str(each.inputs["chart"]).startswith(".charts/") for each in releases)
    assert not any("repositoryOpts" in each.inputs for each in releases)


def test_without_the_variable_the_stack_decides_what_is_simulated() -> None:
    for stack in ("dev-westus2", "prod-westus2"):
        loaded = load(stack)
        assert with_verified_charts(loaded, {SIMULATED_VARIABLE: "1"}) is loaded
        assert with_verified_charts(loaded, PULLED).settings.charts.source == "cache"


def test_another_value_is_an_error() -> None:
    (found,) = environment_faults({CHARTS_VARIABLE: "repository"})
    assert (found.where, "write cache" in found.problem) == (CHARTS_VARIABLE, True)
    assert environment_faults(PULLED) == []
