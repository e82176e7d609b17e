"""`physai bootstrap`: the script it prints, run against stand-ins that write down what they are asked."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from physical_ai.catalog.aks import ASSIGNED
from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from physical_ai.subscription.needs import PREVIEW_ACTIONS
from tests.support.bootstrap_commands import World, world_in
from tests.support.recording import record
from tests.unit.cli.test_cli_commands import call
from tests.unit.components.test_components_control_plane import GIVEN as SECRETS
from tests.unit.components.test_components_private import RESOLVER, VPN, network
from tests.unit.components.test_gateway_certificate import TLS
from tests.unit.settings.test_osmo_access import ACCESS
from workbench.cli.bootstrap_names import GROUP, Delivery
from workbench.cli.bootstrap_script import ISSUER, Needs
from workbench.policies import Resource, Stack, evaluate
from workbench.policies.data_services import FEDERATED

SUBSCRIPTIONS = {
    "dev": "00000000-0000-4000-8000-000000000001",
    "staging": "00000000-0000-4000-8000-000000000002",
    "prod": "00000000-0000-4000-8000-000000000003",
}
SUBSCRIPTION = SUBSCRIPTIONS["dev"]
REPOSITORY = ("--repository", "acme/platform")
GIVEN = (*REPOSITORY, *(word for each, id in SUBSCRIPTIONS.items() for word in ("--subscription", f"{each}={id}")))


def bootstrap(*arguments: str) -> str:
    code, out, _ = call("bootstrap", *GIVEN, *arguments)
    assert code == 0
    return out


@pytest.fixture(scope="module", autouse=True)
def stacks() -> Iterator[None]:
    """Their needs, for which the program runs, are tested in test_bootstrap_script.py."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("workbench.cli.commands.bootstrap._needs", lambda delivery: Needs())
        yield


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str]:
    """The world after a run of the script, and what that printed."""
    with world_in(tmp_path_factory.mktemp("bootstrap") / "bin") as world:
        path = f"{world.commands}{os.pathsep}{os.environ['PATH']}"
        command = ["bash", "-c", bootstrap()]
        done = subprocess.run(command, env={"PATH": path}, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return world, done.stdout


@pytest.fixture(scope="module")
def calls(ran: tuple[World, str]) -> list[list[str]]:
    """Every command that the script runs, in order."""
    return ran[0].state["calls"]


def option(call: list[str], name: str) -> str:
    return call[call.index(name) + 1]


def made(calls: list[list[str]], *words: str) -> list[list[str]]:
    return [call for call in calls if call[: len(words)] == list(words)]


def test_every_environment_gets_an_identity_that_only_its_own_jobs_can_be(calls: list[list[str]]) -> None:
    credentials = made(calls, "az", "identity", "federated-credential", "create")
    names = [name for each in ("dev", "staging", "prod") for name in (each, f"{each}-preview")]
    assert [option(each, "--subject") for each in credentials] == [
        f"repo:acme@1/Platform@2:environment:{name}" for name in names
    ]
    assert {option(each, "--issuer") for each in credentials} == {ISSUER}
    inputs = [{"subject": option(each, "--subject"), "audiences": [TOKEN_AUDIENCE]} for each in credentials]
    stack = Stack("prod", tuple(Resource(FEDERATED, f"c{index}", each) for index, each in enumerate(inputs)))
    assert "federated-subject" not in {found.rule for found in evaluate(stack)}


def test_state_is_kept_apart_and_no_key_opens_it(calls: list[list[str]]) -> None:
    accounts = made(calls, "az", "storage", "account", "create")
    assert len({option(each, "--name") for each in accounts}) == len(SUBSCRIPTIONS)
    assert {option(each, "--allow-shared-key-access") for each in accounts} == {"false"}
    assert {option(each, "--allow-blob-public-access") for each in accounts} == {"false"}
    scopes = {
        option(each, "--scope").rpartition("/")[2]
        for each in made(calls, "az", "role", "assignment", "create")
        if option(each, "--role").startswith("Storage")
    }
    assert scopes == {"state-dev", "state-staging", "state-prod"}


def test_who_previews_can_change_nothing() -> None:
    steps = {each["title"]: "\n".join(each["lines"]) for each in json.loads(bootstrap("--json"))["steps"]}
    preview = steps["prod-preview: identity"]
    assert "Contributor" not in preview
    assert "assign_limited" not in preview
    assert "--role Contributor" in steps["prod: identity"]
    assert "assign_limited" in steps["prod: identity"]


def test_who_previews_reads_the_keys_of_caches_by_a_role_of_its_own(calls: list[list[str]]) -> None:
    for environment, subscription in SUBSCRIPTIONS.items():
        delivery = Delivery(subscription, "acme/platform", "westus2", environment)
        text = next(
            "\n".join(each["lines"])
            for each in json.loads(bootstrap("--json"))["steps"]
            if each["title"] == f"{environment}: create a role for previews"
        )
        words = shlex.split(text.replace("ROLE=", "ROLE= "))
        definition = json.loads(words[words.index("ROLE=") + 1])
        assert definition["Actions"] == list(PREVIEW_ACTIONS)
        assert definition["AssignableScopes"] == [delivery.scope]
        holders = {
            option(each, "--assignee-object-id")
            for each in made(calls, "az", "role", "assignment", "create")
            if option(each, "--role") == delivery.preview_role
        }
        assert holders == {f"id-physical-ai-{environment}-preview"}


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
        "AZURE_SUBJECT",
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
    one = Delivery(SUBSCRIPTION, "acme/platform", "westus2", "dev")
    other = Delivery(SUBSCRIPTION, "acme/other", "westus2", "dev")
    assert bootstrap() == bootstrap()
    assert one.account != other.account
    assert len(one.account) <= 24
    assert len(one.vault) <= 24


def scopes_of(calls: list[list[str]], principal: str) -> dict[str, list[list[str]]]:
    """The assignments that the script makes for a principal, by scope."""
    found: dict[str, list[list[str]]] = {}
    for each in made(calls, "az", "role", "assignment", "create"):
        if option(each, "--assignee-object-id") == principal:
            found.setdefault(option(each, "--scope").lower(), []).append(each)
    return found


def within(resource: str, scope: str) -> bool:
    return resource.lower() == scope or resource.lower().startswith(f"{scope}/")


@pytest.mark.parametrize("own", SUBSCRIPTIONS)
@pytest.mark.parametrize("other", SUBSCRIPTIONS)
@pytest.mark.parametrize("use", ["", "-preview"])
def test_a_token_of_one_environment_has_no_right_on_anything_of_another(
    calls: list[list[str]], own: str, other: str, use: str
) -> None:
    delivery = Delivery(SUBSCRIPTIONS[other], "acme/platform", "westus2", other)
    group = f"{delivery.scope}/resourceGroups/{GROUP}"
    identity = f"{group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/id-physical-ai-{other}"
    cluster = f"{delivery.scope}/resourceGroups/rg-{other}/providers/Microsoft.ContainerService/managedClusters/aks"
    protected = (delivery.container_scope(other), delivery.key_scope(other), identity, cluster, group, delivery.scope)
    scopes = scopes_of(calls, f"id-physical-ai-{own}{use}")
    reached = [each for each in protected if any(within(each, scope) for scope in scopes)]
    assert bool(reached) == (own == other)


def test_a_deployer_assigns_the_programs_roles_only_and_never_an_owner(calls: list[list[str]]) -> None:
    for each in made(calls, "az", "role", "assignment", "create"):
        role = option(each, "--role")
        assert role not in ("Owner", "User Access Administrator")
        if role == "Role Based Access Control Administrator":
            text = option(each, "--condition")
            assert option(each, "--condition-version") == "2.0"
            assert set(re.findall(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", text)) == set(ASSIGNED)
            assert text.count("ForAnyOfAnyValues:GuidEquals") == 2
        else:
            assert "--condition" not in each


def test_the_roles_that_may_be_assigned_are_those_that_the_program_assigns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A control plane that serves another stack; which one is in that stack's own file.
    monkeypatch.setattr("components.platform.osmo_stage.served_backends", lambda served: {"prod-eastus": "east"})
    own = f"{'1' * 8}-1111-1111-1111-{'1' * 12}"
    named = [{"principalId": own, "role": role} for role in ("reader", "admin")]
    shown = [{"principalId": own, "role": role} for role in ("admin", "editor", "viewer")]
    settings = {"access": {"principals": named}, "monitoring": {"grafana": {"principals": shown}}}
    whole = {
        **network("private", vpn=VPN, resolver=RESOLVER),
        "dataServices": {"source": "azure"},
        "osmo": {"mode": "platform", "backendName": "serving", "access": {**ACCESS, "tls": TLS}},
        "secrets": SECRETS,
    }
    # Of the committed stacks, one has its certificate issued, which needs another right than one of a vault.
    recordings = (
        record("prod-westus2", settings),
        record("dev-westus2", whole),
        record("dev-southeastasia"),
    )
    assigned = {
        each.inputs["roleDefinitionId"].rpartition("/")[2]
        for recording in recordings
        for each in recording.of_type("RoleAssignment")
    }
    assert assigned == set(ASSIGNED)


def test_each_delivery_group_is_locked_at_the_end(calls: list[list[str]]) -> None:
    locks = [index for index, each in enumerate(calls) if each[1:3] == ["lock", "create"]]
    assert len(locks) == len(SUBSCRIPTIONS)
    for index, environment in zip(locks, SUBSCRIPTIONS, strict=True):
        assert option(calls[index], "--lock-type") == "ReadOnly"
        later = [" ".join(each) for each in calls[index:]]
        assert not any(f"pulumi-{environment}" in each or f"id-physical-ai-{environment}" in each for each in later)


def test_only_main_deploys(calls: list[list[str]]) -> None:
    policies = made(calls, "gh", "api", "--method", "POST")
    assert len(policies) == 2 * len(SUBSCRIPTIONS)
    assert {option(each, "-f") for each in policies} == {"name=main"}


def test_the_ids_for_the_settings_are_printed(ran: tuple[World, str]) -> None:
    said = ran[1]
    assert "stacks/layers/env/prod.yaml needs, under access.deployers: {principalId: id-physical-ai-prod," in said
    assert "principals: {principalId: id-physical-ai-prod-preview, principalType: ServicePrincipal, role: drift" in said


def test_environments_that_share_a_subscription_are_refused() -> None:
    shared = ("--subscription", f"dev={SUBSCRIPTION}", "--subscription", f"prod={SUBSCRIPTION.upper()}")
    code, out, err = call("bootstrap", *REPOSITORY, *shared)
    assert (code, out) == (2, "")
    assert "Use a subscription for each environment" in " ".join(err.split())


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--repository", "acme"),
        ("--subscription", "dev=mine"),
        ("--subscription", "mine"),
        ("--location", "$(id)"),
        ("--subscription", f"a; b={SUBSCRIPTION}"),
    ],
)
def test_what_azure_or_a_shell_would_choke_on_is_wrong_input(option: str, value: str) -> None:
    given = {"--repository": "acme/platform", "--subscription": f"dev={SUBSCRIPTION}", option: value}
    code, out, err = call("bootstrap", *(word for pair in given.items() for word in pair))
    assert (code, out) == (2, "")
    assert "is not a" in " ".join(err.split())
