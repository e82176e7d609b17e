"""Which changes of a preview only say that Azure lists the pools in their cluster."""

from __future__ import annotations

from typing import Any

import pytest
from rich.console import Console

from physical_ai.catalog.engine_values import UNKNOWN
from workbench.cli.changes import Run, Step
from workbench.cli.preview import change_list
from workbench.cli.preview.read_back import reasons, significant, significant_drift

CLUSTER = "azure-native:containerservice:ManagedCluster"
CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"


def run(*steps: Step) -> Run:
    return Run({(step.urn, step.op): step for step in steps})


def step(kind: str, *properties: str, op: str = "update", **new: Any) -> Step:
    return Step(f"urn:{kind}:{properties}", kind, op, properties, new=new)


LISTED = step(CLUSTER, "agentPoolProfiles[1]", "agentPoolProfiles[2]")
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"


def test_a_preview_says_what_it_does_not_count_and_why() -> None:
    shown = run(LISTED, step(CREDENTIAL, "issuer", issuer=UNKNOWN), step(CONFIG_MAP, "data.key", data={"key": "other"}))
    document = change_list.document(shown, {})
    assert [each["type"] for each in document["changes"]] == [CONFIG_MAP]
    assert [each["type"] for each in document["readBack"]] == [CLUSTER, CREDENTIAL]
    assert document["summary"] == {"update": 1}
    console = Console(width=1000, color_system=None)
    with console.capture() as captured:
        console.print(change_list.render(shown, {}))
    *_, summary, why = captured.get().strip().splitlines()
    assert summary == "1 to update"
    assert why.startswith("not counted: 2 to update (ManagedCluster ")
    assert "Azure lists the node pools in their cluster" in why


def test_pools_that_azure_lists_in_the_cluster_are_no_change_and_neither_is_what_that_makes_unknown() -> None:
    assert significant(run(LISTED, step(CREDENTIAL, "issuer", issuer=UNKNOWN))) == []


@pytest.mark.parametrize(
    "other",
    [
        step(CLUSTER, "agentPoolProfiles[1]", "kubernetesVersion"),
        step(CLUSTER, "agentPoolProfiles[0].vmSize"),
        step(CLUSTER, "agentPoolProfiles[1]", op="replace"),
        step(CREDENTIAL, "issuer", "subject", issuer=UNKNOWN, subject="system:serviceaccount:a:b"),
        step(CONFIG_MAP, "data.key", data={"key": "other"}),
        step(CONFIG_MAP, op="delete"),
    ],
)
def test_every_other_change_counts(other: Step) -> None:
    steps = [other] if other.type == CLUSTER else [LISTED, other]
    assert significant(run(*steps)) == [other]


def test_a_refresh_that_only_reads_the_pools_in_their_cluster_finds_no_difference() -> None:
    listed = step(CLUSTER, "agentPoolProfiles[1]", op="refresh")
    assert change_list.drift(run(listed)) == []
    other = step(CLUSTER, "agentPoolProfiles[1]", "kubernetesVersion", op="refresh")
    gone = step(CLUSTER, op="refresh")
    gone.gone = True
    assert [each["op"] for each in change_list.drift(run(other, gone))] == ["update", "delete"]
    console = Console(width=1000, color_system=None)
    with console.capture() as captured:
        console.print(change_list.render_drift(run(listed)))
    first, second = captured.get().strip().splitlines()
    assert first == "no differences"
    assert second.startswith("not counted: the node pools that Azure lists")


def test_an_unknown_value_counts_where_the_cluster_really_changes() -> None:
    cluster, credential = step(CLUSTER, "kubernetesVersion"), step(CREDENTIAL, "issuer", issuer=UNKNOWN)
    assert significant(run(cluster, credential)) == [cluster, credential]


SETTING = "azure-native:monitor:DiagnosticSetting"
OFF = {"days": 0, "enabled": False}
SENT = [{"category": "guard", "enabled": True}, {"category": "kube-audit-admin", "enabled": True}]
SHOWN = [{**each, "retentionPolicy": OFF} for each in SENT]
OTHERS = [{"category": name, "enabled": False, "retentionPolicy": OFF} for name in ("kube-audit", "kube-scheduler")]


def setting(old: list[Any], new: list[Any], *properties: str, op: str = "update") -> Step:
    return Step("urn:setting", SETTING, op, properties, old={"logs": old}, new={"logs": new})


@pytest.mark.parametrize(
    "change",
    [
        setting([*SHOWN, *OTHERS], SENT, "logs[0].retentionPolicy", "logs[1].retentionPolicy", "logs[2]", "logs[3]"),
        setting(SENT, [*SHOWN, *OTHERS], "logs[0].retentionPolicy", "logs[2]", op="refresh"),
        setting(
            [*OTHERS, *reversed(SHOWN)], SENT, "logs[0].category", "logs[0].enabled", "logs[1].category", "logs[2]"
        ),
    ],
)
def test_categories_that_azure_lists_as_off_are_no_change_in_whatever_order(change: Step) -> None:
    assert significant(run(change)) == []
    assert significant_drift(run(change)) == []
    assert reasons([change]) or change.properties[0] == "logs[0].category"


@pytest.mark.parametrize(
    "change",
    [
        setting([*SHOWN, {**OTHERS[0], "enabled": True}], SENT, "logs[2]"),
        setting([SHOWN[0], {**SHOWN[1], "enabled": False}], SENT, "logs[1].enabled", "logs[1].retentionPolicy"),
        setting([{**SHOWN[0], "retentionPolicy": {"days": 30, "enabled": True}}], SENT[:1], "logs[0].retentionPolicy"),
        setting([*SHOWN, *OTHERS], SENT, "logs[2]", "workspaceId"),
        setting(SHOWN[:1], SENT, "logs[1]"),
    ],
)
def test_a_change_of_a_diagnostic_setting_that_somebody_made_is_one(change: Step) -> None:
    assert len(significant(run(change))) == 1
