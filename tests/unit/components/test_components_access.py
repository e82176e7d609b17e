"""The Azure login, retries while roles take effect, and the engine's configuration."""

from __future__ import annotations

import asyncio
from typing import Any

import pulumi
import pytest

from components.aks.access import earlier_names
from components.azure import role_propagation
from components.azure.account import selected
from components.config import engine_config, of_project
from physical_ai.catalog.aks import Role
from physical_ai.settings.facts.access import Grant
from tests.support.recording import record
from tests.unit.conftest import Simulate

KUBELET = 'Code="CustomKubeletIdentityMissingPermissionError" Message="The cluster user assigned identity must be …"'


def test_the_hook_waits_and_logs_it(simulate: Simulate, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert said[0].startswith("cluster: a role assignment is not in effect yet; attempt 1 of 14")
    assert said[-1].startswith("cluster: the resource exists")


@pytest.mark.parametrize(
    ("variable", "text", "instead"),
    [
        ("PHYSICAL_AI_RETRY_SECONDS", "soon", "write seconds, such as 15"),
        ("PHYSICAL_AI_GATE_SECONDS", "soon", "write seconds, such as 60"),
        ("PHYSICAL_AI_GATES", "off", "write report or skip"),
    ],
)
def test_a_variable_that_is_mistyped_ends_the_program_before_it_declares_anything(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, instead: str
) -> None:
    monkeypatch.setenv(variable, text)
    monkeypatch.setattr("components.config.load_config", None)  # nothing is even loaded
    with pytest.raises(pulumi.RunError, match=f"{variable} is '{text}'; {instead}"):
        record("dev-westus2")


def test_a_missing_subscription_names_the_command_to_run() -> None:
    with pytest.raises(pulumi.RunError, match="az account set"):
        selected("")


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


def test_only_the_first_deployer_takes_over_the_assignment_that_was_named_without_a_principal() -> None:
    reader = Grant("r-reader", Role.RBAC_READER, "r", "User")
    first, second = (Grant(f"{each}-deployer", Role.RBAC_CLUSTER_ADMIN, each, "User") for each in "ab")
    grants = [reader, first, second]
    named = {each.name: [alias.name for alias in earlier_names("access", each, grants)] for each in grants}
    assert named == {"r-reader": [], "a-deployer": ["access-deployer-admin"], "b-deployer": []}
