"""The control plane in the program: its identity and secrets, the key that never changes, what tasks may reach."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote, unquote

import pytest
import yaml

from physical_ai.catalog import osmo
from physical_ai.catalog.aks import ASSIGNED
from physical_ai.catalog.charts import newest_chart
from physical_ai.planning.osmo_service import QUEUES
from physical_ai.planning.service_chart import mek_file
from physical_ai.planning.service_chart.restarts import PROCESSES
from tests.support.recording import Recording, Resource
from tests.unit.conftest import Simulate
from tests.unit.settings.test_osmo_access import ACCESS, DATA
from workbench.policies import Secret

GIVEN = {name: f"{name} of the test" for name in ("osmoOidcClientSecret", "osmoTlsCertificate", "osmoTlsKey")}
PLATFORM: dict[str, Any] = {
    "dataServices": DATA,
    "osmo": {"mode": "platform", "access": ACCESS},
    "secrets": GIVEN,
}
CONTROL = osmo.CONTROL_NAMESPACE
BLOB_DATA = "ba92f5b4-2d11-453d-a403-e96b0029c9fe"


def in_control_plane(recording: Recording, kind: str) -> dict[str, Resource]:
    return {
        each.inputs["metadata"]["name"]: each
        for each in recording.of_type(kind)
        if each.inputs.get("metadata", {}).get("namespace") == CONTROL
    }


def released(recording: Recording) -> Resource:
    (found,) = (each for each in recording.of_type("Release") if each.inputs["name"] == "osmo")
    return found


@pytest.fixture(scope="module")
def platform(simulate: Simulate) -> Recording:
    return simulate("dev-westus2", PLATFORM)


def test_its_pods_have_an_identity_of_their_own(platform: Recording) -> None:
    subjects = {each.inputs["subject"] for each in platform.of_type("FederatedIdentityCredential")}
    assert "system:serviceaccount:osmo-control-plane:osmo" in subjects
    assert not [subject for subject in subjects if subject.endswith(":default")]
    annotations = released(platform).inputs["values"]["serviceAccount"]["annotations"]
    assert list(annotations) == ["azure.workload.identity/client-id"]


def test_every_secret_that_the_chart_mounts_is_there_before_it(platform: Recording) -> None:
    secrets = in_control_plane(platform, "Secret")
    assert set(secrets) == {
        "db-secret",
        "redis-secret",
        "default-admin-secret",
        "oauth2-proxy-secrets",
        "osmo-gateway-tls",
        "osmo-mek",
    }
    config = in_control_plane(platform, "ConfigMap")["mek-config"]
    before = set(released(platform).options.depends_on)
    assert {each.urn for each in (*secrets.values(), config)} <= before
    assert secrets["osmo-gateway-tls"].inputs["type"] == "kubernetes.io/tls"


def test_the_values_contain_no_secret(platform: Recording) -> None:
    def hidden(value: Any) -> bool:
        if isinstance(value, Secret):
            return True
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return any(hidden(each) for each in inner)

    assert not hidden(released(platform).inputs["values"])
    for each in in_control_plane(platform, "Secret").values():
        assert hidden(each.inputs["stringData"])


@pytest.mark.deep  # in `make test`: another generation of a key below
def test_another_certificate_restarts_the_gateway(platform: Recording, simulate: Simulate) -> None:
    renewed = simulate("dev-westus2", {**PLATFORM, "secrets": {**GIVEN, "osmoTlsCertificate": "another"}})
    (before,), (after,) = (pod_annotations(each, "gateway.envoy").values() for each in (platform, renewed))
    assert before != after
    existing = {"mode": "platform", "access": {**ACCESS, "tls": {"source": "existing"}}}
    assert not pod_annotations(simulate("dev-westus2", {**PLATFORM, "osmo": existing}), "gateway.envoy")


def test_the_first_administrator_has_a_password_of_43_characters(platform: Recording) -> None:
    (found,) = (each for each in platform.of_type("RandomPassword") if each.name.endswith("admin-password"))
    assert found.inputs["length"] == 43


def secret_value(recording: Recording, name: str, key: str) -> str:
    return in_control_plane(recording, "Secret")[name].inputs["stringData"].value[key]


def pod_annotations(recording: Recording, section: str) -> dict[str, str]:
    where = released(recording).inputs["values"]
    for part in section.split("."):
        where = where[part]
    return {key: value for key, value in (where.get("extraPodAnnotations") or {}).items() if key != QUEUES}


@pytest.mark.parametrize(
    ("setting", "secret", "restarted"),
    [
        ("adminPasswordGeneration", ("default-admin-secret", "password"), {"services.service"}),
        pytest.param(
            *("cookieKeyGeneration", ("oauth2-proxy-secrets", "cookie_secret"), {"gateway.oauth2Proxy"}),
            marks=pytest.mark.deep,
        ),
    ],
)
def test_another_generation_is_another_secret_and_restarts_who_read_it(
    platform: Recording, simulate: Simulate, setting: str, secret: tuple[str, str], restarted: set[str]
) -> None:
    osmo = {"mode": "platform", "access": {**ACCESS, setting: 2}}
    rotated = simulate("dev-westus2", {**PLATFORM, "osmo": osmo, "protect": True})
    assert secret_value(rotated, *secret) != secret_value(platform, *secret)
    # What is protected is neither replaced nor deleted.
    assert {each.urn.rpartition("::")[2] for each in platform.of_type("RandomPassword")} < {
        each.urn.rpartition("::")[2] for each in rotated.of_type("RandomPassword")
    }
    sections = {f"services.{name}" for name in PROCESSES} | {"gateway.oauth2Proxy", "gateway.authz"}
    assert {section for section in sections if pod_annotations(rotated, section)} == restarted
    assert not {section for section in sections if pod_annotations(platform, section)}


@pytest.mark.parametrize(
    ("data", "also"),
    [
        ({"postgres": {"passwordGeneration": 2}}, {"gateway.authz"}),
        pytest.param({"redis": {"key": "secondary"}}, set(), marks=pytest.mark.deep),
    ],
)
def test_another_password_of_the_database_or_the_cache_restarts_who_log_in(
    simulate: Simulate, data: dict[str, Any], also: set[str]
) -> None:
    rotated = simulate("dev-westus2", {**PLATFORM, "dataServices": {**DATA, **data}})
    expected = {f"services.{name}" for name in PROCESSES} | also
    sections = expected | {"gateway.oauth2Proxy", "gateway.authz"}
    assert {section for section in sections if pod_annotations(rotated, section)} == expected


def test_the_key_of_the_database_is_made_once_and_never_changed(platform: Recording) -> None:
    (generated,) = platform.of_type("RandomBytes")
    assert generated.options.ignore_changes == ("length",)
    secret = in_control_plane(platform, "Secret")["osmo-mek"]
    assert secret.options.ignore_changes == ("data", "stringData")
    file = yaml.safe_load(secret.inputs["stringData"].value["mek.yaml"])
    assert list(file["meks"]) == [file["currentMek"]]


def test_readers_of_config_maps_read_no_key(platform: Recording) -> None:
    """The chart mounts a ConfigMap for the keys, which Azure Kubernetes Service RBAC Reader reads."""
    config = in_control_plane(platform, "ConfigMap")["mek-config"]
    assert yaml.safe_load(config.inputs["data"]["mek.yaml"]) == {"currentMek": "none", "meks": {}}


def test_the_key_is_in_the_vault_before_it_is_used(platform: Recording) -> None:
    kept = {each.inputs["secretName"]: each for each in platform.of_type("Secret") if "secretName" in each.inputs}
    assert {"osmo-mek", "osmo-admin-password"} <= set(kept)
    assert kept["osmo-mek"].urn in in_control_plane(platform, "Secret")["osmo-mek"].options.depends_on


def test_a_key_of_a_backup_takes_the_place_of_the_generated_one(simulate: Simulate) -> None:
    backup = mek_file(base64.b64encode(bytes(32)).decode())
    recording = simulate("dev-westus2", {**PLATFORM, "secrets": {**GIVEN, "osmoMek": backup}})
    assert in_control_plane(recording, "Secret")["osmo-mek"].inputs["stringData"].value["mek.yaml"] == backup


@pytest.mark.deep  # in `make test`: protected data in test_components_data_services.py
def test_a_protected_stack_protects_its_key(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {**PLATFORM, "protect": True})
    (generated,) = recording.of_type("RandomBytes")
    assert generated.options.protect
    assert in_control_plane(recording, "Secret")["osmo-mek"].options.protect


def test_tasks_reach_the_container_with_their_data_and_no_other(platform: Recording) -> None:
    roles = [each for each in platform.of_type("RoleAssignment") if BLOB_DATA in each.inputs["roleDefinitionId"]]
    scopes = {each.name.rpartition("physical-ai-")[2]: each.inputs["scope"] for each in roles}
    assert sorted(name for name in scopes) == ["control-plane-storage-role", "workflow-data"]
    assert scopes["workflow-data"].endswith("/blobServices/default/containers/data")


def test_a_pipeline_may_assign_every_role_that_the_program_assigns(platform: Recording) -> None:
    roles = {each.inputs["roleDefinitionId"].rpartition("/")[2] for each in platform.of_type("RoleAssignment")}
    assert roles <= set(ASSIGNED)


def test_without_a_control_plane_nothing_of_it_is_declared(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"dataServices": DATA})
    assert not recording.of_type("RandomBytes")
    assert "osmo" not in {each.inputs["name"] for each in recording.of_type("Release")}
    assert not in_control_plane(recording, "Secret")


def test_its_address_is_an_output(platform: Recording) -> None:
    assert platform.exports["osmo"]["url"] == "https://osmo.contoso.com"
    assert platform.exports["releases"]["osmo"] == {"version": newest_chart("service").version, "namespace": CONTROL}
    assert "of the test" not in json.dumps(platform.exports, default=str)


def test_the_cache_s_key_is_written_so_that_an_address_can_have_it(platform: Recording) -> None:
    """The recorder's keys have `/`, `+` and `=`, as Azure's do."""
    (kept,) = (each for each in platform.of_type("Secret") if each.inputs.get("secretName") == "redis-key")
    key = kept.inputs["properties"]["value"].value
    written = in_control_plane(platform, "Secret")["redis-secret"].inputs["stringData"].value["redis-password"]
    assert "/" in key
    assert (quote(key, safe=""), unquote(written)) == (written, key)
