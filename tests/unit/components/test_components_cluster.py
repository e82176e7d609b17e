"""The cluster, its network, identities, roles and logs: what is declared, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from physical_ai.settings import load
from physical_ai.settings.facts.naming import Names
from tests.support.cases import in_one_test
from tests.support.stacks import STACKS
from tests.unit.conftest import Simulate
from workbench.mocks.azure_answers import DEPLOYER, NAT_ADDRESS, nat_address

CLUSTER = "ManagedCluster"
CONFIGURED: dict[str, Any] = {
    "cluster": {
        "kubernetesVersion": "1.36",
        "nodesVersion": "1.35",
        "apiAccess": {"authorizedIpRanges": ["20.30.40.0/24"]},
        "autoscaler": {
            "maxNodeProvisionMinutes": 45,
            "scaleDownUnneededMinutes": 20,
            "scaleDownDelayAfterAddMinutes": 5,
        },
        "upgrades": {
            "nodeOsWindow": {"day": "Tuesday", "startHour": 3, "durationHours": 5, "utcOffset": "+02:00"},
        },
    },
    "monitoring": {"retentionDays": 60, "dailyQuotaGb": 5},
    "systemPool": {
        "scale": {"count": None, "min": 2, "max": 4},
        "upgrade": {"maxSurge": "2", "maxUnavailable": "0", "drainTimeoutMinutes": 20},
    },
    "tags": {"cost-centre": "r-and-d"},
}
"""Settings that do not affect each other, in one run of the program."""
OPPOSITE: dict[bool, dict[str, Any]] = {
    True: {
        "protect": True,
        "cluster": {
            "apiAccess": {"authorizedIpRanges": [], "runCommand": True},
            "upgrades": {"forceUntil": "2026-12-01T04:00:00Z"},
        },
    },
    False: {
        "protect": False,
        "cluster": {"apiAccess": {"authorizedIpRanges": [], "runCommand": False}},
        "systemPool": {"scale": {"count": 2, "min": None, "max": None, "initial": None}},
    },
}
"""Settings that are true, and false; others that do not affect them are in the same run."""


def test_cluster_admits_entra_only(simulate: Simulate) -> None:
    cluster = simulate("dev-westus2").of_type(CLUSTER)[0].inputs
    assert cluster["disableLocalAccounts"] is True
    assert cluster["aadProfile"] == {"managed": True, "enableAzureRBAC": True}
    assert cluster["oidcIssuerProfile"] == {"enabled": True}
    assert cluster["securityProfile"]["workloadIdentity"] == {"enabled": True}


def test_nodes_leave_through_the_nat_gateway_and_pods_have_their_own_network(simulate: Simulate) -> None:
    profile = simulate("dev-westus2").of_type(CLUSTER)[0].inputs["networkProfile"]
    wanted = {
        "networkPlugin": "azure",
        "networkPluginMode": "overlay",
        "networkDataplane": "cilium",
        "networkPolicy": "cilium",
        "outboundType": "userAssignedNATGateway",
    }
    assert {key: profile[key] for key in wanted} == wanted


def test_only_the_tainted_system_pool_is_inline(simulate: Simulate, azure_stack_name: str) -> None:
    pools = simulate(azure_stack_name).of_type(CLUSTER)[0].inputs["agentPoolProfiles"]
    assert [(pool["name"], pool["mode"]) for pool in pools] == [("system", "System")]
    assert pools[0]["nodeTaints"] == ["CriticalAddonsOnly=true:NoSchedule"]


def test_system_pool_upgrades_by_surge_and_sends_no_max_unavailable(simulate: Simulate) -> None:
    cluster = simulate("dev-westus2", CONFIGURED).of_type(CLUSTER)[0].inputs
    sent = cluster["agentPoolProfiles"][0]["upgradeSettings"]
    assert sent == {"maxSurge": "2", "drainTimeoutInMinutes": 20}


def test_autoscaled_system_pool_ignores_its_count_and_nothing_else(simulate: Simulate) -> None:
    cluster = simulate("dev-westus2", CONFIGURED).of_type(CLUSTER)[0]
    assert cluster.options.ignore_changes == ("agentPoolProfiles[0].count",)
    cluster = simulate("dev-westus2", OPPOSITE[False]).of_type(CLUSTER)[0]
    assert cluster.options.ignore_changes == ()


def test_autoscaler_durations_are_text_in_minutes(simulate: Simulate) -> None:
    cluster = simulate("dev-westus2", CONFIGURED).of_type(CLUSTER)[0].inputs
    assert cluster["autoScalerProfile"] == {
        "maxNodeProvisionTime": "45m",
        "scaleDownUnneededTime": "20m",
        "scaleDownDelayAfterAdd": "5m",
        "ignoreDaemonsetsUtilization": True,
    }


def test_api_server_answers_the_named_networks_and_the_nodes(simulate: Simulate) -> None:
    cluster = simulate("dev-westus2", CONFIGURED).of_type(CLUSTER)[0].inputs
    assert cluster["apiServerAccessProfile"] == {
        "authorizedIPRanges": ["20.30.40.0/24", f"{NAT_ADDRESS}/32"],
        "disableRunCommand": True,
    }


@pytest.mark.parametrize("allowed", [False, True])
def test_no_command_passes_by_the_reach_of_the_api_server_unless_the_stack_allows_it(
    simulate: Simulate, allowed: bool
) -> None:
    cluster = simulate("dev-westus2", OPPOSITE[allowed]).of_type(CLUSTER)[0]
    assert cluster.inputs["apiServerAccessProfile"] == {"disableRunCommand": not allowed}


def test_production_reimages_nodes_once_a_month(simulate: Simulate) -> None:
    recording = simulate("prod-westus2")
    (node_os,) = (
        each for each in recording.of_type("MaintenanceConfiguration") if "NodeOS" in each.inputs["configName"]
    )
    assert node_os.inputs["maintenanceWindow"]["schedule"] == {
        "relativeMonthly": {"dayOfWeek": "Sunday", "intervalMonths": 1, "weekIndex": "First"}
    }


def test_nodes_can_stay_behind_while_the_control_plane_is_upgraded(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", CONFIGURED)
    cluster = recording.of_type(CLUSTER)[0].inputs
    assert cluster["kubernetesVersion"] == "1.36"
    pools = [*cluster["agentPoolProfiles"], *(each.inputs for each in recording.of_type("AgentPool"))]
    assert {pool["orchestratorVersion"] for pool in pools} == {"1.35"}


def test_maintenance_windows_carry_aks_names_and_follow_the_cluster(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", CONFIGURED)
    configurations = {each.inputs["configName"]: each for each in recording.of_type("MaintenanceConfiguration")}
    assert set(configurations) == {"aksManagedAutoUpgradeSchedule", "aksManagedNodeOSUpgradeSchedule"}
    node_os = configurations["aksManagedNodeOSUpgradeSchedule"]
    assert node_os.inputs["maintenanceWindow"] == {
        "schedule": {"weekly": {"dayOfWeek": "Tuesday", "intervalWeeks": 1}},
        "startTime": "03:00",
        "utcOffset": "+02:00",
        "durationHours": 5,
    }
    assert node_os.options.replace_with == (recording.of_type(CLUSTER)[0].urn,)


def test_subnets_are_written_one_after_the_other(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    subnets = recording.of_type("Subnet")
    urns = {subnet.urn for subnet in subnets}
    before = {subnet.name: len(urns & set(subnet.options.depends_on)) for subnet in subnets}
    assert sorted(before.values()) == [0, 1, 1]
    assert "subnets" not in recording.of_type("VirtualNetwork")[0].inputs


def test_every_subnet_of_nodes_leaves_through_the_one_nat_gateway(simulate: Simulate, azure_stack_name: str) -> None:
    recording = simulate(azure_stack_name)
    nodes = {f"snet-{pool}" for pool in ("system", *load(azure_stack_name).settings.pools)}
    subnets = [each for each in recording.of_type("Subnet") if each.inputs["subnetName"] in nodes]
    assert len(subnets) == len(nodes)
    for subnet in subnets:
        assert subnet.inputs["defaultOutboundAccess"] is False
        assert subnet.inputs["natGateway"]["id"].endswith(f"/natGateways/ng-physical-ai-{azure_stack_name}")
        assert "networkSecurityGroups" in subnet.inputs["networkSecurityGroup"]["id"]
    (gateway,) = recording.of_type("NatGateway")
    (address,) = (each for each in recording.of_type("PublicIPAddress") if "vpn" not in each.name)
    assert gateway.inputs["sku"] == address.inputs["sku"] == {"name": "Standard"}
    assert "zones" not in gateway.inputs, "without any, Azure selects one"
    assert "zones" not in address.inputs
    assert address.inputs["publicIPAllocationMethod"] == "Static"


@pytest.mark.deep  # in `make test`: named networks above
def test_the_api_server_accepts_the_address_of_a_gateway_that_is_only_prepared(simulate: Simulate) -> None:
    outbound = {"network": {"outbound": {"form": "nonzonal", "next": "zone-redundant"}}}
    recording = simulate("prod-westus2", outbound)
    ranges = recording.of_type(CLUSTER)[0].inputs["apiServerAccessProfile"]["authorizedIPRanges"]
    assert ranges[-2:] == [f"{NAT_ADDRESS}/32", f"{nat_address('-v2')}/32"]
    names = {subnet.inputs["natGateway"]["id"].rpartition("/")[2] for subnet in recording.of_type("Subnet")}
    assert names == {"ng-physical-ai-prod-westus2"}


def test_moved_pool_subnet_is_recreated_and_a_moved_system_subnet_is_refused_by_arm(simulate: Simulate) -> None:
    replaced = {
        subnet.inputs["subnetName"]: (subnet.options.replace_on_changes, subnet.options.delete_before_replace)
        for subnet in simulate("dev-westus2").of_type("Subnet")
    }
    assert replaced == {
        "snet-h100gpu": (("addressPrefix",), True),
        "snet-rtxprogpu": (("addressPrefix",), True),
        "snet-system": ((), True),
    }


def test_nothing_in_the_cluster_depends_on_a_gpu_pool(simulate: Simulate) -> None:
    """A pool for which Azure has no capacity must not leave the cluster of the others empty."""
    recording = simulate("dev-westus2")
    pools = {recording.resource("AgentPool", name).urn for name in ("h100gpu", "rtxprogpu")}
    needing = {each.name for each in recording.resources if pools & set(each.options.depends_on)}
    assert needing == set()  # the gate waits for `GpuPool.settled`


def test_control_plane_logs_are_sent_to_the_workspace_and_end_before_the_cluster(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", CONFIGURED)
    workspace = recording.of_type("Workspace")[0].inputs
    assert (workspace["retentionInDays"], workspace["workspaceCapping"]) == (60, {"dailyQuotaGb": 5})
    setting = recording.of_type("DiagnosticSetting")[0]
    assert {"kube-audit-admin", "guard", "cluster-autoscaler"} <= {log["category"] for log in setting.inputs["logs"]}
    assert setting.options.deleted_with == ""
    assert recording.of_type(CLUSTER)[0].urn in setting.options.depends_on


def test_kubernetes_objects_are_deleted_with_the_cluster_and_use_its_provider(simulate: Simulate) -> None:
    recording = simulate("dev-westus2")
    cluster = recording.of_type(CLUSTER)[0].urn
    provider = recording.resource("kubernetes", "physical-ai-kubernetes-provider")
    assert provider.inputs["clusterIdentifier"] == "aks-physical-ai-dev-westus2"
    # A replaced cluster takes them along only if what they are deleted with is itself replaced with the cluster:
    # otherwise the engine deletes each of them before, in no order, and a release may have neither namespace nor nodes.
    assert provider.options.replace_with == (cluster,)
    for each in recording.of_type("Namespace"):
        assert (each.options.deleted_with, each.options.replace_with) == (provider.urn, (cluster, provider.urn))
    levels = {
        each.inputs["metadata"]["name"]: each.inputs["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]
        for each in recording.of_type("Namespace")
        if each.options.provider.startswith(f"{provider.urn}::")
    }
    assert levels == {
        "gpu-operator": "privileged",
        "kai-scheduler": "baseline",
        "osmo-control-plane": "baseline",
        "osmo-operator": "baseline",
        "osmo-workflows": "baseline",
    }


def test_cluster_identifier_is_known_even_where_the_cluster_is_not(simulate: Simulate) -> None:
    provider = simulate("dev-westus2", preview=True).resource("kubernetes", "physical-ai-kubernetes-provider")
    assert provider.inputs["clusterIdentifier"] == "aks-physical-ai-dev-westus2"


def test_protection_follows_the_setting(simulate: Simulate) -> None:
    for protect in (True, False):
        recording = simulate("dev-westus2", OPPOSITE[protect])
        everything = {each.name for each in recording.resources if each.custom}
        unprotected = {each.name for each in recording.resources if each.custom and not each.options.protect}
        # Roles can be withdrawn at any time, and the agents' files are replaced by their next version.
        files = {"physical-ai-grid-driver-files", "physical-ai-gpu-evidence-files"}
        exempt = {f"physical-ai-access-{DEPLOYER}-deployer", *files}
        assert unprotected == (exempt if protect else everything)


def test_tags_are_on_everything_that_takes_them(simulate: Simulate) -> None:
    recording = simulate("dev-westus2", CONFIGURED)
    tagged = {each.type.rpartition(":")[2] for each in recording.resources if "tags" in each.inputs}
    assert tagged == {
        "ResourceGroup",
        "VirtualNetwork",
        "NetworkSecurityGroup",
        "PublicIPAddress",
        "NatGateway",
        "UserAssignedIdentity",
        "Workspace",
        CLUSTER,
        "AgentPool",
    }
    assert all(each.inputs["tags"]["cost-centre"] == "r-and-d" for each in recording.resources if "tags" in each.inputs)


@in_one_test("stack", [*STACKS, "staging-southafricanorth", "a-very-long-environment-name-westcentralus"])
def test_names_fit_what_azure_allows(stack: str) -> None:
    names = Names(stack)
    assert len(names.cluster) <= 63
    assert len(names.dns_prefix) <= 54
    assert not names.dns_prefix.endswith("-")
    assert len(names.node_resource_group) <= 80
    assert names.node_resource_group != names.resource_group
    assert len(names.workspace) <= 63


def test_an_upgrade_is_forced_only_until_a_time(simulate: Simulate) -> None:
    assert "upgradeSettings" not in simulate("dev-westus2").of_type(CLUSTER)[0].inputs
    found = simulate("dev-westus2", OPPOSITE[True]).of_type(CLUSTER)[0].inputs
    override = found["upgradeSettings"]["overrideSettings"]
    assert override == {"forceUpgrade": True, "until": "2026-12-01T04:00:00+00:00"}
