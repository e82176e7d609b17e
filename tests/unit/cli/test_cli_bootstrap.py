"""`physai bootstrap`: the script it prints, run against stand-ins that write down what they are asked."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from physical_ai.cli.bootstrap_plan import AUDIENCE, ISSUER, Delivery
from physical_ai.policies import Resource, Stack, evaluate
from physical_ai.policies.data_services import FEDERATED
from tests.unit.cli.test_cli_commands import call

SUBSCRIPTION = "00000000-0000-4000-8000-000000000001"
GIVEN = ("--repository", "acme/platform", "--subscription", SUBSCRIPTION)
FAKE = """#!/bin/sh
printf '%s' "$(basename "$0")" >> "$CALLS"
for word in "$@"; do printf '\\t%s' "$word" >> "$CALLS"; done
echo >> "$CALLS"
case "$*" in
  *--query*) echo answer ;;
  "keyvault show"*|"keyvault key show"*|"stack select"*) exit 1 ;;
esac
"""


def bootstrap(*arguments: str) -> str:
    code, out, _ = call("bootstrap", *GIVEN, *arguments)
    assert code == 0
    return out


@pytest.fixture
def calls(tmp_path: Path) -> list[list[str]]:
    """Every command that the script runs, in order."""
    for name in ("az", "gh", "pulumi"):
        command = tmp_path / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(FAKE)
        command.chmod(0o755)
    environment = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}", "CALLS": str(tmp_path / "calls")}
    ran = subprocess.run(["bash", "-c", bootstrap()], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return [line.split("\t") for line in (tmp_path / "calls").read_text().splitlines()]


def option(call: list[str], name: str) -> str:
    return call[call.index(name) + 1]


def made(calls: list[list[str]], *words: str) -> list[list[str]]:
    return [call for call in calls if call[: len(words)] == list(words)]


def test_every_environment_gets_an_identity_that_only_its_own_jobs_can_be(calls: list[list[str]]) -> None:
    credentials = made(calls, "az", "identity", "federated-credential", "create")
    names = [name for each in ("dev", "staging", "prod") for name in (each, f"{each}-preview")]
    assert [option(each, "--subject") for each in credentials] == [
        f"repo:acme/platform:environment:{name}" for name in names
    ]
    assert {option(each, "--issuer") for each in credentials} == {ISSUER}
    inputs = [{"subject": option(each, "--subject"), "audiences": [AUDIENCE]} for each in credentials]
    stack = Stack("prod", tuple(Resource(FEDERATED, f"c{index}", each) for index, each in enumerate(inputs)))
    assert "federated-subject" not in {found.rule for found in evaluate(stack)}


def test_state_is_kept_apart_and_no_key_opens_it(calls: list[list[str]]) -> None:
    (account,) = made(calls, "az", "storage", "account", "create")
    assert option(account, "--allow-shared-key-access") == "false"
    assert option(account, "--allow-blob-public-access") == "false"
    scopes = {
        option(each, "--scope").rpartition("/")[2]
        for each in made(calls, "az", "role", "assignment", "create")
        if option(each, "--role").startswith("Storage")
    }
    assert scopes == {"state-dev", "state-staging", "state-prod"}


def test_who_previews_can_change_nothing() -> None:
    steps = {each["title"]: "\n".join(each["lines"]) for each in json.loads(bootstrap("--json"))}
    preview = steps["prod-preview: identity"]
    assert "Contributor" not in preview
    assert "Administrator" not in preview
    assert "--role Contributor" in steps["prod: identity"]


def test_each_stack_is_made_in_its_environments_state_with_its_key(calls: list[list[str]]) -> None:
    inits = made(calls, "pulumi", "stack", "init")
    assert {each[3] for each in inits} >= {"dev-westus2", "staging-westus2", "prod-westus2"}
    assert "seed-westus2" not in {each[3] for each in inits}
    for each in inits:
        environment = each[3].partition("-")[0]
        assert option(each, "--secrets-provider").endswith(f".vault.azure.net/keys/pulumi-{environment}")
    logins = made(calls, "pulumi", "login")
    assert [each[2].partition("?")[0] for each in logins] == [
        "azblob://state-dev",
        "azblob://state-staging",
        "azblob://state-prod",
    ]


def test_github_gets_variables_and_no_secret(calls: list[list[str]]) -> None:
    variables = made(calls, "gh", "variable", "set")
    assert {each[3] for each in variables} == {
        "AZURE_CLIENT_ID",
        "AZURE_TENANT_ID",
        "AZURE_SUBSCRIPTION_ID",
        "PULUMI_STATE",
    }
    assert {option(each, "--env") for each in variables} >= {"dev", "dev-preview", "prod"}
    assert made(calls, "gh", "secret") == []


def test_what_it_prints_passes_shellcheck() -> None:
    shellcheck = Path(sys.executable).parent / "shellcheck"
    ran = subprocess.run([shellcheck, "-"], input=bootstrap(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_names_are_the_same_each_time_and_fit_azure() -> None:
    one = Delivery(SUBSCRIPTION, "acme/platform", "westus2", ("dev",))
    other = Delivery(SUBSCRIPTION, "acme/other", "westus2", ("dev",))
    assert bootstrap() == bootstrap()
    assert one.account != other.account
    assert len(one.account) <= 24
    assert len(one.vault) <= 24


@pytest.mark.parametrize(
    ("option", "value"),
    [("--repository", "acme"), ("--subscription", "mine"), ("--location", "$(id)"), ("--environment", "a; b")],
)
def test_what_azure_or_a_shell_would_choke_on_is_wrong_input(option: str, value: str) -> None:
    code, out, err = call("bootstrap", *GIVEN, option, value)
    assert (code, out) == (2, "")
    assert "is not a" in " ".join(err.split())
