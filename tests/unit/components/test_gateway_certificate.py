"""The gateway's certificate from a key vault: who may read it, and what makes a Secret of it."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.support.recording import Recording
from tests.unit.components.test_components_control_plane import GIVEN, PLATFORM, in_control_plane, released
from tests.unit.conftest import Simulate
from tests.unit.settings.test_osmo_access import ACCESS, refused
from workbench.mocks.azure_answers import guid

_GROUP = "/subscriptions/0b1f6471-1bf0-4dda-aec3-111122223333/resourceGroups/rg-certs"
VAULT = f"{_GROUP}/providers/Microsoft.KeyVault/vaults/kv-certs"
TLS = {"source": "keyVault", "keyVault": {"vaultId": VAULT, "certificate": "osmo-contoso-com"}}
SECRETS_USER = "4633458b-17de-408a-b874-0445c86b69e6"


@pytest.fixture(scope="module")
def platform(simulate: Simulate) -> Recording:
    osmo = {"mode": "platform", "access": {**ACCESS, "tls": TLS}}
    given = {"osmoOidcClientSecret": GIVEN["osmoOidcClientSecret"]}
    return simulate("dev-westus2", {**PLATFORM, "osmo": osmo, "secrets": given})


def test_the_gateway_reads_this_certificate_and_nothing_else(platform: Recording) -> None:
    (role,) = (each for each in platform.of_type("RoleAssignment") if SECRETS_USER in each.inputs["roleDefinitionId"])
    assert role.inputs["scope"] == f"{VAULT}/secrets/osmo-contoso-com"
    identity = platform.resource("UserAssignedIdentity", "id-physical-ai-osmo-gateway-dev-westus2")
    assert role.inputs["principalId"] == guid("principal", identity.inputs["resourceName"])
    subjects = [
        each.inputs["subject"]
        for each in platform.of_type("FederatedIdentityCredential")
        if each.inputs["resourceName"] == identity.inputs["resourceName"]
    ]
    assert subjects == ["system:serviceaccount:osmo-control-plane:osmo-gateway"]


def test_its_pods_mount_the_class_that_makes_the_secret(platform: Recording) -> None:
    envoy = released(platform).inputs["values"]["gateway"]["envoy"]
    (volume,) = envoy["extraVolumes"]
    (mount,) = envoy["extraVolumeMounts"]
    assert (volume["name"], envoy["serviceAccountName"]) == (mount["name"], "osmo-gateway")
    assert volume["csi"]["driver"] == "secrets-store.csi.k8s.io"
    name = volume["csi"]["volumeAttributes"]["secretProviderClass"]
    provider = in_control_plane(platform, "SecretProviderClass")[name]
    (made,) = provider.inputs["spec"]["secretObjects"]
    assert (made["secretName"], made["type"]) == (envoy["ssl"]["secretName"], "kubernetes.io/tls")
    parameters = provider.inputs["spec"]["parameters"]
    (item,) = (yaml.safe_load(each) for each in yaml.safe_load(parameters["objects"])["array"])
    assert item == {"objectName": "osmo-contoso-com", "objectType": "secret"}
    assert parameters["keyvaultName"] == "kv-certs"
    before = set(released(platform).options.depends_on)
    (role,) = (each for each in platform.of_type("RoleAssignment") if "gateway" in each.name)
    assert {provider.urn, role.urn} <= before


def test_no_secret_is_declared_for_it(platform: Recording) -> None:
    assert "osmo-gateway-tls" not in in_control_plane(platform, "Secret")


def test_the_cluster_has_the_provider_only_where_it_is_used(platform: Recording, simulate: Simulate) -> None:
    (cluster,) = platform.of_type("ManagedCluster")
    addon = cluster.inputs["addonProfiles"]["azureKeyvaultSecretsProvider"]
    assert (addon["enabled"], addon["config"]["enableSecretRotation"]) == (True, "true")
    (other,) = simulate("dev-westus2", PLATFORM).of_type("ManagedCluster")
    assert not other.inputs.get("addonProfiles")
    assert not in_control_plane(simulate("dev-westus2", PLATFORM), "ServiceAccount").get("osmo-gateway")


@pytest.mark.parametrize("tls", [{"source": "keyVault"}, {"source": "stack", "keyVault": TLS["keyVault"]}])
def test_a_vault_belongs_to_its_source(tls: dict[str, Any]) -> None:
    assert any("only then" in problem for problem in refused({**ACCESS, "tls": tls}).values())
