"""Diagnostic settings: what their GET shows beside what was sent, and categories that a cluster does not have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.monitoring.logs import CONTROL_PLANE_LOGS
from simulator.azure.filled import categories
from simulator.azure.provider import AzureNative
from simulator.wire import Request
from tests.support.azure_fakes import Azure

TOKEN = "azure-native:monitor:DiagnosticSetting"
OFF = {"days": 0, "enabled": False}


@pytest.fixture
def azure(tmp_path: Path) -> Azure:
    found = Azure(tmp_path / "azure.json")
    found.network()
    found.identities()
    found.cluster()
    return found


def inputs(azure: Azure, **more: Any) -> dict[str, Any]:
    workspace = azure.put("Workspace", workspaceName="law-dev", location="westus2")
    logs = [{"category": name, "enabled": True} for name in CONTROL_PLANE_LOGS]
    metrics = [{"category": "AllMetrics", "enabled": True}]
    given = {"name": "control-plane", "resourceUri": azure.cluster_id, "workspaceId": workspace.id}
    return {**given, "logs": logs, "metrics": metrics, **more}


def test_the_categories_are_those_of_the_documentation_and_not_of_the_program() -> None:
    row = categories()["microsoft.containerservice/managedclusters"]
    assert set(CONTROL_PLANE_LOGS) < set(row["logs"])
    assert len(row["logs"]) == 11
    assert row["source"]
    assert row["how"] == "read"


def test_a_get_shows_every_category_and_a_retention_that_is_off(azure: Azure) -> None:
    sent = inputs(azure)
    provider = AzureNative(azure.cloud)
    id, created = provider.create(Request("urn:x", TOKEN, "control-plane"), sent)
    assert created["logs"] == sent["logs"], "the answer to the PUT has what was sent"
    _, shown, after = provider.read(Request("urn:x", TOKEN, "control-plane", id=id), created, sent)
    by_category = {each["category"]: each for each in shown["logs"]}
    assert len(by_category) == len(shown["logs"]) == 11
    assert [name for name, each in by_category.items() if each["enabled"]] == list(CONTROL_PLANE_LOGS)
    assert all(each["retentionPolicy"] == OFF for each in (*shown["logs"], *shown["metrics"]))
    assert len(after["logs"]) == 11, "azure-native takes them into the inputs"
    assert set(provider.diff(Request("urn:x", TOKEN, "control-plane", id=id), after, shown, sent).changes)


def test_a_category_that_a_cluster_does_not_have_is_refused(azure: Azure) -> None:
    wrong = [{"category": "kube-audits", "enabled": True}]
    assert azure.rules("DiagnosticSetting", inputs(azure, logs=wrong)) == {"diag-category"}
    assert azure.rules("DiagnosticSetting", inputs(azure)) == set()
