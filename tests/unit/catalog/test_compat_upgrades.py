"""Releases age line by line, and upgrades go through the lines in order."""

from __future__ import annotations

import datetime
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from physical_ai.catalog import (
    UnknownName,
    newest_release,
    operator_release,
)
from physical_ai.catalog.compat import (
    judge_upgrade,
    key_changes,
    lifecycle,
    upgrade_path,
)
from physical_ai.catalog.gpu_load import (
    operator_releases,
)
from physical_ai.catalog.gpu_lookup import version
from tests.support.examples import examples


@pytest.mark.parametrize(
    ("release", "day", "state"),
    [
        ("v26.7.0", "2026-11-20", "supported"),
        ("v26.3.3", "2026-08-19", "supported"),
        ("v26.3.3", "2026-08-20", "deprecated"),
        ("v25.10.1", "2026-03-17", "supported"),
        ("v25.10.1", "2026-03-18", "deprecated"),
        ("v25.10.1", "2026-08-20", "end-of-support"),
        ("v25.3.4", "2025-10-21", "supported"),
        ("v25.3.4", "2026-03-18", "end-of-support"),
    ],
)
def test_a_line_ages_with_each_later_line(release: str, day: str, state: str) -> None:
    assert lifecycle(operator_release(release), datetime.date.fromisoformat(day)).state == state


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ("v26.3.0", "v26.3.3", ["v26.3.3"]),
        ("v26.3.3", "v26.7.0", ["v26.7.0"]),
        ("v25.10.1", "v26.7.0", ["v26.3.3", "v26.7.0"]),
        ("v25.3.4", "v26.7.1", ["v25.10.1", "v26.3.3", "v26.7.1"]),
        ("v26.7.0", "v26.7.0", []),
    ],
)
def test_an_upgrade_is_line_by_line(old: str, new: str, path: list[str]) -> None:
    assert upgrade_path(old, new) == path
    errors = [verdict for verdict in judge_upgrade(old, new) if verdict.severity == "error"]
    assert [verdict.rule for verdict in errors] == (["upgrade-skips-line"] if len(path) > 1 else [])
    assert all(step in (errors[0].fix or "") for step in path) if errors else True


@pytest.mark.parametrize(("old", "new"), [("v26.7.0", "v26.3.3"), ("v26.3.3", "v26.3.2")])
def test_a_way_back_is_refused(old: str, new: str) -> None:
    assert [verdict.rule for verdict in judge_upgrade(old, new)] == ["upgrade-downgrade"]
    with pytest.raises(ValueError, match="older"):
        upgrade_path(old, new)


def test_every_change_to_a_release_that_is_not_known_names_those_that_are() -> None:
    for old, new in (("v27.1.0", "v26.7.0"), ("v26.7.0", "v27.1.0"), ("v26.3.3", "v26.3.9")):
        (verdict,) = judge_upgrade(old, new)
        assert (verdict.rule, verdict.severity) == ("operator-unknown", "error")
        assert next(name for name in (old, new) if name not in operator_releases()) in verdict.problem
        assert "v26.7.0" in (verdict.fix or "")


def test_an_upgrade_to_the_next_line_lists_the_changes() -> None:
    (verdict,) = judge_upgrade("v26.3.3", "v26.7.0")
    assert "operator.initContainer" in (judge_upgrade("v25.10.1", "v26.3.3")[0].fix or "")
    assert verdict.severity == "info"
    assert "595" in verdict.problem
    assert "driver.licensingConfig.secretName" in key_changes("v25.3.4", "v25.10.1").added
    assert "operator.initContainer.image" in key_changes("v25.10.1", "v26.3.3").removed


def test_an_unknown_release_gets_the_nearest_one() -> None:
    with pytest.raises(UnknownName) as caught:
        operator_release("26.7.0")
    assert caught.value.suggestion == "v26.7.0"
    assert [verdict.rule for verdict in judge_upgrade("v26.7.9", "v26.7.0")] == ["operator-unknown"]


def test_a_way_through_lines_goes_through_releases_without_an_advisory(monkeypatch: pytest.MonkeyPatch) -> None:
    later = newest_release().model_copy(update={"version": "v27.1.0", "line": "27.1"})
    monkeypatch.setitem(operator_releases(), "v27.1.0", later)
    assert upgrade_path("v26.3.3", "v27.1.0") == ["v26.7.1", "v27.1.0"]


quick = examples(200)


@quick
@given(st.sampled_from([*operator_releases()]), st.sampled_from([*operator_releases()]))
def test_upgrades_are_refused_in_exactly_one_direction(old: str, new: str) -> None:
    errors = {v.rule for v in judge_upgrade(old, new) if v.severity == "error"}
    assert ("upgrade-downgrade" in errors) == (version(new) < version(old))
    if "upgrade-downgrade" not in errors:
        steps = [old, *upgrade_path(old, new)]
        for a, b in pairwise(steps):
            assert not [verdict for verdict in judge_upgrade(a, b) if verdict.severity == "error"]
