"""Secrets of key vaults in Pods: read only with the right, the account and the driver, and made into a Secret."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from physical_ai.catalog.aks import Role
from physical_ai.planning.gateway_certificate import GatewayCertificatePlan
from simulator.operators.vault_secrets import VaultSecrets
from simulator.vault_addon import definition
from tests.support.azure_fakes import PLACE, Azure

ELSEWHERE = "/subscriptions/0b1f6471-1bf0-4dda-aec3-111122223333/resourceGroups/rg-certs"
VAULT = f"{ELSEWHERE}/providers/Microsoft.KeyVault/vaults/kv-certs"
PLAN = GatewayCertificatePlan(VAULT, "osmo", "osmo-gateway-tls")
NAMESPACE, ACCOUNT = "osmo-control-plane", "osmo-gateway"
ISSUER = "https://westus2.oic.prod-aks.azure.com/a/b/"
OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "envoy", "uid": "u", "controller": True}


class Cluster:
    """Objects by path."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {"/apis/storage.k8s.io/v1/csidrivers/secrets-store.csi.k8s.io": {}}

    def find(self, path: str) -> Any:
        return self.objects.get(path)

    def patch(self, path: str, body: Any, kind: str, params: Any) -> Any:
        self.objects[path] = body
        return body


class World:
    """An identity for the account, a role on the certificate, and the class in the cluster."""

    def __init__(self, folder: Path, *, plan: GatewayCertificatePlan = PLAN, delay: float = 0) -> None:
        self.azure = Azure(folder / "azure.json", role_delay_minutes=delay)
        self.azure.group()
        self.identity = self.azure.put("UserAssignedIdentity", resourceName="id-gateway", location=PLACE)
        self.plan, self.cluster = plan, Cluster()
        self.provide(plan.provider_class(self.identity.outputs["clientId"], "t"))
        client: Any = self.cluster
        self.secrets = VaultSecrets(client, folder / "azure.json", self.azure.clock.now)

    def provide(self, item: dict[str, Any]) -> None:
        path = f"/apis/secrets-store.csi.x-k8s.io/v1/namespaces/{NAMESPACE}/secretproviderclasses"
        self.cluster.objects[f"{path}/{item['metadata']['name']}"] = item

    def federate(self, account: str = ACCOUNT) -> None:
        self.azure.put(
            "FederatedIdentityCredential",
            resourceName="id-gateway",
            federatedIdentityCredentialResourceName="gateway",
            issuer=ISSUER,
            subject=f"system:serviceaccount:{NAMESPACE}:{account}",
            audiences=["api://AzureADTokenExchange"],
        )

    def assign(self, scope: str, role: str = Role.KEY_VAULT_SECRETS_USER) -> None:
        principal = self.identity.outputs["principalId"]
        self.azure.assign(role, principal, scope, 7, principalType="ServicePrincipal")

    def mount_problem(self, account: str = ACCOUNT) -> str:
        """Why the gateway's Pod waits; empty where it starts."""
        attributes = {"secretProviderClass": "osmo-gateway-certificate"}
        pod = {
            "metadata": {"name": "envoy-1", "namespace": NAMESPACE, "ownerReferences": [OWNER]},
            "spec": {
                "serviceAccountName": account,
                "volumes": [
                    {"name": "c", "csi": {"driver": "secrets-store.csi.k8s.io", "volumeAttributes": attributes}}
                ],
            },
        }
        found = self.secrets.mount_problem(pod)
        return found.message if found else ""

    @property
    def secret(self) -> Any:
        return self.cluster.find(f"/api/v1/namespaces/{NAMESPACE}/secrets/osmo-gateway-tls")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_pod_with_the_right_gets_a_certificate(world: World) -> None:
    world.federate()
    world.assign(PLAN.scope)
    assert world.mount_problem() == ""
    assert (world.secret["type"], set(world.secret["data"])) == ("kubernetes.io/tls", {"tls.crt", "tls.key"})
    certificate = x509.load_pem_x509_certificate(base64.b64decode(world.secret["data"]["tls.crt"]))
    assert certificate.subject.rfc4514_string() == "CN=osmo"
    (owner,) = world.secret["metadata"]["ownerReferences"]
    assert (owner["kind"], "controller" in owner) == ("ReplicaSet", False)
    before = world.secret
    assert world.mount_problem() == ""
    assert world.secret is before


def test_without_the_right_there_is_no_secret(world: World) -> None:
    world.federate()
    assert "ForbiddenByRbac" in world.mount_problem()
    world.assign(f"{VAULT}/secrets/another")
    assert "ForbiddenByRbac" in world.mount_problem()
    assert world.secret is None


@pytest.mark.parametrize(
    ("scope", "role", "is_enough"),
    [
        (VAULT, Role.KEY_VAULT_SECRETS_USER, True),
        (VAULT.replace("kv-certs", "kv-other"), Role.KEY_VAULT_SECRETS_USER, False),
        (PLAN.scope, Role.BLOB_DATA_CONTRIBUTOR, False),
    ],
)
def test_a_role_counts_by_its_scope_and_what_it_allows(world: World, scope: str, role: str, is_enough: bool) -> None:
    world.federate()
    world.assign(scope, role)
    assert ("ForbiddenByRbac" not in world.mount_problem()) == is_enough


def test_another_account_has_no_identity(world: World) -> None:
    world.federate()
    world.assign(PLAN.scope)
    assert "AADSTS700213" in world.mount_problem("osmo")
    assert "system:serviceaccount:osmo-control-plane:osmo'" in world.mount_problem("osmo")


def test_a_role_that_is_not_in_effect_yet_keeps_the_pod_waiting(tmp_path: Path) -> None:
    world = World(tmp_path, delay=2)
    world.federate()
    world.assign(PLAN.scope)
    assert "ForbiddenByRbac" in world.mount_problem()
    world.azure.clock.advance(2)
    assert world.mount_problem() == ""


def test_a_vault_of_the_stack_has_what_was_written_into_it(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "names.json")
    vault = azure.id("Microsoft.KeyVault/vaults/kv-own")
    world = World(tmp_path, plan=GatewayCertificatePlan(vault, "osmo", "osmo-gateway-tls"))
    properties = {"tenantId": world.azure.cloud.directory.tenant, "sku": {"family": "A", "name": "standard"}}
    properties |= {"enableRbacAuthorization": True}
    world.azure.put("Vault", vaultName="kv-own", location=PLACE, properties=properties)
    world.federate()
    world.assign(vault)
    assert "SecretNotFound" in world.mount_problem()
    world.azure.put("VaultSecret", vaultName="kv-own", secretName="osmo", properties={"value": "pem"})
    assert world.mount_problem() == ""


def test_without_the_add_on_nothing_is_mounted(world: World) -> None:
    world.cluster.objects = {}
    assert "not found in the list of registered CSI drivers" in world.mount_problem()


def test_a_class_that_does_not_exist_is_named(world: World) -> None:
    world.cluster.objects = {path: item for path, item in world.cluster.objects.items() if "csidrivers" in path}
    assert "secretproviderclass osmo-control-plane/osmo-gateway-certificate" in world.mount_problem()


def test_the_add_on_serves_the_kind_that_the_program_declares() -> None:
    spec = definition()["spec"]
    declared = PLAN.provider_class("c", "t")
    assert declared["apiVersion"] == f"{spec['group']}/{spec['versions'][0]['name']}"
    assert declared["kind"] == spec["names"]["kind"]
    known = spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    assert set(declared["spec"]) <= set(known)


def test_a_cluster_with_the_add_on_gets_its_kinds(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identities()
    azure.cluster(addonProfiles={"azureKeyvaultSecretsProvider": {"enabled": True}})
    assert "enable_vault_secrets" in azure.host.calls
