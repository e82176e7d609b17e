"""The program as a whole: every committed stack, in deployments and in previews."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pulumi
import pytest
import yaml

from components.platform.platform import Platform
from physical_ai.findings import Severity
from physical_ai.settings import Settings, SettingsError, load
from physical_ai.settings.secrets import Secrets
from tests.support.cases import in_one_test
from tests.support.recording import ROOT, record
from tests.support.stacks import STACKS
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import DEPLOYER
from workbench.policies import UNKNOWN, Secret, Stack, evaluate
from workbench.policies.model import leaves


def test_every_committed_stack_is_covered() -> None:
    files = {
        path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in (ROOT / "stacks").glob("Pulumi.*.yaml")
    }
    assert files == set(STACKS)


def broken(stack: Stack) -> list[str]:
    """Findings, without the warning that a stack of the past is there to show."""
    found = evaluate(stack)
    return [str(each) for each in found if stack.environment != "seed" or each.rule != "size-current"]


@in_one_test("name", STACKS)
def test_stack_runs_and_breaks_no_rule(simulate: Simulate, name: str) -> None:
    assert broken(simulate(name).stack) == []


def test_the_preview_size_of_the_seed_is_warned_of(simulate: Simulate) -> None:
    (found,) = evaluate(simulate("seed-westus2").stack)
    assert (found.rule, found.severity) == ("size-current", Severity.WARNING)
    assert "Standard_NC144ds_xl_RTXPRO6000BSE_v6" in found.problem


def test_preview_with_nothing_known_declares_the_same_resources(simulate: Simulate, stack_name: str) -> None:
    preview, deployment = simulate(stack_name, preview=True), simulate(stack_name)
    assert [(each.type, each.name) for each in preview.resources] == [
        (each.type, each.name) for each in deployment.resources
    ]


def test_a_first_preview_knows_no_kubeconfig(simulate: Simulate, azure_stack_name: str) -> None:
    provider = simulate(azure_stack_name, preview=True).resource("kubernetes", "physical-ai-kubernetes-provider")
    assert provider.inputs["kubeconfig"] is UNKNOWN


def test_preview_breaks_no_rule(simulate: Simulate, stack_name: str) -> None:
    assert broken(simulate(stack_name, preview=True).stack) == []


def test_nothing_is_unknown_in_a_deployment(simulate: Simulate, stack_name: str) -> None:
    unknown = [
        f"{each.name}.{path}"
        for each in simulate(stack_name).resources
        for path, value in leaves(each.inputs)
        # In a chart's values null removes a default of the chart.
        if value is UNKNOWN or (value is None and not path.startswith("values."))
    ]
    assert unknown == []


def test_every_gpu_pool_of_the_settings_becomes_a_node_pool(simulate: Simulate, azure_stack_name: str) -> None:
    pools = {each.inputs["agentPoolName"] for each in simulate(azure_stack_name).of_type("AgentPool")}
    assert pools == {"cpu", *load(azure_stack_name).settings.pools}


def test_location_is_the_stacks_region_everywhere(simulate: Simulate, azure_stack_name: str) -> None:
    region = azure_stack_name.partition("-")[2]
    everywhere = (
        "azure-native:privatedns:PrivateZone",
        "azure-native:privatedns:VirtualNetworkLink",
        "azure-native:monitor:PrivateLinkScope",
    )
    located = {
        each.inputs["location"]
        for each in simulate(azure_stack_name).resources
        if "location" in each.inputs and each.type not in everywhere
    }
    assert located == {region}


def test_exports_contain_access_to_the_cluster_and_its_pools(simulate: Simulate) -> None:
    exports = simulate("dev-westus2").exports
    assert exports["cluster"] == "aks-physical-ai-dev-westus2"
    assert exports["resourceGroup"] == "rg-physical-ai-dev-westus2"
    assert exports["oidcIssuerUrl"].startswith("https://westus2.oic.prod-aks.azure.com/")
    assert yaml.safe_load(exports["kubeconfig"])["users"][0]["user"]["exec"]["command"] == "kubelogin"
    assert exports["pools"]["rtxprogpu"]["driverSource"] == "grid"
    assert exports["pools"]["rtxprogpu"]["gpuDriver"] == "None"
    assert exports["pools"]["h100gpu"]["gpusPerNode"] == 1


def test_unknown_top_level_key_is_refused_with_its_path() -> None:
    with pytest.raises(pulumi.RunError, match=r"stacks/Pulumi\.dev-westus2\.yaml.*physical-ai:poools"):
        record("dev-westus2", {"poools": {}})


def test_all_faults_of_a_stack_are_reported_together() -> None:
    with pytest.raises(pulumi.RunError) as caught:
        record("dev-westus2", {"protect": "maybe", "pools": {"h100gpu": {"sku": "Standard_NC40ads_H100_v6"}}})
    assert "physical-ai:protect" in str(caught.value)
    assert "physical-ai:pools.h100gpu.sku" in str(caught.value)
    assert "Standard_NC40ads_H100_v5" in str(caught.value)


def test_a_users_mistake_carries_no_traceback_of_ours() -> None:
    with pytest.raises(pulumi.RunError) as caught:
        record("dev-westus2", {"pools": {"h100gpu": {"scale": {"min": 3, "max": 1}}}})
    assert caught.value.__suppress_context__
    assert not isinstance(caught.value.__cause__, SettingsError)
    assert "Traceback" not in str(caught.value)


def test_a_chart_that_is_not_in_the_cache_is_reported_before_anything_is_declared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Platform, "__init__", lambda *_: pytest.fail("the platform was declared"))
    monkeypatch.setattr("physical_ai.catalog.chart_archives.ARCHIVES", tmp_path)
    own = {"charts": {"source": "cache"}, "access": {"deployers": [{"principalId": DEPLOYER}]}}
    with pytest.raises(pulumi.RunError, match=r"physical-ai:charts\.source") as caught:
        record("dev-westus2", own, simulated=False)
    assert "The archives of gpu-operator" in str(caught.value)
    assert "physai charts pull dev-westus2" in str(caught.value)


def test_an_archive_that_is_not_the_pinned_one_is_reported_in_a_simulation_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("physical_ai.catalog.chart_archives.ARCHIVES", tmp_path)
    (tmp_path / "gpu-operator-v26.7.1.tgz").write_bytes(b"tampered with")
    with pytest.raises(pulumi.RunError, match="and should be"):
        record("dev-westus2", {"charts": {"source": "cache"}})


SECRETS = {"secrets": {"registryPassword": "hunter2"}}


def test_a_secret_is_in_no_resource_and_no_export() -> None:
    recording = record("dev-westus2", SECRETS)
    known = replace(recording.stack, secrets=frozenset({"hunter2"}))
    assert [str(finding) for finding in evaluate(known)] == []
    assert "hunter2" not in json.dumps(recording.exports)
    texts = [str(value) for each in recording.resources for _, value in leaves(each.inputs)]
    assert not any("hunter2" in text for text in texts)


def test_a_component_that_takes_a_secret_passes_it_on_encrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    def login(
        self: Platform, name: str, settings: Settings, secrets: Secrets, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        pulumi.ComponentResource.__init__(self, "physical-ai:index:Platform", name, {}, opts)
        pulumi.ComponentResource("physical-ai:test:Login", "login", dict(secrets), pulumi.ResourceOptions(parent=self))
        self.outputs = {}

    monkeypatch.setattr(Platform, "__init__", login)
    inputs = record("dev-westus2", SECRETS).resource("Login", "login").inputs
    assert inputs == {"registryPassword": Secret("hunter2")}


def test_a_secret_that_is_not_text_is_reported_without_its_value() -> None:
    with pytest.raises(pulumi.RunError, match=r"physical-ai:secrets\.pin") as caught:
        record("dev-westus2", {"secrets": {"pin": 12345678}})
    assert "12345678" not in str(caught.value)


PLACEHOLDERS = ("prod-westus2", "prod-swedencentral", "prod-southeastasia")


@pytest.mark.parametrize("stack", PLACEHOLDERS)
@pytest.mark.parametrize("preview", [True, False])
def test_azure_gets_no_cluster_that_only_an_example_address_could_reach(stack: str, preview: bool) -> None:
    with pytest.raises(pulumi.RunError) as caught:
        record(stack, preview=preview, simulated=False)
    assert "cluster.apiAccess.authorizedIpRanges[0]" in str(caught.value)
    assert "Write your offices' and CI runners' public ranges" in str(caught.value)


@pytest.mark.parametrize("preview", [True, False])
def test_azure_gets_no_cluster_that_no_one_could_install_anything_in(preview: bool) -> None:
    with pytest.raises(pulumi.RunError, match=r"(?s)access\.deployers.*az ad signed-in-user show"):
        record("dev-westus2", {"access": {"deployers": []}}, preview=preview, simulated=False)


def test_azure_gets_the_very_program_that_is_simulated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the charts as archives, which a simulation has where it is asked for them."""
    monkeypatch.setattr("physical_ai.catalog.chart_archives.ARCHIVES", tmp_path)
    own = {"cluster": {"apiAccess": {"authorizedIpRanges": ["20.30.40.0/28"]}}, "charts": {"source": "repository"}}
    real = record("prod-westus2", own, simulated=False).resources
    assert real == record("prod-westus2", {**own, "charts": {"source": "cache"}}).resources


def test_the_entry_point_is_thin() -> None:
    lines = [line for line in (ROOT / "__main__.py").read_text().splitlines() if line.strip()]
    assert len(lines) <= 20


def test_project_file_declares_only_keys_that_settings_know_and_adds_nothing_to_them(simulate: Simulate) -> None:
    project = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    assert project["stackConfigDir"] == "stacks"
    with_defaults = {key: entry["default"] for key, entry in project["config"].items()}
    empty = {"object": {}, "string": ""}
    assert all(entry["default"] == empty[entry["type"]] for entry in project["config"].values())
    undeclared = {"environment", "region", "protect", "record", "dataServices"}
    undeclared |= {"parts", "amdGpuOperator", "networkOperator", "runners", "slurm", "storage", "loadBalancer"}
    # A default would be a section of Azure, which a stack on an existing cluster may not have.
    undeclared |= {"network", "systemPool", "access", "tags"}
    assert set(with_defaults) == {field.alias or name for name, field in Settings.model_fields.items()} - undeclared
    plain, declared = simulate("dev-westus2"), simulate("dev-westus2", with_defaults)
    assert plain.resources == declared.resources


def test_a_duplicate_resource_fails_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def twice(
        self: Platform, name: str, settings: Settings, secrets: Secrets, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        pulumi.ComponentResource.__init__(self, "physical-ai:index:Platform", name, {}, opts)
        for _ in range(2):
            pulumi.ComponentResource("physical-ai:azure:Network", "network", {}, pulumi.ResourceOptions(parent=self))
        self.outputs = {}

    monkeypatch.setattr(Platform, "__init__", twice)
    with pytest.raises(AssertionError, match="declared twice"):
        record("dev-westus2")


def test_findings_are_errors_that_a_command_can_fail_on(simulate: Simulate) -> None:
    open_prod = simulate("prod-westus2", {"protect": False})
    findings = evaluate(open_prod.stack)
    assert {finding.rule for finding in findings} == {"protected-in-production"}
    assert {finding.severity for finding in findings} == {Severity.ERROR}
