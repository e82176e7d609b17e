"""OSMO's place in the cluster: accounts and identities, quotas, network policies, releases, the agents' token."""

from __future__ import annotations

import json
from ipaddress import ip_address, ip_network
from typing import Any

import pytest

from components.azure.workload_identity import WorkloadIdentityArgs
from physical_ai.catalog import osmo
from physical_ai.catalog.charts import newest_chart
from physical_ai.planning.osmo_backend import missing_for_agents
from physical_ai.settings import Overlay, SettingsError, load
from tests.support.recording import Recording, Resource
from tests.unit.conftest import Simulate
from workbench.policies import Secret

TOKEN = "osmo-agent-token-of-the-test"
ALONE: dict[str, Any] = {"osmo": {"mode": "backend"}}
BACKEND: dict[str, Any] = {"osmo": {"mode": "backend", "serviceUrl": "https://osmo.contoso.com"}}
WITH_TOKEN: dict[str, Any] = {**BACKEND, "secrets": {"osmoAgentToken": TOKEN}}
WORKFLOWS = osmo.WORKFLOWS_NAMESPACE


def named(recording: Recording, kind: str, namespace: str, name: str) -> Resource:
    (found,) = (
        each
        for each in recording.of_type(kind)
        if (each.inputs["metadata"].get("namespace", ""), each.inputs["metadata"]["name"]) == (namespace, name)
    )
    return found


def releases(recording: Recording) -> dict[str, Resource]:
    return {each.inputs["name"]: each for each in recording.of_type("Release")}


def test_each_identity_belongs_to_its_own_accounts_and_none_to_a_default_one(simulate: Simulate) -> None:
    credentials = simulate("dev-westus2").of_type("FederatedIdentityCredential")
    subjects = {each.inputs["subject"]: each.inputs["resourceName"] for each in credentials}
    account = "system:serviceaccount"
    operator = "id-physical-ai-osmo-operator-dev-westus2"
    assert subjects == {
        f"{account}:osmo-workflows:osmo-workflow": "id-physical-ai-osmo-workflows-dev-westus2",
        f"{account}:osmo-operator:osmo-operator-backend-listener": operator,
        f"{account}:osmo-operator:osmo-operator-backend-worker": operator,
    }
    assert all(each.inputs["audiences"] == ["api://AzureADTokenExchange"] for each in credentials)


def test_credentials_of_one_identity_are_written_one_after_the_other(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    first, second = (
        next(each for each in recording.of_type("FederatedIdentityCredential") if each.name.endswith(end))
        for end in ("backend-listener", "backend-worker")
    )
    assert first.urn in second.options.depends_on


def test_identities_have_no_role(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    theirs = {each.name for each in recording.of_type("UserAssignedIdentity") if "osmo" in each.name}
    assert len(theirs) == 2
    assert not [each for each in recording.of_type("RoleAssignment") if "osmo" in each.name]


def test_workflows_run_as_an_account_without_rights_and_with_an_identity(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    account = named(recording, "ServiceAccount", WORKFLOWS, osmo.SERVICE_ACCOUNT).inputs
    assert account["automountServiceAccountToken"] is False
    assert "azure.workload.identity/client-id" in account["metadata"]["annotations"]
    for each in (*recording.of_type("RoleBinding"), *recording.of_type("ClusterRoleBinding")):
        assert all(subject["namespace"] != WORKFLOWS for subject in each.inputs["subjects"])


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({}, {"requests.nvidia.com/gpu": "16"}),
        ({"osmo": {"gpuQuota": 3}}, {"requests.nvidia.com/gpu": "3"}),
        pytest.param(
            {"pools": {"h100gpu": {"sharing": {"mig": {"strategy": "mixed", "profiles": {"1g.12gb": 7}}}}}},
            {"requests.nvidia.com/gpu": "8", "requests.nvidia.com/mig-1g.12gb": "56"},
            marks=pytest.mark.deep,
        ),
    ],
)
def test_gpus_are_bounded_for_workflows_and_nothing_for_the_control_plane(
    simulate: Simulate, given: dict[str, Any], most: dict[str, str]
) -> None:
    recording = simulate("dev-westus2", given)
    found = recording.of_type("ResourceQuota")
    quotas = {each.inputs["metadata"]["namespace"]: each.inputs["spec"]["hard"] for each in found}
    assert quotas[WORKFLOWS] == most
    assert quotas["osmo-operator"] == quotas["osmo-control-plane"] == dict.fromkeys(most, "0")


def test_no_pod_of_theirs_reaches_the_machines_metadata(simulate: Simulate) -> None:
    policies = simulate("dev-westus2").of_type("NetworkPolicy")
    blocks = [
        peer["ipBlock"]
        for each in policies
        for rule in each.inputs["spec"].get("egress", [])
        for peer in rule.get("to", [])
        if "ipBlock" in peer
    ]
    assert len(blocks) == 2, "of tasks, and of a control plane installed outside the stack"
    for block in blocks:
        assert block["cidr"] == "0.0.0.0/0"
        excepted = [ip_network(each) for each in block["except"]]
        for address in ("169.254.169.254", "168.63.129.16"):
            assert any(ip_address(address) in each for each in excepted)
    denied = {
        each.inputs["metadata"]["namespace"]
        for each in policies
        if each.inputs["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    }
    assert denied == {WORKFLOWS, "osmo-operator", osmo.KAI_RESERVATION_NAMESPACE}


def test_namespaces_alone_bring_no_release_and_no_namespace_for_the_scheduler(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", {"osmo": {"mode": "namespaces"}})
    assert set(releases(recording)) == {"gpu-operator"}
    assert osmo.KAI_NAMESPACE not in {each.inputs["metadata"]["name"] for each in recording.of_type("Namespace")}
    assert not recording.of_type("Secret")


@pytest.mark.parametrize(
    "given",
    [
        ALONE,
        *(
            pytest.param(each, marks=pytest.mark.deep)
            for each in (BACKEND, {**ALONE, "secrets": {"osmoAgentToken": TOKEN}})
        ),
    ],
)
def test_agents_without_control_plane_or_token_are_left_out(simulate: Simulate, given: dict[str, Any]) -> None:
    recording = simulate("dev-westus2", given)
    assert set(releases(recording)) == {"gpu-operator", "kai-scheduler"}
    assert set(recording.exports["releases"]) == {"gpu-operator", "kai-scheduler"}
    assert not recording.of_type("Secret")


@pytest.mark.parametrize(
    ("assignments", "has_token", "words"),
    [
        ((), False, ["osmo.serviceUrl", "osmo token set", "secrets.osmoAgentToken", "second deployment"]),
        ((), True, ["osmo.serviceUrl"]),
        (("osmo.serviceUrl=https://osmo.contoso.com",), False, ["--roles osmo-backend"]),
        (("osmo.serviceUrl=https://osmo.contoso.com",), True, []),
        (("osmo.serviceUrl=https://osmo.contoso.com", "osmo.login=dev"), False, []),
        (("osmo.login=dev",), False, ["osmo.serviceUrl"]),
    ],
)
def test_missing_settings_of_the_agents_are_reported_with_commands(
    assignments: tuple[str, ...], has_token: bool, words: list[str]
) -> None:
    missing = missing_for_agents(load("dev-westus2", [Overlay.assign(list(assignments))]).settings, has_token=has_token)
    assert bool(missing) is bool(words)
    for word in words:
        assert word in missing


def test_an_example_is_no_control_plane_for_azure() -> None:
    loaded = load("dev-westus2", [Overlay.assign(["osmo.serviceUrl=https://osmo.example.com"])])
    with pytest.raises(SettingsError, match="RFC 2606"):
        loaded.for_azure()


def test_the_agents_log_in_with_the_stacks_secret_which_is_nowhere_else(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", WITH_TOKEN)
    secret = named(recording, "Secret", "osmo-operator", "agent-token")
    assert secret.inputs["stringData"] == Secret({"token": TOKEN})
    others = [each for each in recording.resources if each.urn != secret.urn]
    assert TOKEN not in json.dumps([each.inputs for each in others], default=str)
    assert TOKEN not in json.dumps(recording.exports, default=str)


def test_scheduler_before_agents_and_both_after_what_guards_them(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", WITH_TOKEN)
    found = releases(recording)
    agents, scheduler = found["osmo-operator"], found["kai-scheduler"]
    secret = named(recording, "Secret", "osmo-operator", "agent-token")
    assert {scheduler.urn, secret.urn} <= set(agents.options.depends_on)
    quota = named(recording, "ResourceQuota", WORKFLOWS, "gpus")
    assert quota.urn in agents.options.depends_on
    assert (agents.inputs["chart"], agents.inputs["version"]) == (
        "backend-operator",
        newest_chart("backend-operator").version,
    )
    assert scheduler.inputs["version"] == newest_chart("kai-scheduler").version
    for each in found.values():
        assert each.inputs["createNamespace"] is False
        assert each.inputs.get("atomic", False) is False


def test_agents_pods_can_become_the_operators_identity(simulate: Simulate) -> None:
    values = releases(simulate("dev-westus2", WITH_TOKEN))["osmo-operator"].inputs["values"]
    for agent in ("backendListener", "backendWorker"):
        own = values["services"][agent]
        assert own["extraPodLabels"]["azure.workload.identity/use"] == "true"
        assert [item["name"] for item in own["extraEnvs"]][-1] == "AZURE_CLIENT_ID"


def test_the_development_login_needs_no_token_and_brings_its_files(simulate: Simulate) -> None:
    dev = {"osmo": {**BACKEND["osmo"], "login": "dev"}}
    recording = simulate("dev-westus2", dev)
    assert "osmo-operator" in releases(recording)
    files = named(recording, "ConfigMap", "osmo-operator", "osmo-agent-kubeconfig")
    assert set(files.inputs["data"]) == {"config", "credential.py"}
    token = named(recording, "Secret", "osmo-operator", "agent-token")
    assert token.inputs["stringData"] == Secret({"token": ""})


def test_the_stack_exports_what_a_control_plane_elsewhere_needs(simulate: Simulate) -> None:
    exported = simulate("dev-westus2").exports["osmo"]
    assert exported["platforms"] == {"cpu": "cpu", "h100": "h100gpu", "rtxpro": "rtxprogpu"}
    assert "serviceValues" not in exported, "they are 1,000 lines; `physai osmo values` prints them"


def test_a_default_account_gets_no_identity() -> None:
    with pytest.raises(ValueError, match="default of team"):
        WorkloadIdentityArgs(
            identity_name="id-x",
            resource_group_name="rg",
            location="westus2",
            tags={},
            issuer_url="https://issuer",
            accounts=(("team", "default"),),
        )
