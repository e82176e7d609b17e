"""The actions that the workflows take from others: each is recorded with its commit and a runtime that runners have."""

from __future__ import annotations

import datetime
import re
import tomllib
from typing import Any

from docs.generator.release import contents
from parts.runners.names import IMAGE
from physical_ai.catalog.images import image
from tests.support.workflow_files import GITHUB, ROOT, actions, workflows

RECORDED: dict[str, Any] = tomllib.loads((GITHUB / "actions.toml").read_text())
USES = re.compile(r"^\s*(?:- )?uses: ([\w.-]+/[\w./-]+)@(\S+) # (\S+)$", re.MULTILINE)


def used() -> set[tuple[str, str, str]]:
    """Action, commit and version of every step."""
    paths = [*(each.path for each in workflows()), *actions()]
    return {found for path in paths for found in USES.findall(path.read_text())}


def numbers(version: str) -> list[int]:
    return [int(each) for each in version.split(".")]


def test_every_action_is_recorded_at_the_commit_that_is_pinned_and_no_other_is() -> None:
    rows: dict[str, dict[str, Any]] = RECORDED["actions"]
    assert {(name, row["commit"], row["version"]) for name, row in rows.items()} == used()
    assert all(isinstance(row["read"], datetime.date) for row in rows.values())


def test_only_the_action_that_publishes_has_a_commit_that_was_not_read_at_its_tag() -> None:
    """Its page says to compare it before the first release."""
    doubtful = [name for name, row in RECORDED["actions"].items() if not row.get("confirmed", True)]
    assert doubtful == ["pypa/gh-action-pypi-publish"]
    assert all(name in (ROOT / "docs" / "releases.md").read_text() for name in doubtful)


def test_the_metadata_of_the_releases_is_compared_with_what_the_action_that_publishes_takes() -> None:
    """Another version of the action would otherwise be pinned, and the refusal be found when the tag is there."""
    taken = RECORDED["actions"]["pypa/gh-action-pypi-publish"]["metadata"]
    assert numbers(taken) == list(contents.NEWEST)


def test_no_action_needs_a_runtime_that_runners_have_removed() -> None:
    for name, row in RECORDED["actions"].items():
        assert row["runtime"] not in RECORDED["removed"], f"{name}: {RECORDED['removed'][row['runtime']]}"
        assert row["runtime"] in RECORDED["runner"], f"{name}: which runner has {row['runtime']}?"


def test_the_runners_that_a_stack_deploys_have_the_runtimes_of_its_actions() -> None:
    needed = max(numbers(RECORDED["runner"][row["runtime"]]) for row in RECORDED["actions"].values())
    assert numbers(image(IMAGE).tag) >= needed
