"""`physai check`: disruption budgets for which AKS upgrades nothing, told from the settings and read from a cluster."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from physical_ai.findings import Severity
from physical_ai.readiness import Unreachable
from physical_ai.settings import Overlay, load
from tests.unit.cli.test_cli_commands import call
from tests.unit.parts.slurm.test_settings_slurm import given
from workbench.cli import cluster_gates
from workbench.cli.cluster_gates import ClusterTarget
from workbench.preflight.upgrade_budgets import declared, present

NEVER = {"metadata": {"namespace": "team", "name": "never"}, "spec": {"maxUnavailable": 0}, "status": {}}


def test_slurms_budget_is_known_before_there_is_a_cluster() -> None:
    (found,) = declared(load("dev-westus2", [Overlay("--set", given())]).settings)
    assert (found.severity, found.where) == (Severity.WARNING, "slurm/slurm-workers-pdb-slurm")
    assert "UnsatisfiablePDB" in found.problem
    assert list(declared(load("dev-westus2").settings)) == []


def test_a_cluster_without_such_a_budget_is_said_to_have_none() -> None:
    assert [each.severity for each in present([], "file")] == [Severity.OK]


@pytest.mark.parametrize(
    ("answer", "severity", "says"),
    [
        ({"items": [NEVER]}, "warning", "team/never (maxUnavailable is 0)"),
        ({"items": []}, "ok", "each allows an eviction"),
        (Unreachable("403 forbidden"), "unknown", "cannot be read: 403 forbidden"),
    ],
)
def test_the_budgets_of_a_cluster_are_listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answer: Any, severity: str, says: str
) -> None:
    def get(path: str, parameters: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr(cluster_gates, "real_cluster", lambda *_: ClusterTarget("cluster", get, ()))
    _, out, _ = call("check", "dev-westus2", "--offline", "--json", "--kubeconfig", str(tmp_path / "config"))
    (found,) = [each for each in json.loads(out)["findings"] if each["topic"] == "upgrade"]
    assert found["status"] == severity
    assert says in found["message"]
    planned = {each["subject"] for each in json.loads(out)["findings"] if each["topic"] == "node upgrade"}
    assert {"h100gpu", "Kubernetes", "node images"} <= planned
