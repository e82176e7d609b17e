"""The time that tasks have for a checkpoint: in Pods, in the settings, and in what the check of workflows says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from physical_ai.planning.osmo_platforms import pod_templates
from physical_ai.settings import Overlay, load
from tests.unit.settings.settings_faults import expect, warned
from workbench.osmo.lint import check_text, of_stack

EXAMPLE = Path(__file__).parents[2] / "fixtures" / "osmo" / "lint" / "spot-checkpoint" / "fail.yaml"
SECONDS = "osmo.platforms.h100gpu.checkpointSeconds"
REGULAR = "pools.h100gpu.priority=Regular"


def grace(platform: str, *assignments: str) -> int:
    """Grace period of a Pod on the platform: OSMO merges the template of the platform over that of all tasks."""
    templates = pod_templates(load("dev-westus2", [Overlay.assign(list(assignments))]).settings)
    merged: dict[str, Any] = {**templates["task"]["spec"], **templates[f"platform-{platform}"]["spec"]}
    return merged["terminationGracePeriodSeconds"]


def rules(*assignments: str) -> list[str]:
    context = of_stack(load("dev-westus2", [Overlay.assign(list(assignments))]).settings)
    return [each.rule for each in check_text(EXAMPLE.read_text(), "w.yaml", context).findings]


def test_a_platforms_pods_have_the_time_that_its_checkpoints_take() -> None:
    assert grace("h100", REGULAR, f"{SECONDS}=900") == 900
    assert grace("rtxpro", REGULAR, f"{SECONDS}=900") == 60
    assert grace("cpu", REGULAR, f"{SECONDS}=900") == 60
    assert grace("h100", REGULAR) == 60


def test_a_spot_machine_does_not_wait_for_a_checkpoint() -> None:
    expect(warned(f"{SECONDS}=31"), SECONDS, "30 s after its notice", "while they run")
    assert SECONDS not in {each.where for each in warned(f"{SECONDS}=30")}
    assert SECONDS not in {each.where for each in warned(f"{SECONDS}=31", REGULAR)}


def test_an_upgrade_drains_no_longer_than_its_timeout() -> None:
    drain = "pools.h100gpu.upgrade.drainTimeoutMinutes=10"
    expect(warned(f"{SECONDS}=600", REGULAR, drain), SECONDS, "drains a node within 600 s", "drainTimeoutMinutes")
    assert SECONDS not in {each.where for each in warned(f"{SECONDS}=599", REGULAR, drain)}


def test_long_work_on_spot_nodes_needs_checkpoints_and_on_others_does_not() -> None:
    assert rules() == ["spot-checkpoint"]
    assert rules(REGULAR) == []


@pytest.mark.parametrize(("written", "found"), [("4h", []), ("5h", ["spot-checkpoint"])])
def test_short_work_may_start_again(written: str, found: list[str]) -> None:
    text = EXAMPLE.read_text().replace("12h", written)
    assert [each.rule for each in check_text(text, "w.yaml", of_stack(load("dev-westus2").settings)).findings] == found


@pytest.mark.parametrize(
    "text",
    [
        "https://robots.blob.core.windows.net/data?sv=2024&sig=abc%3D",
        "DefaultEndpointsProtocol=https;AccountName=robots;AccountKey=abc==",
    ],
)
def test_a_key_in_an_argument_or_an_address_is_found(text: str) -> None:
    written = EXAMPLE.read_text().replace("12h", "2h").replace("[python, train.py]", f"[python, train.py, '{text}']")
    found = check_text(written, "w.yaml", of_stack(load("dev-westus2").settings)).findings
    assert [each.rule for each in found] == ["blob-credential"]
    assert "abc" not in found[0].problem
