"""A control plane of the stack's own: it starts, keeps the key of its database, and is removed."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog.osmo import CONTROL_NAMESPACE, OPERATOR_NAMESPACE
from simulator.kubernetes.client import MERGE_PATCH, Client
from simulator.simulation import Simulation
from tests.simulator.killed_install import administrator
from tests.simulator.physai import physai
from tests.simulator.test_data_services import KINDS, azure, kinds
from tests.support.waiting import until
from tests.unit.components.test_gateway_certificate import TLS
from tests.unit.settings.test_osmo_access import ACCESS, DATA

SERVICES = {
    "osmo-agent",
    "osmo-delayed-job-monitor",
    "osmo-gateway-authz",
    "osmo-gateway-envoy",
    "osmo-gateway-oauth2-proxy",
    "osmo-logger",
    "osmo-router",
    "osmo-service",
    "osmo-ui",
    "osmo-worker",
}


@pytest.fixture
def platform(tmp_path: Path) -> str:
    file = tmp_path / "platform.yaml"
    osmo = {"mode": "platform", "access": {**ACCESS, "tls": TLS}}
    file.write_text(yaml.safe_dump({"dataServices": DATA, "osmo": osmo}))
    return str(file)


def listed(client: Client, api: str, kind: str) -> list[dict[str, Any]]:
    return client.get(f"/{api}/namespaces/{CONTROL_NAMESPACE}/{kind}")["items"]


def key(client: Client) -> str:
    return client.get(f"/api/v1/namespaces/{CONTROL_NAMESPACE}/secrets/osmo-mek")["data"]["mek.yaml"]


@pytest.mark.deep  # in `make test`: the resources in test_components_control_plane.py
def test_a_control_plane_starts_and_is_removed_with_its_data_services(running: Simulation, platform: str) -> None:
    before = kinds(running)
    assert before.isdisjoint(KINDS)
    physai("up", "--json", "-f", platform)
    assert set(KINDS) <= kinds(running)
    (vault,) = (row for row in azure(running)["resources"] if row["kind"] == "Vault")
    assert vault["outputs"]["properties"]["vaultUri"].startswith("https://kv-dev-westus2-")
    client = administrator(running)
    has_started(client)
    is_removed(client)
    assert kinds(running) == before
    # Azure keeps it for days. The next vault has another name.
    assert vault["inputs"]["vaultName"].lower() in azure(running)["deletedVaults"]


@pytest.mark.deep  # in `make test`: test_components_control_plane.py (key) and test_control_plane_starting.py (end)
def test_a_control_plane_keeps_its_key_and_ends_with_a_password_that_it_refuses(
    deployed: Simulation, platform: str
) -> None:
    physai("up", "--json", "-f", platform)
    client = administrator(deployed)
    first = key(client)
    physai("up", "--json", "-f", platform, "--set", "osmo.access.limits.concurrentRequests=200")
    assert key(client) == first
    ends_with_a_password_that_it_refuses(client)


def has_started(client: Client) -> None:
    deployed = {item["metadata"]["name"]: item for item in listed(client, "apis/apps/v1", "deployments")}
    assert set(deployed) == SERVICES
    for name, item in deployed.items():
        assert item["status"].get("availableReplicas") == item["spec"]["replicas"], name
    # Made by AKS' provider of secrets from vaults, when the gateway's Pods mounted what they may read.
    certificate = client.get(f"/api/v1/namespaces/{CONTROL_NAMESPACE}/secrets/osmo-gateway-tls")
    assert certificate["type"] == "kubernetes.io/tls"
    assert certificate["metadata"]["labels"] == {"secrets-store.csi.k8s.io/managed": "true"}


def ends_with_a_password_that_it_refuses(client: Client) -> None:
    """What the service cannot read at its start ends it, as in the real one."""
    short = {"data": {"password": base64.b64encode(b"short").decode()}}
    client.patch(f"/api/v1/namespaces/{CONTROL_NAMESPACE}/secrets/default-admin-secret", short, MERGE_PATCH)
    client.request(
        "DELETE", f"/api/v1/namespaces/{CONTROL_NAMESPACE}/pods", params={"labelSelector": "app=osmo-service"}
    )

    def crashes() -> bool:
        pods = [
            each for each in listed(client, "api/v1", "pods") if each["metadata"]["labels"].get("app") == "osmo-service"
        ]
        states = [status["state"] for each in pods for status in each["status"].get("containerStatuses", [])]
        return any(state.get("waiting", {}).get("reason") == "CrashLoopBackOff" for state in states)

    until(crashes, "the service runs with a password that it refuses")


def is_removed(client: Client) -> None:
    removed = physai("up", "--json")
    assert "delete" in removed.json["changes"]
    assert listed(client, "apis/apps/v1", "deployments") == []

    def work() -> bool:
        pods = client.get(f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/pods")["items"]
        states = [status for each in pods for status in each["status"].get("containerStatuses", [])]
        return bool(states) and all(each["ready"] for each in states)

    # They log in at the control plane elsewhere again, with the stack's token. Those that tried too early start again.
    until(work, "the agents are not ready")
