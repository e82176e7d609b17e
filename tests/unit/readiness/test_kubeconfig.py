"""The kubeconfig that the program and its users log in with."""

from __future__ import annotations

import pytest
import yaml

from physical_ai.readiness.kubeconfig import exec_kubeconfig
from workbench.mocks.azure_answers import AKS_KUBECONFIG


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
    ("raw", "problem"),
    [
        ("", "not a mapping"),
        ("users: [", "not YAML"),
        ("apiVersion: v1\nusers: []\n", "without users"),
        ("users:\n- name: admin\n  user: {client-certificate-data: QQ==, client-key-data: QQ==}\n", "local accounts"),
    ],
)
def test_kubeconfig_that_cannot_be_used_gives_the_reason(raw: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        exec_kubeconfig(raw)
