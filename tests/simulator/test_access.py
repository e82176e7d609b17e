"""Who gets in, and where pods land: the parts a kinder simulator would hide."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from simulator.entra import BYSTANDER
from simulator.kubelogin import PRINCIPAL_VARIABLE
from simulator.kubernetes.client import ApiError, Client, Unreachable
from simulator.simulation import Simulation
from tests.support.waiting import until


def user(simulation: Simulation) -> Client:
    """A client as `kubectl` would be after `eval "$(physai env)"`."""
    variables = simulation.environment()
    return Client(Path(variables["KUBECONFIG"]), path=variables["PATH"])


def test_the_deployer_is_an_administrator_by_its_role_assignment(running: Simulation) -> None:
    assert user(running).get("/api/v1/namespaces/gpu-operator")["metadata"]["name"] == "gpu-operator"


def test_a_user_without_a_role_is_forbidden(running: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PRINCIPAL_VARIABLE, BYSTANDER.object_id)
    with pytest.raises(ApiError) as refusal:
        user(running).get("/api/v1/namespaces")
    assert refusal.value.code == 403
    assert BYSTANDER.object_id in str(refusal.value)


def test_no_access_without_a_login(running: Simulation) -> None:
    kubeconfig = Path(running.environment()["KUBECONFIG"])
    with pytest.raises(Unreachable, match="kubelogin"):
        Client(kubeconfig, path=os.devnull).get("/api/v1/namespaces")


def test_the_kubeconfig_holds_no_credential(running: Simulation) -> None:
    text = Path(running.environment()["KUBECONFIG"]).read_text()
    assert "kubelogin" in text
    assert "client-key-data" not in text
    assert "token:" not in text.replace("get-token", "")


def test_secrets_of_the_simulation_are_for_the_user_alone(running: Simulation) -> None:
    for name in ("passphrase", "tokens.csv"):
        assert (running.folder / name).stat().st_mode & 0o077 == 0
    assert running.folder.stat().st_mode & 0o077 == 0


def pod(name: str, **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "registry.example/main:1"}
    body = {"containers": [container], "automountServiceAccountToken": False, **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"}, "spec": body}


def scheduled(client: Client, body: dict[str, Any]) -> str:
    """The node a pod got, or the scheduler's word on why it got none."""
    path = f"/api/v1/namespaces/default/pods/{body['metadata']['name']}"
    client.request("POST", "/api/v1/namespaces/default/pods", body)

    def answer() -> str:
        seen = client.get(path, {"pretty": "false"})
        conditions = {each["type"]: each for each in seen["status"].get("conditions") or []}
        judged = conditions.get("PodScheduled", {})
        return str(seen["spec"].get("nodeName") or (judged["message"] if judged.get("status") == "False" else ""))

    try:
        return until(answer, "the scheduler does not judge the Pod")
    finally:
        client.request("DELETE", path, params={"gracePeriodSeconds": "0"})


@pytest.fixture
def administrator(running: Simulation) -> Client:
    return running.clusters().client(running.clusters().ids()[0])


def test_a_pod_that_tolerates_nothing_lands_on_the_cpu_pool(administrator: Client) -> None:
    assert scheduled(administrator, pod("plain")).startswith("aks-cpu-")


def test_a_pod_sent_to_a_gpu_pool_without_tolerations_hangs_with_the_reason(administrator: Client) -> None:
    answer = scheduled(administrator, pod("stuck", nodeSelector={"agentpool": "h100gpu"}))
    assert "untolerated taint" in answer


def test_a_pod_that_tolerates_only_the_gpu_taint_hangs_on_a_spot_pool(administrator: Client) -> None:
    toleration = {"key": "nvidia.com/gpu", "operator": "Exists"}
    body = pod("half", nodeSelector={"agentpool": "h100gpu"}, tolerations=[toleration])
    assert "untolerated taint" in scheduled(administrator, body)


@pytest.mark.parametrize(("gpus", "answer"), [("1", "aks-rtxprogpu-"), ("2", "Insufficient nvidia.com/gpu")])
def test_a_pod_gets_as_many_gpus_as_a_node_has(administrator: Client, gpus: str, answer: str) -> None:
    body = pod("gpu", tolerations=[{"operator": "Exists"}], nodeSelector={"agentpool": "rtxprogpu"})
    body["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": gpus}}
    assert answer in scheduled(administrator, body)


def test_pod_security_is_enforced_where_the_program_enables_it(administrator: Client) -> None:
    body = pod("privileged", hostNetwork=True)
    body["metadata"]["namespace"] = "osmo-workflows"
    with pytest.raises(ApiError, match="PodSecurity"):
        administrator.request("POST", "/api/v1/namespaces/osmo-workflows/pods", body)
    body["metadata"]["namespace"] = "gpu-operator"
    administrator.request("POST", "/api/v1/namespaces/gpu-operator/pods", body)
