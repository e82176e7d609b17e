"""Values of the control plane's chart: complete, of known keys only, without passwords, closed to strangers."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
import yaml

from physical_ai.catalog.charts import newest_chart
from physical_ai.catalog.compat import check_chart
from physical_ai.catalog.osmo_service import UNAUTHENTICATED
from physical_ai.planning.service_chart import Attached, attached, mek_file
from physical_ai.planning.service_chart.release import ENCRYPTING, OWNED
from physical_ai.settings import Overlay, SettingsError, load
from tests.unit.settings.test_osmo_access import ACCESS, DATA, GROUP

TO = Attached(
    postgres_host="psql-x.postgres.database.azure.com",
    postgres_port=5432,
    postgres_database="osmo",
    postgres_user="osmoadmin",
    redis_host="redis-x.westus2.redis.azure.net",
    redis_port=10000,
    storage={name: f"azure://stx/{name}" for name in ("data", "logs", "apps")},
    client_id="client",
)


def values(access: dict[str, Any] = ACCESS, **osmo: Any) -> dict[str, Any]:
    data = {"dataServices": DATA, "osmo": {"mode": "platform", "access": access, **osmo}}
    release = load("dev-westus2", [Overlay("test", data)]).plan.control_plane
    assert release is not None
    return attached(release.values, TO)


@pytest.mark.parametrize("access", [ACCESS, {"login": "dev"}, {**ACCESS, "scope": "public"}])
def test_every_key_is_one_that_the_chart_knows(access: dict[str, Any]) -> None:
    assert check_chart("service", newest_chart("service").version, values(access)) == []


def test_only_a_control_plane_of_its_own_is_a_release() -> None:
    assert load("dev-westus2").plan.control_plane is None


def test_database_cache_and_storage_are_those_of_the_deployment() -> None:
    services = values()["services"]
    assert services["postgres"] == {
        "enabled": False,
        "serviceName": TO.postgres_host,
        "port": 5432,
        "db": "osmo",
        "user": "osmoadmin",
    }
    assert services["redis"] == {"enabled": False, "tlsEnabled": True, "serviceName": TO.redis_host, "port": 10000}
    workflow = services["configs"]["workflow"]
    assert workflow["workflow_log"] == {"credential": {"endpoint": "azure://stx/logs"}}
    assert services["configs"]["secretRefs"] == []


def test_the_pods_get_their_storage_by_identity() -> None:
    given = values()
    assert given["serviceAccount"]["annotations"] == {"azure.workload.identity/client-id": "client"}
    for name in ("service", "worker", "logger", "agent", "delayedJobMonitor"):
        assert given["services"][name]["extraPodLabels"] == {"azure.workload.identity/use": "true"}


def test_entra_and_the_service_itself_issue_the_tokens_that_are_accepted() -> None:
    gateway = values()["gateway"]
    issuers = [provider["issuer"] for provider in gateway["envoy"]["jwt"]["providers"]]
    assert issuers == [f"https://login.microsoftonline.com/{ACCESS['entra']['tenantId']}/v2.0", "osmo"]
    assert gateway["envoy"]["defaultIdentity"]["user"] == ""
    assert gateway["authz"]["enabled"]
    assert gateway["oauth2Proxy"]["enabled"]
    # What renews a browser's login at each cookieRefresh.
    assert "offline_access" in gateway["oauth2Proxy"]["scope"].split()
    assert gateway["envoy"]["ssl"] == {"enabled": True, "secretName": "osmo-gateway-tls"}


def test_nothing_is_served_without_a_login_but_health_versions_and_the_login_itself() -> None:
    envoy = values()["gateway"]["envoy"]
    assert tuple(envoy["skipAuthPaths"]) == UNAUTHENTICATED
    assert envoy["extraSkipAuthPaths"] == []
    assert all(path.startswith("/api/auth/") or path.endswith("/version") for path in UNAUTHENTICATED)


def test_only_the_gateway_reaches_what_believes_its_headers() -> None:
    policies = values()["gateway"]["networkPolicies"]
    assert policies["enabled"]
    reached = {item["podSelector"]["app"] for item in policies["upstreams"]}
    assert reached == {"osmo-service", "osmo-router", "osmo-ui", "osmo-agent", "osmo-logger"}


@pytest.mark.parametrize(("access", "encrypted"), [(ACCESS, True), ({"login": "dev"}, False)])
def test_the_ui_speaks_to_the_gateway_as_the_gateway_listens(access: dict[str, Any], encrypted: bool) -> None:
    """With a certificate, its one listener speaks TLS at both ports of its Service."""
    found = values(access)
    envoy, ui = found["gateway"]["envoy"], found["services"]["ui"]
    assert ui["nextjsSslEnabled"] is envoy["ssl"]["enabled"] is encrypted
    assert ui["apiHostname"] == (f"{ACCESS['host']}:443" if encrypted else "osmo-gateway:80")


@pytest.mark.parametrize("scope", ["internal", "public"])
def test_the_address_is_internal_unless_the_stack_says_public(scope: str) -> None:
    service = values({**ACCESS, "scope": scope})["gateway"]["envoy"]["service"]
    internal = service.get("annotations", {}).get("service.beta.kubernetes.io/azure-load-balancer-internal")
    assert internal == ("true" if scope == "internal" else None)


def test_the_development_login_is_an_identity_of_the_gateway() -> None:
    gateway = values({"login": "dev"})["gateway"]
    assert gateway["envoy"]["defaultIdentity"]["user"] == "admin"
    assert not gateway["authz"]["enabled"]
    assert not gateway["oauth2Proxy"]["enabled"]


def test_groups_become_roles() -> None:
    roles = values()["services"]["configs"]["roles"]
    assert roles["osmo-user"]["external_roles"] == ["osmo-user", GROUP]


def test_limits_reach_envoy() -> None:
    limits = {"concurrentRequests": 50, "bodyMebibytes": 2, "headerKibibytes": 64, "requestsPerMinute": 120}
    envoy = values({**ACCESS, "limits": limits})["gateway"]["envoy"]
    assert (envoy["maxRequests"], envoy["maxHeadersSizeKb"]) == (50, 64)
    prefixes = [route["match"].get("prefix") for route in envoy["serviceRoutes"]]
    assert prefixes == [None, "/api/", "/client/"]
    for route in envoy["serviceRoutes"]:
        code = route["typed_per_filter_config"]["block-spam-ips"]["source_code"]["inline_string"]
        assert "per_minute, body_bytes, most_callers = 120, 2097152, 10000" in code
        assert "{{" not in code


def test_without_a_limit_of_requests_none_is_counted() -> None:
    envoy = values({**ACCESS, "limits": {"requestsPerMinute": 0}})["gateway"]["envoy"]
    code = envoy["serviceRoutes"][0]["typed_per_filter_config"]["block-spam-ips"]["source_code"]["inline_string"]
    assert "most_callers = 0, " in code
    assert "if per_minute > 0 and" in code


def test_a_file_may_not_set_what_settings_decide(tmp_path: Any) -> None:
    (tmp_path / "osmo").mkdir()
    (tmp_path / "osmo/service.yaml").write_text("gateway: {enabled: false}\nservices: {postgres: {db: x}, bogus: 1}\n")
    data = {"dataServices": DATA, "osmo": {"mode": "platform", "access": ACCESS}}
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay("test", data)], values=tmp_path)
    found = {fault.where for fault in caught.value.faults}
    assert {"gateway", "services.postgres", "services.bogus"} <= found
    assert set(OWNED) >= {"gateway", "services.postgres"}


def test_every_process_that_reads_the_database_has_its_keys_from_the_secret(tmp_path: Any) -> None:
    (tmp_path / "osmo").mkdir()
    (tmp_path / "osmo/service.yaml").write_text("services: {worker: {extraEnv: [{name: A, value: b}]}}\n")
    data = {"dataServices": DATA, "osmo": {"mode": "platform", "access": ACCESS}}
    release = load("dev-westus2", [Overlay("test", data)], values=tmp_path).plan.control_plane
    assert release is not None
    services = release.values["services"]
    assert services["worker"]["extraEnv"][0] == {"name": "A", "value": "b"}
    for name in ENCRYPTING:
        section = services[name]
        variable = section["extraEnvs" if name == "router" else "extraEnv"][-1]
        assert variable == {"name": "OSMO_MEK_FILE", "value": "/etc/osmo/mek/mek.yaml"}
        assert section["extraVolumes"] == [{"name": "osmo-mek", "secret": {"secretName": "osmo-mek"}}]
        assert section["extraVolumeMounts"] == [{"name": "osmo-mek", "mountPath": "/etc/osmo/mek", "readOnly": True}]


def test_a_key_is_a_jwk_of_its_bytes() -> None:
    key = bytes(range(224, 256))
    file = yaml.safe_load(mek_file(base64.b64encode(key).decode()))
    jwk = json.loads(base64.b64decode(file["meks"][file["currentMek"]]))
    assert jwk["kty"] == "oct"
    assert jwk["kid"] == file["currentMek"]
    assert base64.urlsafe_b64decode(jwk["k"] + "=") == key
