"""A year of one stack on one cluster: what comes after the first `up`, by other hands and beside other changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from physical_ai.cli.exit_codes import FINDINGS
from physical_ai.simulator.entra import READER
from physical_ai.simulator.kubelogin import PRINCIPAL_VARIABLE
from physical_ai.simulator.kubernetes.client import MERGE_PATCH, ApiError, Client
from physical_ai.simulator.simulation import Simulation
from tests.simulator.physai import physai

HIDDEN_FROM_READERS = (
    "/api/v1/namespaces/osmo-operator/secrets",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles",
    "/apis/nvidia.com/v1alpha1/nvidiadrivers",
    "/api/v1/nodes",
)


def administrator(simulation: Simulation) -> Client:
    return simulation.clusters().client(simulation.clusters().ids()[0])


def named(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found}


def test_a_year(deployed: Simulation) -> None:
    names_that_do_not_exist()
    a_reader_sees_what_its_roles_show(deployed)
    a_reader_changes_nothing(deployed)
    a_refresh_finds_what_others_changed(deployed)
    only_targets_are_destroyed(deployed)


def names_that_do_not_exist() -> None:
    assert "deployer, second-deployer, reader, bystander" in physai("preview", "--as", "nobody", expect=2).err
    assert "physical-ai-h100gpu-nodes" in physai("up", "--target", "physical-ai-h100gpu-node", expect=2).err
    assert "nothing to cancel" in physai("cancel", expect=1).err


def a_reader_sees_what_its_roles_show(simulation: Simulation) -> None:
    variables = simulation.environment(READER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PRINCIPAL_VARIABLE, variables[PRINCIPAL_VARIABLE])
        reader = Client(Path(variables["KUBECONFIG"]), path=variables["PATH"])
        assert reader.get("/api/v1/namespaces/gpu-operator/configmaps")["items"]
        for path in HIDDEN_FROM_READERS:
            with pytest.raises(ApiError) as refusal:
                reader.get(path)
            assert refusal.value.code == 403


def a_reader_changes_nothing(simulation: Simulation) -> None:
    """It previews; a refresh fails at what it cannot read, and a deployment at its first request."""
    for who in ("reader", "second-deployer"):
        assert physai("preview", "--as", who, "--json").json["changes"] == [], "who runs changes what is declared"
    refused = physai("refresh", "--as", "reader", expect=1).err
    assert 'secrets "agent-token" is forbidden' in refused
    assert 'nvidiadrivers.nvidia.com "h100gpu" is forbidden' in refused
    before = simulation.cloud_resources()
    denied = physai("up", "--as", "reader", "--set", "tags={owner: reader}", expect=1).err
    assert "AuthorizationFailed" in denied
    assert simulation.cloud_resources() == before


def a_refresh_finds_what_others_changed(simulation: Simulation) -> None:
    """A refresh names each difference, and the next deployment corrects it."""
    physai("up")
    physai("refresh")
    path = "/api/v1/namespaces/osmo-workflows/resourcequotas"
    quota = administrator(simulation).get(path)["items"][0]["metadata"]["name"]
    administrator(simulation).patch(f"{path}/{quota}", {"spec": {"hard": {"pods": "7"}}}, MERGE_PATCH)
    account = "/api/v1/namespaces/gpu-operator/serviceaccounts/gpu-grid-driver-installer"
    administrator(simulation).request("DELETE", account)

    found = physai("preview", "--refresh", "--expect-no-changes", "--json", expect=FINDINGS).json
    drift = named(found["drift"])
    assert drift["physical-ai-grid-driver-service-account"]["op"] == "delete"
    assert named(found["changes"])["physical-ai-grid-driver-service-account"]["op"] == "create"
    refreshed = named(physai("refresh", "--json").json["drift"])
    assert refreshed["physical-ai-grid-driver-service-account"]["op"] == "delete"
    assert refreshed.keys() <= drift.keys()

    physai("up")
    assert administrator(simulation).get(account)


def only_targets_are_destroyed(simulation: Simulation) -> None:
    name = "physical-ai-monitoring-control-plane"
    dependents = physai("down", "--target", "physical-ai-osmo-scheduler", expect=1).err
    assert "pass --target-dependents to proceed" in dependents
    gone = physai("down", "--target", name, "--json").json
    assert gone["changes"] == {"delete": 1}
    assert simulation.exists
    assert named(physai("preview", "--json").json["changes"])[name]["op"] == "create"
