"""Node pools that AKS refuses, one case a rule, and the neighbours that it takes."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from physical_ai import catalog
from physical_ai.catalog.aks import SET_BY_AKS
from simulator.azure import ArmError, CatalogOffers
from tests.support.azure_fakes import NETWORK, SPOT, Azure

SCALED: dict[str, Any] = {"enableAutoScaling": True, "minCount": 0, "maxCount": 4, "count": 1}
SYSTEM: dict[str, Any] = {
    "mode": "System",
    "vmSize": "Standard_D4ds_v5",
    "nodeTaints": [],
    "nodeLabels": {},
    "osDiskSizeGB": 64,
    "gpuProfile": None,
}

RTX: dict[str, Any] = {"vmSize": "Standard_NC144ds_xl_RTXPRO6000BSE_v6"}
A100: dict[str, Any] = {"vmSize": "Standard_NC24ads_A100_v4"}
BURSTABLE = next(size.name for size in catalog.vm_sizes().values() if not size.low_priority)


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Azure:
    made = Azure(Path(tmp_path_factory.mktemp("azure")) / "azure.json")
    made.platform()
    return made


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"count": 0},
        SCALED,
        SPOT,
        {**SPOT, **SCALED},
        {**SPOT, "spotMaxPrice": 3.12345},
        SYSTEM,
        {"nodeTaints": ["nvidia.com/gpu:NoSchedule"]},
        {**RTX, "osDiskType": "Ephemeral", "osDiskSizeGB": 1024},
        {"osDiskType": "Ephemeral", "osDiskSizeGB": 128},
        {**A100, "osDiskType": "Ephemeral", "osDiskSizeGB": 256},
        {"osDiskType": "Ephemeral", "osDiskSizeGB": None},
        {"availabilityZones": ["1", "3"]},
        {"orchestratorVersion": "1.35"},
        {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1", "drainTimeoutInMinutes": 1440}},
        {"gpuInstanceProfile": "MIG1g"},
        {"nodeLabels": {"example.com/Team_A": "", "nvidia.com/gpu.deploy.driver": "false"}},
        {"nodeLabels": {"example.com/agentpool": "x", "Accelerator": "x"}},
        {"nodeTaints": ["example.com/kubernetes.azure.com=x:NoSchedule"]},
        {**SPOT, "upgradeSettings": {}},
        {**SYSTEM, "upgradeSettings": {"maxSurge": "1", "drainTimeoutInMinutes": 60}},
        {"gpuProfile": {"driver": "Install"}, "osSKU": "AzureLinux"},
        {
            "gpuProfile": {"driver": "Install"},
            "osSKU": "AzureLinux",
            "securityProfile": {"enableSecureBoot": True, "enableVTPM": True},
        },
        {**RTX, "gpuProfile": {"driver": "Install"}, "osSKU": "Ubuntu2204"},
        {**RTX, "osSKU": "AzureLinux"},
        {"vmSize": BURSTABLE, "gpuProfile": None},
    ],
)
def test_pool_is_taken(azure: Azure, change: dict[str, Any]) -> None:
    assert azure.rules("AgentPool", azure.pool_inputs(**change)) == set()


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("pool-count-user", {"count": 1001}),
    ("pool-count-user", {"count": -1}),
    ("pool-count-system", {**SYSTEM, "count": 0}),
    ("pool-min-le-count", {**SCALED, "count": 5}),
    ("pool-min-le-max", {**SCALED, "minCount": 5}),
    ("pool-autoscale-needs-minmax", {"enableAutoScaling": True}),
    ("pool-minmax-without-autoscale", {"minCount": 1}),
    ("pool-min0-user-only", {**SYSTEM, **SCALED}),
    ("pool-max1000", {**SCALED, "maxCount": 1001}),
    ("system-regular", {**SYSTEM, "scaleSetPriority": "Spot"}),
    ("system-linux", {**SYSTEM, "osType": "Windows"}),
    ("system-maxpods", {**SYSTEM, "maxPods": 20}),
    ("maxpods-range", {"maxPods": 251}),
    ("maxpods-range", {"maxPods": 9}),
    ("vmsize-required", {"vmSize": None}),
    ("vmsize-known", {"vmSize": "Standard_NC41ads_H100_v5"}),
    ("gpu-preview-size", {"vmSize": "Standard_NC128ds_xl_RTXPRO6000BSE_v6"}),
    ("spot-no-maxsurge", {**SPOT, "upgradeSettings": {"maxSurge": "1"}}),
    ("spot-no-maxunavailable", {**SPOT, "upgradeSettings": {"maxUnavailable": "1"}}),
    ("spot-no-upgrade-settings", {**SPOT, "upgradeSettings": {"drainTimeoutInMinutes": 60}}),
    ("spot-no-upgrade-settings", {**SPOT, "upgradeSettings": {"undrainableNodeBehavior": "Cordon"}}),
    ("spot-size", {**SPOT, "vmSize": BURSTABLE, "gpuProfile": None}),
    ("spot-type-explicit", {**SPOT, "type": None}),
    ("spot-vmss-only", {**SPOT, "type": "AvailabilitySet"}),
    ("spot-no-crg", {**SPOT, "capacityReservationGroupID": "/crg"}),
    ("eviction-needs-spot", {"scaleSetEvictionPolicy": "Delete"}),
    ("spotprice-needs-spot", {"spotMaxPrice": 2.5}),
    ("spot-price-range", {**SPOT, "spotMaxPrice": 0}),
    ("spot-price-range", {**SPOT, "spotMaxPrice": 1.123456}),
    ("label-reserved", {"nodeLabels": {"kubernetes.azure.com/mine": "x"}}),
    ("label-reserved", {"nodeLabels": {"node.kubernetes.io/mine": "x"}}),
    ("label-reserved", {"nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"}}),
    *(("label-system", {"nodeLabels": {name: "x"}}) for name in sorted(SET_BY_AKS)),
    ("label-syntax", {"nodeLabels": {"team": "robots and more"}}),
    ("label-syntax", {"nodeLabels": {"Bad_Prefix/team": "a"}}),
    ("label-syntax", {"nodeLabels": {"team": "x" * 64}}),
    ("taint-syntax", {"nodeTaints": ["nvidia.com/gpu=present"]}),
    ("taint-syntax", {"nodeTaints": ["nvidia.com/gpu=present:NoScheduling"]}),
    ("taint-syntax", {"nodeTaints": ["nvidia.com/gpu=a b:NoSchedule"]}),
    ("taint-reserved", {"nodeTaints": ["kubernetes.azure.com/mine=x:NoSchedule"]}),
    ("taint-reserved", {"nodeTaints": ["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"]}),
    ("taint-reserved", {**SPOT, "nodeTaints": ["kubernetes.azure.com/scalesetpriority=spot:NoExecute"]}),
    ("taint-duplicate", {"nodeTaints": ["a=1:NoSchedule", "a=2:NoSchedule"]}),
    ("gpu-instance-size", {"vmSize": "Standard_D4ds_v5", "gpuInstanceProfile": "MIG1g"}),
    ("gpu-secureboot", {"gpuProfile": {"driver": "Install"}, "securityProfile": {"enableSecureBoot": True}}),
    ("gpu-driver-os", {**RTX, "gpuProfile": {"driver": "Install"}, "osSKU": "AzureLinux"}),
    ("gpu-driver-os", {**RTX, "gpuProfile": None, "osSKU": "CBLMariner"}),
    ("skip-driver-tag", {"tags": {"SkipGPUDriverInstall": "true"}}),
    ("ephemeral-fit", {"osDiskType": "Ephemeral", "osDiskSizeGB": 512}),
    ("ephemeral-fit", {**A100, "osDiskType": "Ephemeral", "osDiskSizeGB": 257}),
    ("ephemeral-fit", {"vmSize": "Standard_D4ds_v5", "osDiskType": "Ephemeral", "osDiskSizeGB": 1024}),
    ("osdisk-range", {"osDiskSizeGB": 20}),
    ("ossku-ostype", {"osSKU": "Windows2022"}),
    ("zones-values", {"availabilityZones": ["west"]}),
    ("zones-duplicate", {"availabilityZones": ["1", "3", "1"]}),
    ("zones-vmss", {"availabilityZones": ["1"], "type": "AvailabilitySet"}),
    ("ppg-zones", {"availabilityZones": ["1", "2"], "proximityPlacementGroupID": "/ppg"}),
    ("fips-2404", {"enableFIPS": True}),
    ("motd-windows", {"messageOfTheDay": "hello there"}),
    ("gateway-profile", {"gatewayProfile": {"publicIPPrefixSize": 30}}),
    ("podalloc-needs-podsubnet", {"podIPAllocationMode": "StaticBlock"}),
    ("surge-format", {"upgradeSettings": {"maxSurge": "some"}}),
    ("surge-format", {"upgradeSettings": {"maxSurge": "101%"}}),
    ("surge-format", {"upgradeSettings": {"maxSurge": "0", "maxUnavailable": "0"}}),
    ("system-no-maxunavailable", {**SYSTEM, "upgradeSettings": {"maxSurge": "1", "maxUnavailable": "0"}}),
    ("system-no-maxunavailable", {**SYSTEM, "upgradeSettings": {"maxSurge": "0", "maxUnavailable": "1"}}),
    ("surge-both", {"upgradeSettings": {"maxSurge": "1", "maxUnavailable": "1"}}),
    ("kubelet-gc", {"kubeletConfig": {"imageGcLowThreshold": 90, "imageGcHighThreshold": 80}}),
    ("kubelet-enums", {"kubeletConfig": {"topologyManagerPolicy": "numa"}}),
    ("hostports", {"networkProfile": {"allowedHostPorts": [{"portStart": 90, "portEnd": 80, "protocol": "TCP"}]}}),
    ("version-supported", {"orchestratorVersion": "1.29"}),
    ("pool-version-skew", {"orchestratorVersion": "1.37"}),
    ("net-subnet-capacity", {"count": 300}),
    ("net-managed-vnet-mix", {"vnetSubnetID": None}),
    ("net-nat-byo-vnet", {"vnetSubnetID": None}),
    ("net-pod-capacity", {**SCALED, "maxCount": 300}),
    ("pool-name", {"agentPoolName": "Gpu"}),
    ("pool-name-windows", {"osType": "Windows", "osSKU": "Windows2022"}),
]


@pytest.mark.parametrize(("rule", "change"), REFUSED, ids=lambda value: value if isinstance(value, str) else "")
def test_pool_is_refused(azure: Azure, rule: str, change: dict[str, Any]) -> None:
    assert rule in azure.rules("AgentPool", azure.pool_inputs(**change))


def test_message_of_the_day_in_base64_is_taken(azure: Azure) -> None:
    motd = base64.b64encode(b"hello there").decode()
    assert azure.rules("AgentPool", azure.pool_inputs(messageOfTheDay=motd)) == set()


def test_size_that_the_region_does_not_list_is_refused_with_its_path(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", place="spaincentral")
    azure.network()
    azure.identities()
    azure.cluster()
    with pytest.raises(ArmError) as refused:
        azure.pool(**RTX)
    assert refused.value.refusal.rule == "vmsize-known"
    assert "in location 'spaincentral'" in str(refused.value)
    assert "simulator/azure/data/regions.json" in str(refused.value), "is it Azure or the catalogue that lacks it?"


def test_a_size_that_the_catalogue_lacks_is_not_said_to_be_missing_in_azure(azure: Azure) -> None:
    with pytest.raises(
        ArmError, match=r"not supported\. \(The simulator knows what is in .*vm_sizes\.yaml\. If Azure has"
    ):
        azure.pool(vmSize="Standard_NC41ads_H100_v5")


def test_retired_size_names_its_successor_and_a_record_of_the_past_may_use_it(azure: Azure, tmp_path: Path) -> None:
    retired = {"vmSize": "Standard_NC128ds_xl_RTXPRO6000BSE_v6"}
    with pytest.raises(ArmError, match="Standard_NC144ds_xl_RTXPRO6000BSE_v6"):
        azure.pool(**retired)
    past = Azure(tmp_path / "azure.json", options={"accepts_retired_sizes": True})
    past.platform()
    assert past.pool(**retired).outputs["vmSize"] == retired["vmSize"]


def test_kubernetes_that_is_retired_is_made_only_where_the_past_is_simulated(tmp_path: Path) -> None:
    for past in (False, True):
        azure = Azure(tmp_path / f"{past}.json", options={"offers": CatalogOffers(past=past)})
        azure.network()
        azure.identities()
        if past:
            assert azure.cluster(kubernetesVersion="1.32.5").outputs["currentKubernetesVersion"] == "1.32.5"
            assert azure.pool().outputs["currentOrchestratorVersion"] == "1.32.5"
        else:
            with pytest.raises(ArmError, match=r"1\.32\.5, which is not supported"):
                azure.cluster(kubernetesVersion="1.32.5")


def test_long_term_support_has_minors_that_others_no_longer_get(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identities()
    plan = {"supportPlan": "AKSLongTermSupport", "sku": {"name": "Base", "tier": "Premium"}}
    assert azure.cluster(kubernetesVersion="1.33", **plan).outputs["currentKubernetesVersion"].startswith("1.33.")
    assert azure.pool(orchestratorVersion="1.33").outputs["currentOrchestratorVersion"].startswith("1.33.")
    raised = azure.put("ManagedCluster", **azure.cluster_inputs(kubernetesVersion="1.35", **plan))
    assert raised.outputs["currentKubernetesVersion"].startswith("1.35."), "two minors at once"
    with pytest.raises(ArmError, match="not supported"):
        azure.cluster(resourceName="other", kubernetesVersion="1.33")


def test_region_without_zones_refuses_zones(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json", place="westus")
    azure.network()
    azure.identities()
    azure.cluster()
    inputs = azure.pool_inputs(vmSize="Standard_NC144ds_xl_RTXPRO6000BSE_v6", availabilityZones=["1"])
    assert azure.rules("AgentPool", inputs) == {"zones-sku"}


def test_spot_cannot_be_the_only_pool(azure: Azure) -> None:
    (system,) = azure.cluster_inputs()["agentPoolProfiles"]
    lone = {**system, **SPOT, "name": "alone", "mode": "User"}
    found = azure.rules("ManagedCluster", azure.cluster_inputs(resourceName="other", agentPoolProfiles=[lone]))
    assert {"spot-user-only", "first-inline-pool-system"} <= found


@pytest.mark.parametrize(
    ("rule", "subnet"),
    [
        ("net-subnet-exists", None),
        ("net-nat-assoc", {"natGateway": None}),
        ("net-subnet-delegated", {"delegations": [{"name": "d", "serviceName": "Microsoft.Web/serverFarms"}]}),
        ("net-subnet-capacity", {"addressPrefix": "10.100.9.0/29"}),
    ],
)
def test_subnet_unfit_for_nodes_is_refused(tmp_path: Path, rule: str, subnet: dict[str, Any] | None) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    if subnet is not None:
        azure.subnet("odd", **{"prefix": "10.100.9.0/24", **subnet})
    reference = azure.id(f"{NETWORK}/virtualNetworks/vnet/subnets/odd")
    assert azure.rules("AgentPool", azure.pool_inputs(vnetSubnetID=reference, count=4)) == {rule}


def test_nat_gateway_without_an_address_is_refused(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.platform()
    azure.put("NatGateway", natGatewayName="nat", location=azure.place, sku={"name": "Standard"})
    assert "net-nat-ip" in azure.rules("AgentPool", azure.pool_inputs())


def test_pools_of_one_cluster_share_a_network(tmp_path: Path) -> None:
    other = Azure(tmp_path / "azure.json")
    other.platform()
    other.put(
        "VirtualNetwork",
        virtualNetworkName="far",
        location=other.place,
        addressSpace={"addressPrefixes": ["10.200.0.0/16"]},
    )
    other.subnet("x", "10.200.0.0/24", virtualNetworkName="far")
    reference = other.id(f"{NETWORK}/virtualNetworks/far/subnets/x")
    assert "net-one-vnet" in other.rules("AgentPool", other.pool_inputs(vnetSubnetID=reference))


@pytest.mark.parametrize(
    ("quota", "change", "rule"),
    [
        ({"StandardNCadsH100v5Family": 79}, {"count": 2}, "quota-aks-vcpu"),
        ({"cores": 40}, {}, "quota-aks-vcpu"),
        ({"lowPriorityCores": 39}, SPOT, "quota-aks-spot"),
    ],
)
def test_quota_is_counted_before_any_node_is_made(
    tmp_path: Path, quota: dict[str, int], change: dict[str, Any], rule: str
) -> None:
    azure = Azure(tmp_path / "azure.json", options={"quota": quota})
    azure.platform()
    with pytest.raises(ArmError) as refused:
        azure.pool(**change)
    assert refused.value.refusal.rule == rule
    assert refused.value.refusal.body()["subcode"] == ""
    assert "h100gpu" not in [pool for _, pool in azure.host.nodes]


def test_quota_that_just_suffices_is_enough_and_spot_draws_on_its_own(tmp_path: Path) -> None:
    quota = {"StandardNCadsH100v5Family": 80, "lowPriorityCores": 40}
    azure = Azure(tmp_path / "azure.json", options={"quota": quota})
    azure.platform()
    azure.pool(count=2)
    azure.pool(agentPoolName="spot", **SPOT)
    with pytest.raises(ArmError, match="left StandardNCadsH100v5Family vcpu quota 0, requested quota 40"):
        azure.pool(agentPoolName="more")


def test_the_last_system_pool_remains(azure: Azure) -> None:
    with pytest.raises(ArmError, match="at least one system agent pool"):
        azure.cloud.delete(f"{azure.cluster_id}/agentPools/system")
