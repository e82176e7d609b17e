"""The simulator's kubelogin refuses what the real one refuses, and gives a user only their own token."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from physical_ai.catalog.aks import SERVER_ID
from simulator import entra, kubelogin

GET_TOKEN = ("get-token", "--server-id", SERVER_ID)


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return entra.tokens_file(tmp_path)


def login(tokens: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-SE", kubelogin.__file__, "--tokens", str(tokens), *arguments]
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("AAD_", "AZURE_"))}
    return subprocess.run(command, env={**clean, **environment}, capture_output=True, text=True, check=False)


def test_the_server_id_is_the_one_of_the_simulated_tenant() -> None:
    assert kubelogin.AKS_SERVER_ID == SERVER_ID


def test_azurecli_gives_the_deployers_token_with_an_expiry(tokens: Path) -> None:
    credential = json.loads(login(tokens, *GET_TOKEN, "--login", "azurecli").stdout)
    assert credential["kind"] == "ExecCredential"
    assert credential["status"]["token"] == tokens.read_text().split(",")[0]
    assert credential["status"]["expirationTimestamp"].endswith("Z")


def test_another_principal_gets_another_token(tokens: Path) -> None:
    mine = login(tokens, *GET_TOKEN, "--login", "azurecli").stdout
    other = {kubelogin.PRINCIPAL_VARIABLE: entra.BYSTANDER.object_id}
    assert login(tokens, *GET_TOKEN, "--login", "azurecli", **other).stdout != mine


@pytest.mark.parametrize("mode", ["devicecode", "interactive"])
def test_a_login_that_waits_for_a_person_fails_instead(tokens: Path, mode: str) -> None:
    answer = login(tokens, *GET_TOKEN, "--login", mode)
    assert answer.returncode == 1
    assert "waits for a person" in answer.stderr


def test_device_code_is_the_default_as_in_the_real_one(tokens: Path) -> None:
    assert login(tokens, *GET_TOKEN).returncode == 1


def test_the_environment_wins_over_the_flag(tokens: Path) -> None:
    answer = login(tokens, *GET_TOKEN, "--login", "azurecli", AAD_LOGIN_METHOD="devicecode")
    assert answer.returncode == 1


def test_workload_identity_names_what_is_missing(tokens: Path) -> None:
    answer = login(tokens, *GET_TOKEN, AAD_LOGIN_METHOD="workloadidentity", AZURE_CLIENT_ID="x")
    assert answer.returncode == 1
    assert "AZURE_TENANT_ID, AZURE_FEDERATED_TOKEN_FILE" in answer.stderr


def test_another_application_is_unknown(tokens: Path) -> None:
    answer = login(tokens, "get-token", "--server-id", "00000000-0000-0000-0000-000000000000", "--login", "azurecli")
    assert answer.returncode == 1
    assert "not known in the tenant" in answer.stderr


def test_the_tokens_are_for_the_user_alone(tokens: Path) -> None:
    assert tokens.stat().st_mode & 0o077 == 0
