"""Preview features that a pool with InfiniBand needs of its subscription."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from physical_ai.findings import Finding, Severity
from physical_ai.settings import Overlay, load
from tests.support.azure_subscription import SUBSCRIPTION, Answers
from tests.unit.preflight.test_preflight import TODAY, on_path
from tests.unit.settings.test_settings_fabric import WITH_FABRIC
from workbench.preflight import AzureRest, check

ADDRESS = (
    f"/subscriptions/{SUBSCRIPTION}/providers/Microsoft.Features/providers/Microsoft.ContainerService/features/"
    "AKSInfinibandSupport"
)


def found(answers: Answers | None, *assignments: str) -> list[Finding]:
    settings = load("dev-westus2", [Overlay.assign(list(assignments))] if assignments else []).settings
    azure = AzureRest(answers, SUBSCRIPTION) if answers is not None else None
    return [each for each in check(settings, azure, on_path, TODAY) if each.rule == "feature"]


@pytest.mark.parametrize(
    ("state", "severity", "fix"),
    [("Registered", Severity.OK, ""), ("NotRegistered", Severity.ERROR, "az feature register")],
)
def test_the_feature_of_infiniband_must_be_registered(state: str, severity: Severity, fix: str, tmp_path: Path) -> None:
    file = tmp_path / "feature.json"
    file.write_text(json.dumps({"properties": {"state": state}}))
    (finding,) = found(Answers().put(ADDRESS, file), *WITH_FABRIC)
    assert (finding.severity, finding.where) == (severity, "AKSInfinibandSupport")
    assert fix in (finding.fix or "")


def test_no_answer_is_no_approval() -> None:
    (finding,) = found(Answers(), *WITH_FABRIC)
    assert finding.severity is Severity.UNKNOWN
    (unasked,) = found(None, *WITH_FABRIC)
    assert unasked.severity is Severity.UNKNOWN


def test_stacks_without_a_fabric_need_none() -> None:
    assert found(Answers()) == []
