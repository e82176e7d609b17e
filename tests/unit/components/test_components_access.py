"""Login, waiting for roles, and the engine's configuration: decisions made outside of resources."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
import pytest
import yaml

from components import role_propagation
from components.account import account
from components.config import engine_config, of_project
from components.kubeconfig import exec_kubeconfig
from components.role_propagation import MAX_ATTEMPTS, advice, base_seconds, may_exist, should_retry
from physical_ai.mocks.azure_answers import AKS_KUBECONFIG
from tests.support.recording import ROOT
from tests.unit.conftest import Simulate

FORBIDDEN = (
    'namespaces "gpu-operator" is forbidden: User "99999999-8888-7777-6666-555555555555" cannot patch resource '
    '"namespaces" in API group "" in the namespace "gpu-operator": User does not have access to the resource in Azure.'
)
KUBELET = 'Code="CustomKubeletIdentityMissingPermissionError" Message="The cluster user assigned identity must be …"'


def test_kubeconfig_logs_in_without_a_terminal() -> None:
    login = yaml.safe_load(exec_kubeconfig(AKS_KUBECONFIG))["users"][0]["user"]["exec"]
    assert login["command"] == "kubelogin"
    assert login["interactiveMode"] == "Never"
    arguments = dict(zip(login["args"][1::2], login["args"][2::2], strict=True))
    assert login["args"][0] == "get-token"
    assert arguments == {
        "--login": "azurecli",
        "--server-id": "6dae42f8-4368-4678-94ff-3960e28e3630",
        "--environment": "AzurePublicCloud",
    }


def test_kubeconfig_keeps_everything_but_the_login() -> None:
    before, after = yaml.safe_load(AKS_KUBECONFIG), yaml.safe_load(exec_kubeconfig(AKS_KUBECONFIG))
    for document in (before, after):
        document["users"][0]["user"] = None
    assert before == after


def test_kubeconfig_is_a_fixed_point() -> None:
    once = exec_kubeconfig(AKS_KUBECONFIG)
    assert exec_kubeconfig(once) == once


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ("", "not a mapping"),
        ("users: [", "not YAML"),
        ("apiVersion: v1\nusers: []\n", "without users"),
        ("users:\n- name: admin\n  user: {client-certificate-data: QQ==, client-key-data: QQ==}\n", "local accounts"),
    ],
)
def test_kubeconfig_that_cannot_be_used_says_why(raw: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        exec_kubeconfig(raw)


@pytest.mark.parametrize(
    "error",
    [
        KUBELET,
        "LinkedAuthorizationFailed: the client has no permission on the linked scope …/subnets/snet-h100gpu",
        "InsufficientSubnetPermissions",
        FORBIDDEN,
    ],
)
def test_a_missing_role_is_waited_for(error: str) -> None:
    assert should_retry([error], 1, base=10) == 10


@pytest.mark.parametrize(
    "error",
    [
        'Code="SkuNotAvailable" Message="…"',
        'Code="QuotaExceeded" Message="…"',
        'pods "driver" is forbidden: violates PodSecurity "baseline:latest": host namespaces',
        'namespaces "x" is forbidden: exceeded quota',
        "context deadline exceeded",
    ],
)
def test_other_failures_are_told_at_once(error: str) -> None:
    assert should_retry([error], 1) is None


@pytest.mark.parametrize(
    "error",
    [
        f"1 error occurred:\n\t* {KUBELET}\n\n",
        'resource partially created but read failed Status=404: Code="LinkedAuthorizationFailed" Message="…"',
        'the long-running operation failed: Code="LinkedAuthorizationFailed" Message="…"',
        f"Long running operation: {KUBELET}",
    ],
)
def test_what_may_exist_by_now_is_not_created_again(error: str) -> None:
    assert should_retry([error], 1) is None
    assert may_exist(error)
    assert "again" in str(advice(error))


def test_a_refusal_at_once_leaves_nothing_behind() -> None:
    assert not may_exist(KUBELET)
    assert not may_exist(FORBIDDEN)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        ("count (3) must lie between minCount (0) and maxCount (2).", "two steps"),
        ("The value of agentPoolProfile.count must be between 0 and 2.", "two steps"),
        ("Cannot manually scale and enable cluster autoscaler in the same update", "two steps"),
        ('Code="PropertyChangeNotAllowed" Message="Changing property \'properties.vmSize\' is not allowed."', "cannot"),
    ],
)
def test_a_refusal_that_does_not_tell_the_way_on_gets_advice_that_does(error: str, told: str) -> None:
    assert should_retry([error], 1) is None
    assert told in str(advice(error))
    assert "docs/settings.md" in str(advice(error))


def test_advice_names_chapters_that_exist() -> None:
    chapters = (ROOT / "docs/settings.md").read_text()
    for error in ("Cannot manually scale", 'Code="PropertyChangeNotAllowed"'):
        chapter = str(advice(error)).partition("docs/settings.md, '")[2].partition("',")[0]
        assert f"### {chapter}\n" in chapters


def test_other_refusals_get_no_advice() -> None:
    assert advice('Code="QuotaExceeded" Message="…"') is None
    assert advice('pods "driver" is forbidden: exceeded count quota') is None


def test_only_the_latest_failure_counts() -> None:
    assert should_retry(["SkuNotAvailable", FORBIDDEN], 2) is None
    assert should_retry([FORBIDDEN, "SkuNotAvailable"], 2) is not None


def test_waiting_grows_and_ends_after_some_ten_minutes() -> None:
    delays: list[float] = []
    while (seconds := should_retry([FORBIDDEN] * (len(delays) + 1), len(delays) + 1)) is not None:
        delays.append(seconds)
    assert delays == sorted(delays)
    assert len(delays) == MAX_ATTEMPTS - 1
    assert 10 * 60 <= sum(delays) <= 15 * 60


def test_no_failure_no_retry() -> None:
    assert should_retry([], 0) is None


def test_the_hook_waits_and_says_so(simulate: Simulate, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = simulate("dev-westus2").hooks["physical-ai-role-propagation"]
    waited: list[float] = []
    said: list[str] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(role_propagation.asyncio, "sleep", sleep)
    monkeypatch.setattr(pulumi.log, "info", said.append)
    monkeypatch.setattr(pulumi.log, "warn", said.append)

    async def call(*errors: str) -> Any:
        answer = hook(pulumi.ErrorHookArgs("urn", "", "cluster", "t", failed_operation="create", errors=list(errors)))
        assert not isinstance(answer, bool)
        return await answer

    assert asyncio.run(call(KUBELET)) is True
    assert asyncio.run(call(KUBELET, KUBELET)) is True
    assert asyncio.run(call("QuotaExceeded")) is False
    assert asyncio.run(call(f"1 error occurred:\n\t* {KUBELET}\n\n", KUBELET)) is False
    assert waited == [15, 30]
    assert said[0].startswith("cluster: a role assignment is not in effect yet; try 1 of 14")
    assert said[-1].startswith("cluster: it exists")


@pytest.mark.parametrize(("text", "seconds"), [("0.05", 0.05), ("0", 0), ("30", 30)])
def test_first_delay_comes_from_the_environment(text: str, seconds: float) -> None:
    assert base_seconds({"PHYSICAL_AI_RETRY_SECONDS": text}) == seconds
    assert base_seconds({}) == 15


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf", ""])
def test_unusable_delay_is_told_with_the_variables_name(text: str) -> None:
    with pytest.raises(pulumi.RunError, match="PHYSICAL_AI_RETRY_SECONDS"):
        base_seconds({"PHYSICAL_AI_RETRY_SECONDS": text})


def test_login_without_an_object_id_stops_a_deployment_and_not_a_preview() -> None:
    assert account("sub", "", preview=True).object_id is None
    with pytest.raises(pulumi.RunError, match="az login"):
        account("sub", None, preview=False)


@pytest.mark.parametrize("preview", [True, False])
def test_no_subscription_is_told_with_the_command_to_run(preview: bool) -> None:
    with pytest.raises(pulumi.RunError, match="az account set"):
        account("", "oid", preview=preview)


def test_config_is_decoded_and_other_namespaces_are_left_out() -> None:
    raw = {
        "physical-ai:protect": "true",
        "physical-ai:pools": '{"h100gpu": {"scale": {"count": 3}}}',
        "physical-ai:note": "not json",
        "physical-ai:secrets": '{"key": "hunter2"}',
        "azure-native:location": "westus2",
    }
    assert of_project(raw, "physical-ai") == {
        "protect": True,
        "pools": {"h100gpu": {"scale": {"count": 3}}},
        "note": "not json",
    }


def test_config_is_found_where_the_language_host_puts_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi, "get_project", lambda: "physical-ai")
    monkeypatch.setenv("PULUMI_CONFIG", '{"physical-ai:protect": "true"}')
    assert engine_config() == {"protect": True}
