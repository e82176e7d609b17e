"""The gate that reads the status of Helm releases: an upgrade that failed must not end as a success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest

from components.gates.release_gate import ReleaseGate, ReleaseGateArgs
from physical_ai.readiness import Unreachable
from physical_ai.readiness.releases import not_deployed
from physical_ai.readiness.waiting import GATES_VARIABLE
from tests.unit.components.test_components_gate import run
from tests.unit.conftest import Simulate

RELEASES = {"gpu-operator": "gpu-operator"}


class Records:
    """Helm's records of one release: (revision, status)."""

    def __init__(self, *revisions: tuple[int, str], problem: Exception | None = None) -> None:
        self.revisions, self.problem = revisions, problem
        self.asked: list[tuple[str, str]] = []

    def connect(self, _: str) -> Any:
        def get(path: str, parameters: Mapping[str, str]) -> Any:
            self.asked.append((path, parameters["labelSelector"]))
            if self.problem is not None:
                raise self.problem
            return {
                "items": [
                    {"metadata": {"labels": {"version": str(number), "status": status}}}
                    for number, status in self.revisions
                ]
            }

        return get


def deploy(records: Records, *, preview: bool = False) -> str:
    def program() -> pulumi.Output[None]:
        args = ReleaseGateArgs("a kubeconfig", RELEASES, [], records.connect)
        return ReleaseGate("gate", args).urn.apply(lambda _: None)

    return run(program, preview=preview)


def test_the_newest_revision_decides() -> None:
    records = Records((2, "superseded"), (10, "deployed"), (9, "failed"))
    assert deploy(records) == ""
    assert records.asked == [("/api/v1/namespaces/gpu-operator/secrets", "owner=helm,name=gpu-operator")]


@pytest.mark.parametrize("status", ["failed", "pending-upgrade", "pending-install", "uninstalling"])
def test_a_release_that_is_not_deployed_fails_the_deployment(status: str) -> None:
    failure = deploy(Records((1, "deployed"), (2, status)))
    assert f"Helm release gpu-operator/gpu-operator: {status} (revision 2)" in failure
    assert "helm rollback" in failure


def test_a_release_without_a_record_is_not_deployed() -> None:
    assert not_deployed(Records().connect(""), RELEASES) == [
        "Helm release gpu-operator/gpu-operator: not installed (revision 0)"
    ]


def test_a_failed_release_can_be_reported_only(monkeypatch: pytest.MonkeyPatch) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(pulumi.log, "warn", lambda text, _: warnings.append(text))
    monkeypatch.setenv(GATES_VARIABLE, "report")
    assert deploy(Records((1, "failed"))) == ""
    assert "failed (revision 1)" in warnings[0]


def test_a_preview_reads_nothing_and_an_unreachable_cluster_is_an_error() -> None:
    records = Records(problem=Unreachable("no route"))
    assert deploy(records, preview=True) == ""
    assert records.asked == []
    assert "no route" in deploy(records)


def test_a_deployment_of_what_is_in_azure_reads_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(GATES_VARIABLE, "skip")
    records = Records(problem=Unreachable("no route"))
    assert deploy(records) == ""
    assert records.asked == []


def test_the_gate_comes_after_every_release(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    gate = recording.resource("ReleaseGate", "physical-ai-release-gate")
    assert {each.urn for each in recording.of_type("Release")} <= set(gate.options.depends_on)


def test_a_driver_is_known_only_when_the_release_is(simulate: Simulate) -> None:
    """So that the preview of an upgrade does not check new fields against the kind of the running release."""
    recording = simulate("dev-westus2", preview=True)
    driver = next(each for each in recording.of_type("NVIDIADriver"))
    assert driver.inputs["spec"]["repository"] != "nvcr.io/nvidia"
    known = next(each for each in simulate("dev-westus2").of_type("NVIDIADriver"))
    assert known.inputs["spec"]["repository"] == "nvcr.io/nvidia"
