"""What makes the processes of OSMO's control plane end at their start, as the real ones do."""

from __future__ import annotations

import base64
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from physical_ai.catalog.osmo_service import NO_MEK
from physical_ai.planning.service_chart import mek_file, redis_password
from simulator.operators import mounts
from simulator.operators.starting import crash

Json = dict[str, Any]
NOW = "2026-11-23T12:00:00Z"
KEYS = mek_file(base64.b64encode(bytes(32)).decode())


def pod(
    *,
    arguments: tuple[str, ...] = (),
    admin: bool = False,
    volumes: tuple[Json, ...] = (),
    mounts: tuple[Json, ...] = (),
    variables: tuple[Json, ...] = (),
) -> Json:
    container: Json = {"name": "osmo-service", "image": "x", "args": list(arguments), "volumeMounts": list(mounts)}
    container["env"] = list(variables)
    if admin:
        given = {"name": "default-admin-secret", "key": "password"}
        container["env"].append({"name": "OSMO_DEFAULT_ADMIN_PASSWORD", "valueFrom": {"secretKeyRef": given}})
    return {
        "metadata": {"name": "p", "namespace": "osmo-control-plane", "uid": "u"},
        "spec": {"containers": [container], "volumes": list(volumes)},
    }


def secret(**data: str) -> Json:
    return {"data": {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}}


def reason(given: Json, **objects: Json) -> str | None:
    why = crash(given, lambda kind, namespace, name: objects.get(name.replace("-", "_")))
    if why is None:
        return None
    assert why.waiting == "CrashLoopBackOff"
    return why.message


@pytest.mark.parametrize(("length", "starts"), [(43, True), (42, False), (44, False), (0, False)])
def test_the_administrators_password_has_43_characters(length: int, starts: bool) -> None:
    found = reason(pod(admin=True), default_admin_secret=secret(password="x" * length))
    assert (found is None) == starts


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        (KEYS, True),
        ("", False),
        ("currentMek: key2\nmeks: {key1: e30=}", False),
        (yaml.safe_dump({"currentMek": "a", "meks": {"a": "not base64"}}), False),
        (mek_file(base64.b64encode(bytes(16)).decode()), False),
        ("meks: [", False),
    ],
)
def test_the_keys_of_the_database_can_be_read(text: str, starts: bool) -> None:
    volume = {"name": "mek-volume", "configMap": {"name": "mek-config"}}
    mount = {"name": "mek-volume", "mountPath": "/opt/osmo/config.yaml", "subPath": "mek.yaml"}
    given = pod(arguments=("--mek_file", "/opt/osmo/config.yaml"), volumes=(volume,), mounts=(mount,))
    found = reason(given, mek_config={"data": {"mek.yaml": text}})
    assert (found is None) == starts


@pytest.mark.parametrize(("folder", "starts"), [("/etc/osmo/mek", True), ("/elsewhere", False)])
def test_the_variable_for_keys_counts_more_than_the_argument(folder: str, starts: bool) -> None:
    given = pod(
        arguments=("--mek_file", "/opt/osmo/config.yaml"),
        variables=({"name": "OSMO_MEK_FILE", "value": f"{folder}/mek.yaml"},),
        volumes=(
            {"name": "mek-volume", "configMap": {"name": "mek-config"}},
            {"name": "osmo-mek", "secret": {"secretName": "osmo-mek"}},
        ),
        mounts=(
            {"name": "mek-volume", "mountPath": "/opt/osmo/config.yaml", "subPath": "mek.yaml"},
            {"name": "osmo-mek", "mountPath": "/etc/osmo/mek"},
        ),
    )
    found = reason(given, mek_config={"data": {"mek.yaml": NO_MEK}}, osmo_mek=secret(**{"mek.yaml": KEYS}))
    assert (found is None) == starts
    without = reason(pod(arguments=("--mek_file", "/opt/osmo/config.yaml")))
    assert without is not None
    assert "cannot be read" in without


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pools: {}\nservice: {service_base_url: https://x}\n", None),
        ("pools: [a]", "pools"),
        ("- a", "not a map"),
        ("a: {", "no YAML"),
    ],
)
def test_a_malformed_configuration_is_not_loaded(text: str, problem: str | None) -> None:
    volume = {"name": "configs", "configMap": {"name": "osmo-service-configs"}}
    found = reason(pod(volumes=(volume,)), osmo_service_configs={"data": {"config.yaml": text}})
    assert found is None if problem is None else problem in (found or "")


def test_a_database_without_a_name_is_not_connected_to() -> None:
    assert "--postgres_host" in (reason(pod(arguments=("--postgres_host", ""))) or "")
    assert reason(pod(arguments=("--postgres_host", "psql", "--redis_host", "redis"))) is None


@pytest.mark.parametrize(("length", "starts"), [(16, True), (32, True), (43, False)])
def test_the_key_of_cookies_has_a_length_that_aes_takes(length: int, starts: bool) -> None:
    volume = {"name": "s", "secret": {"secretName": "oauth2-proxy-secrets"}}
    found = reason(pod(volumes=(volume,)), oauth2_proxy_secrets=secret(cookie_secret="x" * length))
    assert (found is None) == starts


def test_a_container_that_ends_is_in_a_pod_that_runs() -> None:
    given = pod(admin=True)
    why = crash(given, lambda kind, namespace, name: secret(password="short"))
    assert why is not None
    status = mounts.status(given, why, NOW)
    assert status["phase"] == "Running"
    (container,) = status["containerStatuses"]
    assert container["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert container["lastState"]["terminated"]["exitCode"] == 1
    assert mounts.event(given, why, NOW)["reason"] == "BackOff"


CACHE = ("--redis_host", "osmo-dev.redis.azure.net", "--redis_port", "10000", "--redis_tls_enable", "true")
CACHE_PASSWORD = {
    "name": "OSMO_REDIS_PASSWORD",
    "valueFrom": {"secretKeyRef": {"name": "redis-secret", "key": "redis-password"}},
}


def connected(password: str) -> str | None:
    process = pod(arguments=CACHE, variables=(CACHE_PASSWORD,))
    return reason(process, redis_secret=secret(**{"redis-password": password}))


@pytest.mark.parametrize("key", ["ab/cd+ef==", "/a", "a#b", "a?b", "a[b"])
def test_a_key_that_an_address_reads_as_something_else_ends_the_processes(key: str) -> None:
    message = connected(key)
    assert message is not None
    assert key not in message
    assert connected(redis_password(key)) is None


@given(st.text(min_size=1))
@pytest.mark.deep  # in `make test`: keys of Azure's alphabet above
def test_the_program_writes_keys_of_any_alphabet_so_that_the_clients_read_them_back(key: str) -> None:
    written = redis_password(key)
    parts = urlsplit(f"rediss://:{written}@osmo-dev.redis.azure.net:10000/0")
    assert (unquote(parts.password or ""), parts.hostname, parts.port) == (key, "osmo-dev.redis.azure.net", 10000)
    assert connected(written) is None
