"""A control plane in the stack: its deployment creates the agents' token, and rotates it under a running workflow."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import osmo
from simulator.cluster.pods import ended
from simulator.home import HOME_VARIABLE
from simulator.kubernetes import ApiError, Client
from simulator.osmo.service import as_account
from simulator.simulation import Simulation
from tests.simulator.homes import wipe
from tests.simulator.physai import physai
from tests.simulator.snapshots import Snapshots
from tests.support.paths import SAMPLES
from tests.support.waiting import LIMIT, until

STACK = "dev-westus2"
PLATFORM: dict[str, Any] = {
    "dataServices": {"source": "azure"},
    "osmo": {
        "mode": "platform",
        "access": {
            "host": "osmo.contoso.com",
            "tls": {"source": "stack"},
            "entra": {
                "tenantId": "aaaaaaaa-0000-4000-8000-00000000000a",
                "clientId": "aaaaaaaa-0000-4000-8000-00000000000b",
            },
            "roles": {"osmo-user": ["aaaaaaaa-0000-4000-8000-000000000001"]},
        },
    },
}
PODS = f"/api/v1/namespaces/{osmo.WORKFLOWS_NAMESPACE}/pods"
AGENTS = f"/api/v1/namespaces/{osmo.OPERATOR_NAMESPACE}/pods"
SECRET = f"/api/v1/namespaces/{osmo.OPERATOR_NAMESPACE}/secrets/{osmo.TOKEN_SECRET}"
Json = dict[str, Any]


@pytest.fixture(scope="module")
def stack(snapshots: Snapshots, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A stack with a control plane; the overlay that says so."""
    folder = tmp_path_factory.mktemp("platform")
    home = snapshots.homes.make(folder / "home")
    overlay = folder / "platform.yaml"
    overlay.write_text(yaml.safe_dump(PLATFORM))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(HOME_VARIABLE, str(home.folder))
        try:
            snapshots.restore(home, STACK)
            physai("up", STACK, "-f", str(overlay))
            yield overlay
        finally:
            wipe(home)


@pytest.mark.deep
def test_the_token_is_created_used_and_rotated_under_a_runningworkflow_without_end(stack: Path, tmp_path: Path) -> None:
    clusters = Simulation(STACK).clusters()
    admin = clusters.client(clusters.ids()[0])
    first, started = token_secret(admin), _agents(admin)
    # The stack has had its control plane elsewhere until now, with a token of its own.
    assert set(first) == {"token", "previous-token"}
    assert len(started) == 2
    _may_touch_one_secret(admin)

    submitted = workflow_without_end(tmp_path)
    running = [sys.executable, "-m", "workbench.cli", "run", str(submitted), "--json"]
    with subprocess.Popen(running, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as follower:
        try:
            pod = until(lambda: running_pod(admin) or follower.poll() is not None, "the task does not run")
            assert follower.poll() is None, "physai run ended before the task ran"
            physai("up", STACK, "-f", str(stack), "--set", "osmo.tokenRotation=2026-12")
            second = token_secret(admin)
            assert second["previous-token"] == first["token"] != second["token"]
            assert admin.get(SECRET)["metadata"]["annotations"]["physical-ai/token-name"] == "default-2026-12"
            until(lambda: not set(started) & set(_agents(admin)), "the agents do not restart with the new token")
            assert running_pod(admin)["metadata"]["uid"] == pod["metadata"]["uid"]
            exits = {each["name"]: (0, "") for each in pod["spec"]["containers"]}
            status = f"{PODS}/{pod['metadata']['name']}/status"
            admin.patch(status, {"status": ended(pod, exits)}, "application/merge-patch+json")
            out, _ = follower.communicate(timeout=LIMIT)
        finally:
            follower.kill()
    assert json.loads(out)["workflows"][0]["status"] == "COMPLETED"

    physai("preview", STACK, "-f", str(stack), "--set", "osmo.tokenRotation=2026-12", "--expect-no-changes")
    wrong = base64.b64encode(b"x" * 43).decode()
    admin.patch(SECRET, {"data": {"token": wrong}}, "application/merge-patch+json")
    for name in _agents(admin).values():
        admin.request("DELETE", f"{AGENTS}/{name}")
    refused = physai("run", str(SAMPLES / "cpu-task.yaml"), expect=1)
    assert "its backend default is not connected" in refused.err
    assert "403 bystander has no role" in physai("run", str(submitted), "--as", "bystander", expect=1).err


def _may_touch_one_secret(admin: Client) -> None:
    program = as_account(admin, osmo.CONTROL_NAMESPACE, "osmo-token")
    own = {"metadata": {"annotations": {"physical-ai/token-state": "valid"}}}
    program.patch(SECRET, own, "application/merge-patch+json")
    for method, path, body in (
        ("GET", f"/api/v1/namespaces/{osmo.OPERATOR_NAMESPACE}/secrets", None),
        ("GET", f"/api/v1/namespaces/{osmo.CONTROL_NAMESPACE}/secrets/default-admin-secret", None),
        ("DELETE", SECRET, None),
        ("PATCH", SECRET, {"data": {"other": "eA=="}}),
        ("PATCH", SECRET, {"metadata": {"labels": {"physical-ai/osmo-backend": None}}}),
    ):
        with pytest.raises(ApiError):
            program.request(method, path, body, content_type="application/merge-patch+json")


def token_secret(admin: Client) -> dict[str, str]:
    return admin.get(SECRET)["data"]


def _agents(admin: Client) -> dict[str, str]:
    """Names of the agents' Pods by uid."""
    pods: list[Json] = admin.get(AGENTS)["items"]
    return {each["metadata"]["uid"]: each["metadata"]["name"] for each in pods}


def running_pod(admin: Client) -> Json:
    pods: list[Json] = admin.get(PODS)["items"]
    return next((each for each in pods if each.get("status", {}).get("phase") == "Running"), {})


def workflow_without_end(folder: Path) -> Path:
    task = {"name": "work", "image": f"registry.example/work@sha256:{'a' * 64}", "command": ["sleep", "infinity"]}
    document = {
        "version": 2,
        "workflow": {
            "name": "long",
            "timeout": {"exec_timeout": "3d"},
            "resources": {"default": {"cpu": 1, "memory": "1Gi", "storage": "1Gi", "platform": "cpu"}},
            "tasks": [task],
        },
    }
    path = folder / "long.yaml"
    path.write_text(yaml.safe_dump(document))
    return path
