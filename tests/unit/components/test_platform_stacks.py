"""The committed stacks with a control plane of their own: a public one, and a private one for production."""

from __future__ import annotations

import pytest
import yaml

from physical_ai.settings import SettingsError, load
from tests.golden.regenerate import COMMAND, PLATFORMS, path
from tests.support.stacks import sweep
from tests.unit.conftest import Simulate
from workbench.policies.networks import CLOSABLE

PUBLIC, PRIVATE = PLATFORMS


@pytest.mark.parametrize("stack", sweep(PLATFORMS))
def test_a_first_preview_lists_what_is_on_record(simulate: Simulate, stack: str) -> None:
    found = [
        f"{each.type} {each.name}{' (protected)' if each.options.protect else ''}"
        for each in simulate(stack, preview=True).resources
    ]
    assert found == yaml.safe_load(path(stack).read_text()), f"if that is meant: {COMMAND}"


@pytest.mark.parametrize("stack", PLATFORMS)
def test_azure_gets_none_of_the_placeholders(stack: str) -> None:
    with pytest.raises(SettingsError) as refused:
        load(stack).for_azure()
    places = {fault.where.removeprefix("physical-ai:") for fault in refused.value.faults}
    common = {"osmo.access.host", "osmo.access.entra", "osmo.access.roles"}
    vault = "osmo.access.tls.keyVault.vaultId"
    zone = "osmo.access.tls.certManager.acme.zoneId"
    own = {PUBLIC: {"cluster.apiAccess.authorizedIpRanges[0]", zone}, PRIVATE: {"network.private.vpn.tenantId", vault}}
    assert places == common | own[stack]


def test_users_reach_the_public_one_with_a_login_over_an_encrypted_connection() -> None:
    access = load(PUBLIC).settings.osmo.access
    assert (access.scope, access.login) == ("public", "entra")
    assert access.tls is not None
    assert all(access.roles.values())


def test_nothing_of_the_private_one_is_open_to_the_internet(simulate: Simulate) -> None:
    recording = simulate(PRIVATE)
    (cluster,) = recording.of_type("ManagedCluster")
    assert cluster.inputs["apiServerAccessProfile"]["enablePrivateCluster"] is True
    services = [each for each in recording.resources if each.type in CLOSABLE]
    endpoints = recording.of_type("PrivateEndpoint")
    assert (len(services), len(endpoints)) == (5, 8)
    closed = ("Workspace", "AzureMonitorWorkspace", "Grafana", "DataCollectionEndpoint")
    monitoring = [str(each.inputs) for kind in closed for each in recording.of_type(kind)]
    assert len(monitoring) == 5
    assert all("Disabled" in each for each in monitoring)
    settings = load(PRIVATE).settings
    assert settings.osmo.access.scope == "internal"
    assert settings.network.isolation.platform == "deny"
    assert (settings.admission.gpu_pods, settings.admission.pod_security) == ("deny", "deny")


def test_everything_of_the_private_one_is_protected_but_what_a_rotation_replaces(simulate: Simulate) -> None:
    recording = simulate(PRIVATE)
    open_ = {each.name for each in recording.resources if each.custom and not each.options.protect}
    assert "physical-ai-osmo-token-job" in open_
    (job,) = recording.of_type("Job")
    assert not job.options.deleted_with
    kept = ("Server", "StorageAccount", "Vault", "Registry", "ManagedCluster", "AgentPool")
    assert not [each.name for kind in kept for each in recording.of_type(kind) if not each.options.protect]
