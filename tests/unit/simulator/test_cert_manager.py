"""The model of cert-manager: a certificate is issued to who may write the record, and for whom is told why not."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from parts.cert_manager import names
from parts.cert_manager.plan import CertManagerPlan, cert_manager_plan
from physical_ai.catalog.aks import Role
from physical_ai.repository import VALUES
from physical_ai.settings import Overlay, load
from simulator.azure.state import AzureState
from simulator.azure.store import Store
from simulator.azure.zone_access import zone_refusal
from simulator.cert_manager.authority import issue
from simulator.cert_manager.live import ISSUERS, SUBJECT
from tests.support.azure_fakes import PLACE, Azure

_GROUP = "/subscriptions/0b1f6471-1bf0-4dda-aec3-111122223333/resourceGroups/rg-dns"
ZONE = f"{_GROUP}/providers/Microsoft.Network/dnsZones/a.com"


class World:
    """An identity, and what Azure says about its right on the zone."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "azure.json"
        self.azure = Azure(self.file, role_delay_minutes=0)
        self.azure.group()
        self.identity = self.azure.put("UserAssignedIdentity", resourceName="id-cert", location=PLACE)

    def federate(self, subject: str = SUBJECT) -> None:
        self.azure.put(
            "FederatedIdentityCredential",
            resourceName="id-cert",
            federatedIdentityCredentialResourceName="cert",
            issuer="https://westus2.oic.prod-aks.azure.com/a/b/",
            subject=subject,
            audiences=["api://AzureADTokenExchange"],
        )

    def assign(self, role: str, scope: str = ZONE) -> None:
        self.azure.assign(role, self.identity.outputs["principalId"], scope, 7, principalType="ServicePrincipal")

    @property
    def refusal(self) -> str:
        store = Store(self.file)
        store.refresh()
        state = AzureState(dict(store.resources), now=self.azure.clock.now())
        return zone_refusal(state, client_id=self.identity.outputs["clientId"], subject=SUBJECT, zone_id=ZONE)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_with_the_right_on_the_zone_the_record_is_written(world: World) -> None:
    world.federate()
    world.assign(Role.DNS_ZONE_CONTRIBUTOR)
    assert world.refusal == ""


def test_without_the_right_it_is_not(world: World) -> None:
    world.federate()
    assert "AuthorizationFailed" in world.refusal
    world.assign(Role.DNS_ZONE_CONTRIBUTOR, ZONE.replace("a.com", "b.com"))
    assert "AuthorizationFailed" in world.refusal


def test_another_role_on_the_zone_is_not_enough(world: World) -> None:
    world.federate()
    world.assign(Role.PRIVATE_DNS_ZONE_CONTRIBUTOR)
    assert "AuthorizationFailed" in world.refusal


def test_another_account_is_not_the_identity(world: World) -> None:
    world.assign(Role.DNS_ZONE_CONTRIBUTOR)
    world.federate("system:serviceaccount:default:cert-manager")
    assert "AADSTS700213" in world.refusal


def test_a_certificate_is_for_the_names_that_were_asked_for() -> None:
    data, end = issue(["osmo.contoso.com"])
    certificate = x509.load_pem_x509_certificate(base64.b64decode(data["tls.crt"]))
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    assert found.value.get_values_for_type(x509.DNSName) == ["osmo.contoso.com"]
    assert certificate.not_valid_after_utc.date() == end.date()


def test_the_programs_issuer_is_one_that_the_model_understands() -> None:
    settings = load("dev-southeastasia", [Overlay("test", {})]).settings
    plan, faults = cert_manager_plan(settings, VALUES)
    assert isinstance(plan, CertManagerPlan)
    assert plan.acme is not None
    assert not [each for each in faults if each.is_error]
    issuer: Any = plan.cluster_issuer(plan.acme, "c")
    assert f"{ISSUERS}/{issuer['metadata']['name']}".endswith(names.ISSUER)
    assert issuer["spec"]["acme"]["solvers"][0]["dns01"]["azureDNS"]["hostedZoneName"] == "contoso.com"
