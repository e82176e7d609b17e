"""A gateway's certificate through cert-manager: who may write which zone, and what waits for the certificate."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.network_policies import GATEWAY_LABELS, GATEWAY_PORT, Address, Entity, Pod, reaches
from tests.support.recording import Recording
from tests.unit.components.test_components_control_plane import GIVEN, PLATFORM, in_control_plane, released
from tests.unit.conftest import Simulate
from tests.unit.settings.test_osmo_access import ACCESS, refused
from workbench.mocks.azure_answers import guid

ZONE = (
    "/subscriptions/0b1f6471-1bf0-4dda-aec3-111122223333/resourceGroups/rg-dns"
    "/providers/Microsoft.Network/dnsZones/contoso.com"
)
ACME = {"email": "osmo@contoso.com", "zoneId": ZONE}
ZONE_CONTRIBUTOR = "befefa01-2a29-4197-83a8-272ff33ce314"
CONTROLLER = Pod("cert-manager", {"app.kubernetes.io/name": "cert-manager"})


def tls(**given: Any) -> dict[str, Any]:
    return {"source": "certManager", "certManager": given}


def deployed(simulate: Simulate, **given: Any) -> Recording:
    settings = {"mode": "platform", "access": {**ACCESS, "tls": tls(**given)}}
    secrets = {"osmoOidcClientSecret": GIVEN["osmoOidcClientSecret"]}
    return simulate("dev-westus2", {**PLATFORM, "osmo": settings, "secrets": secrets})


@pytest.fixture(scope="module")
def platform(simulate: Simulate) -> Recording:
    return deployed(simulate, acme=ACME)


def test_its_identity_writes_one_zone_for_one_account(platform: Recording) -> None:
    (role,) = [
        each for each in platform.of_type("RoleAssignment") if ZONE_CONTRIBUTOR in each.inputs["roleDefinitionId"]
    ]
    assert role.inputs["scope"] == ZONE
    identity = platform.resource("UserAssignedIdentity", "id-physical-ai-cert-manager-dev-westus2")
    assert role.inputs["principalId"] == guid("principal", identity.inputs["resourceName"])
    held = [
        each for each in platform.of_type("RoleAssignment") if each.inputs["principalId"] == role.inputs["principalId"]
    ]
    assert len(held) == 1
    subjects = [
        each.inputs["subject"]
        for each in platform.of_type("FederatedIdentityCredential")
        if each.inputs["resourceName"] == identity.inputs["resourceName"]
    ]
    assert subjects == ["system:serviceaccount:cert-manager:cert-manager"]


def test_the_issuer_answers_in_the_zone_as_this_identity(platform: Recording) -> None:
    issuer = platform.resource("ClusterIssuer", "physical-ai-cert-manager-issuer").inputs["spec"]["acme"]
    (solver,) = issuer["solvers"]
    zone = solver["dns01"]["azureDNS"]
    assert (zone["resourceGroupName"], zone["hostedZoneName"]) == ("rg-dns", "contoso.com")
    values = platform.resource("Release", "physical-ai-cert-manager-release").inputs["values"]
    client = values["serviceAccount"]["annotations"]["azure.workload.identity/client-id"]
    assert zone["managedIdentity"]["clientID"] == client
    assert values["podLabels"] == {"azure.workload.identity/use": "true"}
    assert "privateKey" not in str(values)


def test_the_control_plane_waits_for_the_certificate_of_its_name(platform: Recording) -> None:
    certificate = platform.resource("Certificate", "physical-ai-cert-manager-certificate")
    spec = certificate.inputs["spec"]
    assert spec["dnsNames"] == [ACCESS["host"]]
    assert certificate.inputs["metadata"]["annotations"] == {"pulumi.com/waitFor": "condition=Ready"}
    assert certificate.urn in released(platform).options.depends_on
    assert released(platform).inputs["values"]["gateway"]["envoy"]["ssl"]["secretName"] == spec["secretName"]
    assert spec["secretName"] not in in_control_plane(platform, "Secret")


def test_an_issuer_outside_the_stack_needs_no_identity(simulate: Simulate) -> None:
    found = deployed(simulate, clusterIssuer="company-ca")
    certificate = found.resource("Certificate", "physical-ai-cert-manager-certificate").inputs["spec"]
    assert certificate["issuerRef"]["name"] == "company-ca"
    assert not found.of_type("ClusterIssuer")
    assert not [each for each in found.of_type("RoleAssignment") if ZONE_CONTRIBUTOR in each.inputs["roleDefinitionId"]]


def test_without_it_nothing_is_installed(simulate: Simulate) -> None:
    found = simulate("dev-westus2", PLATFORM)
    assert "cert-manager" not in [each.inputs["metadata"]["name"] for each in found.of_type("Namespace")]
    assert not found.of_type("Certificate")


def test_it_reaches_the_authority_and_nothing_inside(platform: Recording) -> None:
    policies = [dict(each.inputs) for each in platform.of_type("NetworkPolicy")]
    gateway = Pod("osmo-control-plane", GATEWAY_LABELS, {GATEWAY_PORT: 8000})
    for target in (Address("172.65.32.248"), Entity("api server")):
        assert reaches(policies, CONTROLLER, target, 443)
    assert reaches(policies, Entity("api server"), CONTROLLER, 10250)
    for target, port in ((Address("169.254.169.254"), 80), (gateway, 8000), (Address("8.8.8.8"), 53)):
        assert not reaches(policies, CONTROLLER, target, port)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"source": "certManager"}, "only then"),
        ({"source": "stack", "certManager": {"acme": ACME}}, "only then"),
        (tls(), "either acme or clusterIssuer"),
        (tls(acme=ACME, clusterIssuer="company-ca"), "either acme or clusterIssuer"),
        (tls(acme={**ACME, "zoneId": ZONE.replace("contoso.com", "fabrikam.com")}), "is not in the zone"),
        (tls(acme={**ACME, "server": "http://acme.contoso.com"}), "https address"),
    ],
)
def test_what_is_refused(given: dict[str, Any], words: str) -> None:
    assert any(words in problem for problem in refused({**ACCESS, "tls": given}).values())
