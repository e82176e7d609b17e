"""The profile that records the architecture of February 2026: its values, and that nothing of it reaches Azure."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from typing import Any

import pulumi
import pytest
import yaml

from physical_ai.catalog.compat import check_values
from physical_ai.planning.plan import make_plan
from physical_ai.settings import Overlay, SettingsError, load
from physical_ai.settings.rules.compat import judge
from tests.golden.regenerate import COMMAND, STACKS, document, path
from tests.support.recording import ROOT, record
from workbench.cli.main import run

TODAY = datetime.date(2026, 11, 20)
SEED = "seed-westus2"
DOCUMENT = ROOT / "docs/decisions/seed-2026-02.md"
RETIRED = "Standard_NC128ds_xl_RTXPRO6000BSE_v6"


@pytest.mark.parametrize("name", STACKS)
def test_effective_settings_are_those_on_record(name: str) -> None:
    recorded = yaml.safe_load(path(name).read_text())
    assert document(STACKS[name]) == recorded, f"if that is meant: {COMMAND}"


def test_any_stack_can_be_looked_at_under_the_profile() -> None:
    there, here = (
        load(stack, [Overlay.assign(["profile=seed-2026-02"])]).settings for stack in (SEED, "prod-southeastasia")
    )
    assert here.gpu_operator == there.gpu_operator
    assert here.pools["rtxprogpu"].sku == there.pools["rtxprogpu"].sku == RETIRED
    assert here.pools["h100gpu"].is_spot  # prod says Regular, and lies below the profile
    assert here.record


def test_what_azure_has_retired_is_a_warning() -> None:
    found = {fault.where: fault.problem for fault in load(SEED).warnings}
    assert sorted(found) == [
        "cluster.kubernetesVersion",
        "gridDriver.legacyValidationMarkers",
        "gridDriver.moduleType",
        "pools.rtxprogpu.sku",
        "record",
    ]
    assert "no longer deploys" in found["pools.rtxprogpu.sku"]
    assert "no longer has it" in found["cluster.kubernetesVersion"]


@pytest.mark.parametrize(
    ("assignment", "path", "fix"),
    [
        (f"pools.rtxprogpu.sku={RETIRED}", "pools.rtxprogpu.sku", "Standard_NC144ds_xl_RTXPRO6000BSE_v6"),
        ("cluster.kubernetesVersion=1.32", "cluster.kubernetesVersion", "Supported: "),
    ],
)
def test_in_another_stack_the_same_is_an_error(assignment: str, path: str, fix: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay.assign([assignment])])
    (fault,) = caught.value.faults
    assert (fault.file, fault.where) == ("--set", path)
    assert fix in (fault.fix or "")


def test_a_record_is_never_deployed_to_azure() -> None:
    with pytest.raises(SettingsError) as caught:
        load(SEED).for_azure()
    assert {fault.where for fault in caught.value.faults} == {
        "record",
        "cluster.kubernetesVersion",
        "pools.rtxprogpu.sku",
    }
    with pytest.raises(pulumi.RunError, match=r"profile/seed-2026-02\.yaml.*: record\n.*do not deploy it to Azure"):
        record(SEED, simulated=False)


def test_a_record_of_nothing_retired_is_kept_from_azure_all_the_same() -> None:
    with pytest.raises(SettingsError, match="This stack records"):
        load("dev-westus2", [Overlay.assign(["record=true"])]).for_azure()


def test_the_guards_refuse_its_versions_each_by_its_rule() -> None:
    judged = {item.rule: (item.severity, item.where) for item in judge(load(SEED).settings, TODAY)}
    assert judged == {
        "operator-end-of-support": ("error", "gpuOperator.version"),
        "kubernetes-end-of-support": ("error", "cluster.kubernetesVersion"),
        "chart-null-plugin": ("warning", "gpuOperator.version"),
        "chart-checksum-unknown": ("info", "gpuOperator.version"),
        "vgpu-host-previous": ("info", "gridDriver.version"),
    }


def test_compat_ends_with_findings_for_it_today_and_without_at_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compat", SEED, "--at", "2026-11-20", "--json"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert [pool["driver"] for pool in document["pools"]] == ["580.82.07", "580.105.08"]
    assert {row["rule"] for row in document["verdicts"] if row["severity"] == "error"} == {
        "operator-end-of-support",
        "kubernetes-end-of-support",
    }
    assert run(["compat", SEED, "--at", "2026-02-15"]) == 0


def test_the_chart_gets_one_policy_with_the_values_of_that_time() -> None:
    plan = make_plan(load(SEED).settings).gpu
    values = plan.values
    assert not plan.drivers
    assert values["driver"]["nvidiaDriverCRD"] == {"enabled": False}
    assert (values["driver"]["version"], values["driver"]["kernelModuleType"]) == ("580.82.07", "proprietary")
    assert plan.config_maps[values["driver"]["kernelModuleConfig"]["name"]] == {
        "nvidia-uvm.conf": "uvm_disable_hmm=1\n"
    }
    assert (values["cdi"], values["mig"]) == ({"enabled": False}, {"strategy": "single"})
    assert not values["migManager"]["enabled"]
    assert not values["dcgmExporter"]["serviceMonitor"]["enabled"]
    assert "version" not in values["toolkit"]
    keys = [item["key"] for item in values["daemonsets"]["tolerations"]]
    assert keys == ["nvidia.com/gpu", "kubernetes.azure.com/scalesetpriority"]


def leaves(data: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every value that a layer sets, as the document writes it."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from leaves(value, f"{prefix}.{key}" if prefix else key)
    elif data is not None:
        yield prefix, str(data).lower() if isinstance(data, bool) else str(data)


def test_the_document_lists_every_value_of_the_profile_and_no_other() -> None:
    profile = yaml.safe_load((ROOT / "stacks/layers/profile/seed-2026-02.yaml").read_text())
    documented = re.findall(r"^\| `([\w.-]+)` \| `([^`]*)` \|", DOCUMENT.read_text(), re.MULTILINE)
    assert dict(documented) == dict(leaves(profile))
    assert len(documented) == len(dict(documented))


def test_every_rule_that_the_document_names_exists() -> None:
    table = DOCUMENT.read_text().partition("## The profile, value for value")[0]
    named = {
        name for group in re.findall(r"\(((?:`[a-z-]+`(?:, )?)+)\)", table) for name in re.findall(r"[a-z-]+", group)
    }
    named |= {"mps-on-mig", "mig-strategy-mps", "sharing-one-way", "sharing-replicas", "operator-end-of-support"}
    code = "".join(
        file.read_text() for folder in ("catalog", "settings") for file in (ROOT / "physical_ai" / folder).rglob("*.py")
    )
    assert len(named) > 12
    assert [name for name in sorted(named) if f'"{name}"' not in code] == []


def test_keys_of_the_reference_that_no_chart_reads_are_reported() -> None:
    """The values of Microsoft's toolchain; settings have no such keys, so the record can't hold them."""
    sections = ("driver", "toolkit", "devicePlugin", "dcgmExporter", "gfd", "validator")
    values = {section: {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]} for section in sections}
    found = [finding.where for finding in check_values("v25.3.4", values) if finding.severity == "error"]
    assert found == [f"{section}.tolerations" for section in sections]
