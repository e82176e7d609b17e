"""Managed clusters and maintenance windows that AKS refuses, one case a rule, and those it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError
from tests.support.azure_fakes import NETWORK, OVERLAY, SPOT, Azure


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Azure:
    """Everything but the cluster."""
    made = Azure(Path(tmp_path_factory.mktemp("azure")) / "azure.json")
    made.network()
    made.identities()
    return made


def net(**more: Any) -> dict[str, Any]:
    return {"networkProfile": {**OVERLAY, **more}}


def access(**more: Any) -> dict[str, Any]:
    return {"apiServerAccessProfile": more}


def private(**more: Any) -> dict[str, Any]:
    return access(enablePrivateCluster=True, **more)


def oms(**config: str) -> dict[str, Any]:
    return {"addonProfiles": {"omsagent": {"enabled": True, "config": config}}}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"kubernetesVersion": "1.36.3"},
        {
            "autoScalerProfile": {
                "maxNodeProvisionTime": "30m",
                "scaleDownDelayAfterDelete": "10s",
                "expander": "random",
            }
        },
        access(authorizedIPRanges=["20.42.0.0/24", "0.0.0.0/0"]),
        net(networkDataplane="azure", networkPolicy="azure"),
        {"sku": {"name": "Base", "tier": "Premium"}, "supportPlan": "AKSLongTermSupport"},
        {"identity": {"type": "SystemAssigned"}, "identityProfile": None},
    ],
)
def test_cluster_is_taken(azure: Azure, change: dict[str, Any]) -> None:
    assert azure.rules("ManagedCluster", azure.cluster_inputs(**change)) == set()


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("mc-dnsprefix", {"dnsPrefix": None}),
    ("mc-dnsprefix", {"dnsPrefix": "-bad"}),
    ("mc-fqdnsub-custom", {"dnsPrefix": None, "fqdnSubdomain": "aks"}),
    ("mc-noderg-same", {"nodeResourceGroup": "rg-DEV"}),
    ("mc-noderg-length", {"nodeResourceGroup": "x" * 81}),
    ("mc-identity", {"identity": None}),
    ("mc-identity", {"identity": {"type": "UserAssigned", "userAssignedIdentities": ["/unknown"]}}),
    ("mc-one-uai", {"identity": {"type": "UserAssigned", "userAssignedIdentities": []}}),
    ("mc-kubelet-identity", {"identity": {"type": "SystemAssigned"}}),
    ("mc-local-accounts", {"aadProfile": None}),
    ("mc-azure-rbac", {"aadProfile": {"managed": False, "enableAzureRBAC": True}, "disableLocalAccounts": False}),
    ("mc-aad-rbac", {"enableRBAC": False}),
    ("mc-wi-oidc", {"oidcIssuerProfile": {"enabled": False}}),
    ("mc-authorized-private", access(authorizedIPRanges=["20.42.0.0/24"], enablePrivateCluster=True)),
    ("mc-authorized-format", access(authorizedIPRanges=["20.42.0.1/24"])),
    ("mc-authorized-format", access(authorizedIPRanges=["10.0.0.0/24"])),
    ("mc-private-dns-public", access(privateDNSZone="system")),
    (
        "mc-dns-none-public",
        access(privateDNSZone="none", enablePrivateCluster=True, enablePrivateClusterPublicFQDN=False),
    ),
    ("mc-private-dns-name", access(privateDNSZone="/x/privateDnsZones/example.org", enablePrivateCluster=True)),
    (
        "mc-private-dns-perm",
        access(
            privateDNSZone="/subscriptions/s/resourceGroups/r/providers/Microsoft.Network/privateDnsZones"
            "/privatelink.westus2.azmk8s.io",
            enablePrivateCluster=True,
        ),
    ),
    ("mc-addon-oms", {"addonProfiles": {"omsagent": {"enabled": True}}}),
    (
        "mc-oms-exists",
        {"addonProfiles": {"omsagent": {"enabled": True, "config": {"logAnalyticsWorkspaceResourceID": "/w"}}}},
    ),
    ("mc-defender-ws", {"securityProfile": {"defender": {"securityMonitoring": {"enabled": True}}}}),
    ("mc-kms", {"securityProfile": {"azureKeyVaultKms": {"enabled": True}}}),
    ("mc-cost", {"metricsProfile": {"costAnalysis": {"enabled": True}}, "sku": {"name": "Base", "tier": "Free"}}),
    (
        "mc-acns",
        net(networkDataplane="azure", networkPolicy="azure", advancedNetworking={"security": {"enabled": True}}),
    ),
    ("mc-autoscaler-types", {"autoScalerProfile": {"maxNodeProvisionTime": 30}}),
    ("mc-autoscaler-duration", {"autoScalerProfile": {"maxNodeProvisionTime": "1h"}}),
    ("mc-autoscaler-duration", {"autoScalerProfile": {"scaleDownUnneededTime": "90s"}}),
    ("mc-sku-automatic", {"sku": {"name": "Automatic", "tier": "Free"}}),
    ("lts-premium", {"supportPlan": "AKSLongTermSupport"}),
    ("version-supported", {"kubernetesVersion": "1.29"}),
    ("version-supported", {"kubernetesVersion": "1.36.99"}),
    ("net-plugin-mode", net(networkPlugin="kubenet", networkDataplane="azure", networkPolicy="calico")),
    ("net-mode-azure", net(networkPlugin="none", networkMode="bridge")),
    ("net-cilium-policy", net(networkDataplane="azure")),
    ("net-cilium-dataplane", net(networkPolicy="calico")),
    ("net-cilium-plugin", net(networkPlugin="kubenet")),
    ("net-policy-kubenet", net(networkPlugin="kubenet", networkPolicy="azure")),
    ("net-policy-none", net(networkPlugin="none", networkPolicy="calico")),
    ("net-svc-subnet", net(serviceCidr="10.100.0.0/20", dnsServiceIP="10.100.0.10")),
    ("net-pod-subnet", net(podCidr="10.100.0.0/16")),
    ("net-svc-pod", net(podCidr="10.0.0.0/12")),
    ("net-svc-size", net(serviceCidr="10.0.0.0/11", podCidr="172.16.0.0/16")),
    ("net-svc-reserved", net(podCidr="172.30.0.0/16")),
    ("net-dns-in-svc", net(dnsServiceIP="10.1.0.10")),
    ("net-dns-first", net(dnsServiceIP="10.0.0.1")),
    ("net-dns-broadcast", net(dnsServiceIP="10.0.255.255")),
    ("net-cidr-parse", net(podCidr="10.244.0.1/16")),
    ("net-pod-capacity", net(podCidr="10.244.0.0/24")),
    ("net-udr-table", net(outboundType="userDefinedRouting")),
    ("net-mnat-byo-vnet", net(outboundType="managedNATGateway")),
    ("net-lb-basic", net(loadBalancerSku="basic")),
    ("net-lb-ports", net(loadBalancerProfile={"allocatedOutboundPorts": 1001})),
    ("net-nat-idle", net(natGatewayProfile={"idleTimeoutInMinutes": 2})),
    ("arm-location-known", {"location": "atlantis"}),
    ("arm-location-rg", {"resourceGroupName": "nowhere"}),
    ("mc-name", {"resourceName": "-aks"}),
]


@pytest.mark.parametrize(("rule", "change"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_cluster_is_refused(azure: Azure, rule: str, change: dict[str, Any]) -> None:
    assert rule in azure.rules("ManagedCluster", azure.cluster_inputs(**change))


@pytest.mark.parametrize(
    ("rule", "change"),
    [
        ("system-taint", {"nodeTaints": ["team=robots:NoSchedule"]}),
        ("system-maxpods", {"maxPods": 20}),
        ("first-inline-pool-system", {"mode": "User"}),
        ("net-nat-byo-vnet", {"vnetSubnetID": None}),
        ("system-regular", SPOT),
        ("vmsize-known", {"vmSize": "Standard_Imaginary"}),
    ],
)
def test_rules_of_pools_hold_for_inline_pools(azure: Azure, rule: str, change: dict[str, Any]) -> None:
    (system,) = azure.cluster_inputs()["agentPoolProfiles"]
    inputs = azure.cluster_inputs(agentPoolProfiles=[{**system, **change}])
    assert rule in azure.rules("ManagedCluster", inputs)


def test_two_inline_pools_of_one_name_are_refused(azure: Azure) -> None:
    (system,) = azure.cluster_inputs()["agentPoolProfiles"]
    assert "inline-pool-names" in azure.rules(
        "ManagedCluster", azure.cluster_inputs(agentPoolProfiles=[system, system])
    )


def test_flat_network_counts_an_address_for_each_pod(azure: Azure) -> None:
    flat = net(networkPluginMode=None, podCidr=None)
    (system,) = azure.cluster_inputs()["agentPoolProfiles"]
    three = azure.cluster_inputs(**flat, agentPoolProfiles=[{**system, "count": 3}])
    assert azure.rules("ManagedCluster", three) == {"net-subnet-capacity"}


def test_cluster_without_its_roles_is_refused_until_they_are_there(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identity("plane")
    azure.identity("kubelet")
    assert azure.rules("ManagedCluster", azure.cluster_inputs()) == {"mc-kubelet-identity-perm", "net-subnet-perm"}
    azure.identities()
    assert azure.rules("ManagedCluster", azure.cluster_inputs()) == set()


def test_pool_in_a_subnet_the_cluster_may_not_join_is_refused(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    plane, kubelet = azure.identity("plane"), azure.identity("kubelet")
    principal = plane.outputs["principalId"]
    azure.assign("f1a07417-d97a-45cb-824c-7a7467783830", principal, kubelet.id, 1)
    azure.assign("4d97b98b-1d4f-4787-a291-c67834d212e7", principal, azure.subnet_id, 2)
    azure.cluster()
    with pytest.raises(ArmError) as refused:
        azure.pool()
    assert refused.value.refusal.status == 403
    assert "subnets/join/action" in refused.value.refusal.message


@pytest.mark.parametrize(
    ("rule", "version"), [("cluster-downgrade", "1.35"), ("cluster-downgrade", "1.36.2"), ("version-supported", "1.38")]
)
def test_version_is_never_lowered(tmp_path: Path, rule: str, version: str) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    assert rule in azure.rules("ManagedCluster", azure.cluster_inputs(kubernetesVersion=version))


def test_minor_versions_cannot_be_skipped_but_the_next_is_fine(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identities()
    azure.cluster(kubernetesVersion="1.35")
    assert azure.rules("ManagedCluster", azure.cluster_inputs(kubernetesVersion="1.37")) == {"cluster-skip-minor"}
    updated = azure.put("ManagedCluster", **azure.cluster_inputs(kubernetesVersion="1.36"))
    assert updated.outputs["currentKubernetesVersion"] == "1.36.3"


def test_a_pool_is_not_added_by_the_clusters_put_and_not_removed_by_it(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    azure.pool()
    (system,) = azure.cluster_inputs()["agentPoolProfiles"]
    with pytest.raises(ArmError, match="A new agent pool was introduced"):
        azure.put("ManagedCluster", **azure.cluster_inputs(agentPoolProfiles=[system, {**system, "name": "more"}]))
    updated = azure.put("ManagedCluster", **azure.cluster_inputs(tags={"env": "dev"}))
    assert [pool["name"] for pool in updated.outputs["agentPoolProfiles"]] == ["system", "h100gpu"]


WEEKLY: dict[str, Any] = {
    "schedule": {"weekly": {"dayOfWeek": "Sunday", "intervalWeeks": 1}},
    "durationHours": 4,
    "startTime": "02:00",
    "utcOffset": "+00:00",
}
AUTO = "aksManagedAutoUpgradeSchedule"


@pytest.mark.parametrize(
    ("rule", "name", "inputs"),
    [
        (None, AUTO, {"maintenanceWindow": WEEKLY}),
        (None, "default", {"timeInWeek": [{"day": "Sunday", "hourSlots": [1, 2]}]}),
        ("maint-names", "weekends", {"maintenanceWindow": WEEKLY}),
        ("maint-window-names", "default", {"maintenanceWindow": WEEKLY}),
        ("maint-window-names", AUTO, {"timeInWeek": [{"day": "Sunday", "hourSlots": [1]}]}),
        ("maint-duration", AUTO, {"maintenanceWindow": {**WEEKLY, "durationHours": 3}}),
        ("maint-one-schedule", AUTO, {"maintenanceWindow": {**WEEKLY, "schedule": {}}}),
        ("maint-hours", "default", {"timeInWeek": [{"day": "Sunday", "hourSlots": []}]}),
        ("maint-hours", "default", {"timeInWeek": [{"day": "Sunday", "hourSlots": [24]}]}),
        (
            "maint-dates",
            AUTO,
            {"maintenanceWindow": {**WEEKLY, "notAllowedDates": [{"start": "2026-12-24", "end": "2026-12-20"}]}},
        ),
    ],
)
def test_maintenance_configuration(azure: Azure, rule: str | None, name: str, inputs: dict[str, Any]) -> None:
    place = {"resourceGroupName": "rg-dev", "resourceName": "aks", "configName": name}
    found = azure.rules("MaintenanceConfiguration", {**place, **inputs}) - {"aks-parent"}
    assert found == ({rule} if rule else set())


def test_child_without_its_cluster_is_refused(azure: Azure) -> None:
    assert "aks-parent" in azure.rules("AgentPool", azure.pool_inputs())
    where = azure.id(f"{NETWORK}/virtualNetworks/vnet")
    assert azure.cloud.exists(where.upper())
