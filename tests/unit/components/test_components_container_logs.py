"""The logs of containers: where they go, and which namespaces are left out."""

from __future__ import annotations

import tomllib

from tests.unit.conftest import Simulate


def test_logs_of_containers_go_into_the_capped_workspace(simulate: Simulate) -> None:
    logs = {"namespaces": ["osmo-workflows", "gpu-operator"], "intervalMinutes": 10}
    found = simulate("dev-westus2", {"monitoring": {"containerLogs": logs, "dailyQuotaGb": 5}})
    addon = found.of_type("ManagedCluster")[0].inputs["addonProfiles"]["omsagent"]
    assert addon["enabled"] is True
    assert addon["config"]["useAADAuth"] == "true"
    assert addon["config"]["logAnalyticsWorkspaceResourceID"].endswith("/log-physical-ai-dev-westus2")
    rule = next(each.inputs for each in found.of_type("DataCollectionRule") if "logs" in each.name)
    (source,) = rule["dataSources"]["extensions"]
    assert source["extensionSettings"]["dataCollectionSettings"] == {
        "interval": "10m",
        "namespaceFilteringMode": "Include",
        "namespaces": ["osmo-workflows", "gpu-operator"],
        "enableContainerLogV2": True,
    }
    assert rule["destinations"]["logAnalytics"][0]["workspaceResourceId"].endswith("/log-physical-ai-dev-westus2")
    (workspace,) = found.of_type("Workspace")
    assert workspace.inputs["workspaceCapping"]["dailyQuotaGb"] == 5
    assert [each.inputs["associationName"] for each in found.of_type("DataCollectionRuleAssociation")] == [
        "ContainerInsightsExtension"
    ]


def test_the_agent_leaves_the_other_namespaces_out(simulate: Simulate) -> None:
    logs = {"namespaces": ["osmo-workflows", "gpu-operator"]}
    found = simulate("dev-westus2", {"monitoring": {"containerLogs": logs, "dailyQuotaGb": 5}})
    config = found.resource("ConfigMap", "container-azm-ms-agentconfig").inputs
    assert config["metadata"]["namespace"] == "kube-system"
    collected = tomllib.loads(config["data"]["log-data-collection-settings"])["log_collection_settings"]
    left_out = set(collected["stdout"]["exclude_namespaces"])
    assert left_out >= {"kube-system", "default", "osmo-operator", "kai-scheduler"}
    assert not left_out & set(logs["namespaces"])
    assert collected["stderr"] == collected["stdout"]
    assert collected["env_var"]["enabled"] is False
