"""What Azure and OSMO say, in the shape in which the diagnosis reads it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer

from physical_ai.readiness.answers import Missing, Unreachable
from physical_ai.settings import load
from simulator.kubernetes.client import ApiError
from workbench.cli.diagnosis_sources import azure_pools, described_workflow, simulated_pools
from workbench.cli.exit_codes import BAD_INPUT
from workbench.cli.main import run
from workbench.cli.simulated_stack import readiness_client

BODY = {"provisioningState": "Failed", "powerState": {"code": "Running"}, "vmSize": "Standard_NC40ads_H100_v5"}


def test_the_pools_of_the_stacks_cluster_are_one_list() -> None:
    asked: list[str] = []

    def get(path: str, parameters: Mapping[str, str]) -> Any:
        asked.append(path)
        assert parameters["api-version"]
        return {"value": [{"name": "h100gpu", "properties": BODY}]}

    assert azure_pools(get, "1", load("dev-westus2").settings) == {"h100gpu": BODY}
    (path,) = asked
    assert path.startswith("/subscriptions/1/resourceGroups/rg-physical-ai-dev-westus2/providers/")
    assert path.endswith("/managedClusters/aks-physical-ai-dev-westus2/agentPools")


def test_a_simulated_cluster_without_a_cloud_has_no_pools_that_could_be_missing() -> None:
    resources: dict[str, Any] = {}
    simulation: Any = SimpleNamespace(cloud_resources=lambda: resources)
    assert simulated_pools(simulation) is None
    cluster = {"agentPoolProfiles": [{"name": "system"}]}
    resources["/c"] = {"type": "azure-native:containerservice:ManagedCluster", "outputs": cluster}
    assert simulated_pools(simulation) == {"system": {"name": "system"}}


def test_a_file_of_osmo_is_read_and_another_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "workflow.json"
    document = {"name": "wf-1", "status": "PENDING", "groups": [], "uuid": "x"}
    file.write_text(json.dumps(document))
    assert described_workflow(file) == [document]
    for wrong in ("{}", "[]", "no JSON"):
        file.write_text(wrong)
        with pytest.raises(typer.BadParameter):
            described_workflow(file)


def test_options_for_a_real_cluster_need_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "train-0", "--azure"]) == BAD_INPUT
    assert "the simulated ones are always read" in capsys.readouterr().err


@pytest.mark.parametrize(("status", "is_known"), [(403, True), (401, True), (500, False), (404, False)])
def test_a_simulated_cluster_refuses_logs_as_a_real_one(status: int, is_known: bool) -> None:
    """No kubelet answers for its nodes (500); a login without the right is another matter."""

    def refuse(*_: Any) -> Any:
        raise ApiError(status, {"message": "no"})

    get = readiness_client(SimpleNamespace(get=refuse))  # pyright: ignore[reportArgumentType]
    with pytest.raises(Unreachable if is_known else Missing) as refused:
        get("/api/v1/namespaces/x/pods/y/log", {})
    assert getattr(refused.value, "status", 0) == (status if is_known else 0)
