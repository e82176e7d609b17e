"""Cluster host that only records calls, a clock that a test moves, and the Azure resources of a small platform."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.azure import Cloud, ModelClock, ids, schema
from simulator.azure.data import mappings
from simulator.azure.rules import Put, refusals
from simulator.azure.state import Resource

GROUP = "rg-dev"
PLACE = "westus2"
NETWORK = "Microsoft.Network"


class MemoryHost:
    """Cluster host that keeps nodes by cluster and pool, and grants by cluster and assignment. A call whose name is in
    `fail` raises an error.
    """

    def __init__(self) -> None:
        self.clusters: dict[str, str] = {}
        self.nodes: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        self.grants: dict[tuple[str, str], tuple[str, str, str]] = {}
        self.calls: list[str] = []
        self.fail: set[str] = set()
        self.disruption: list[Mapping[str, Any]] = []
        """PodDisruptionBudgets of every cluster."""
        self.keeps = ""
        """Message of AKS about a Pod that a drain cannot evict; empty if there is no such Pod."""

    def _call(self, verb: str) -> None:
        self.calls.append(verb)
        if verb in self.fail:
            raise RuntimeError(f"{verb} failed")

    def create(self, cluster_id: str, kubernetes_version: str) -> None:
        self._call("create")
        self.clusters[cluster_id] = kubernetes_version

    def enable_metrics(self, cluster_id: str) -> None:
        self._call("enable_metrics")

    def enable_vault_secrets(self, cluster_id: str) -> None:
        self._call("enable_vault_secrets")

    def delete(self, cluster_id: str) -> None:
        self._call("delete")
        self.clusters.pop(cluster_id, None)
        self.nodes = {key: nodes for key, nodes in self.nodes.items() if key[0] != cluster_id}
        self.grants = {key: grant for key, grant in self.grants.items() if key[0] != cluster_id}

    def user_kubeconfig(self, cluster_id: str) -> str:
        return f"kubeconfig of {cluster_id}"

    def apply_nodes(self, cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        self._call("apply_nodes")
        assert cluster_id in self.clusters, "nodes for a cluster that does not run"
        self.nodes[(cluster_id, pool)] = list(nodes)

    def budgets(self, cluster_id: str) -> Sequence[Mapping[str, Any]]:
        return self.disruption

    def drain(self, cluster_id: str, pool: str, seconds: float) -> str:
        self._call(f"drain {pool} {seconds:g}")
        return self.keeps

    def restart_node(self, cluster_id: str, node: str) -> None:
        self._call(f"restart {node}")

    def grant(
        self, cluster_id: str, assignment_id: str, principal_id: str, principal_type: str, role_guid: str
    ) -> None:
        self._call("grant")
        self.grants[(cluster_id, assignment_id)] = (principal_id, principal_type, role_guid)

    def revoke(self, cluster_id: str, assignment_id: str) -> None:
        self.grants.pop((cluster_id, assignment_id), None)

    def names(self, pool: str) -> list[str]:
        return [n["metadata"]["name"] for key, nodes in self.nodes.items() if key[1] == pool for n in nodes]


@dataclass
class HandClock:
    """Clock that a test moves. When it moves, it makes the calls that have become due."""

    seconds: float = 1_800_000_000.0
    waiting: list[tuple[float, Callable[[], None]]] = field(default_factory=list[tuple[float, Callable[[], None]]])

    def now(self) -> float:
        return self.seconds

    def later(self, seconds: float, call: Callable[[], None]) -> Callable[[], None]:
        entry = (self.seconds + seconds, call)
        self.waiting.append(entry)
        return lambda: self.waiting.remove(entry) if entry in self.waiting else None

    def advance(self, seconds: float) -> None:
        self.seconds += seconds
        due = [entry for entry in self.waiting if entry[0] <= self.seconds]
        self.waiting = [entry for entry in self.waiting if entry not in due]
        for _, call in due:
            call()

    def model(self, role_delay_minutes: float = 2) -> ModelClock:
        return ModelClock(1.0, role_delay_minutes, now=self.now, later=self.later)


@dataclass
class Azure:
    """Simulated Azure under test, with helpers that create the usual resources. Role assignments take effect at once by
    default.
    """

    path: Path
    role_delay_minutes: float = 0
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    host: MemoryHost = field(default_factory=MemoryHost)
    clock: HandClock = field(default_factory=HandClock)
    place: str = PLACE

    def __post_init__(self) -> None:
        self.reopen()

    def reopen(self) -> None:
        """Starts Azure again from its file, as a new process does after a kill."""
        self.cloud = Cloud(self.path, self.host, clock=self.clock.model(self.role_delay_minutes), **self.options)

    def put(self, kind: str, /, **inputs: Any) -> Resource:
        group = (
            {}
            if kind in ("RoleAssignment", "DiagnosticSetting", "DataCollectionRuleAssociation")
            else {"resourceGroupName": GROUP}
        )
        return self.cloud.put(kind, {**group, **inputs})

    def id(self, path: str) -> str:
        return f"/subscriptions/{self.cloud.directory.subscription}/resourceGroups/{GROUP}/providers/{path}"

    @property
    def cluster_id(self) -> str:
        return self.id("Microsoft.ContainerService/managedClusters/aks")

    @property
    def subnet_id(self) -> str:
        return self.id(f"{NETWORK}/virtualNetworks/vnet/subnets/system")

    @property
    def gpu_subnet_id(self) -> str:
        return self.id(f"{NETWORK}/virtualNetworks/vnet/subnets/gpu")

    def group(self) -> Resource:
        return self.put("ResourceGroup", location=self.place)

    def network(self) -> None:
        """Creates a resource group with a network, a NAT gateway with an address, a security group and two subnets."""
        self.group()
        self.put("VirtualNetwork", virtualNetworkName="vnet", location=self.place, **space("10.100.0.0/16"))
        self.put("PublicIPAddress", publicIpAddressName="pip", location=self.place, **STANDARD_ADDRESS)
        address = [{"id": self.id(f"{NETWORK}/publicIPAddresses/pip")}]
        self.put("NatGateway", natGatewayName="nat", location=self.place, publicIpAddresses=address, sku=STANDARD)
        self.put("NetworkSecurityGroup", networkSecurityGroupName="nsg", location=self.place)
        self.subnet("system", "10.100.0.0/24")
        self.subnet("gpu", "10.100.1.0/24")

    def subnet(self, name: str, prefix: str, **more: Any) -> Resource:
        inputs: dict[str, Any] = {
            "virtualNetworkName": "vnet",
            "subnetName": name,
            "addressPrefix": prefix,
            "natGateway": {"id": self.id(f"{NETWORK}/natGateways/nat")},
            "networkSecurityGroup": {"id": self.id(f"{NETWORK}/networkSecurityGroups/nsg")},
        }
        return self.put("Subnet", **{**inputs, **more})

    def identity(self, name: str) -> Resource:
        return self.put("UserAssignedIdentity", resourceName=name, location=self.place)

    def assign(self, role: str, principal: str, scope: str, number: int = 1, **more: Any) -> Resource:
        inputs: dict[str, Any] = {
            "roleAssignmentName": f"00000000-0000-4000-8000-{number:012d}",
            "scope": scope,
            "principalId": principal,
            "principalType": "ServicePrincipal",
            "roleDefinitionId": f"/providers/Microsoft.Authorization/roleDefinitions/{role}",
        }
        return self.put("RoleAssignment", **{**inputs, **more})

    def identities(self) -> None:
        """Creates the identities of a control plane and a kubelet, with the roles that a cluster needs."""
        plane, kubelet = self.identity("plane"), self.identity("kubelet")
        self.assign(IDENTITY_OPERATOR, plane.outputs["principalId"], kubelet.id, 1)
        vnet = self.id(f"{NETWORK}/virtualNetworks/vnet")
        self.assign(NETWORK_CONTRIBUTOR, plane.outputs["principalId"], vnet, 2)

    def cluster_inputs(self, **more: Any) -> dict[str, Any]:
        identities = "Microsoft.ManagedIdentity/userAssignedIdentities"
        system = {
            "name": "system",
            "mode": "System",
            "count": 2,
            "vmSize": "Standard_D4ds_v5",
            "type": "VirtualMachineScaleSets",
            "osType": "Linux",
            "maxPods": 110,
            "vnetSubnetID": self.subnet_id,
            "nodeTaints": ["CriticalAddonsOnly=true:NoSchedule"],
        }
        return {
            "resourceGroupName": GROUP,
            "resourceName": "aks",
            "location": self.place,
            "dnsPrefix": "aks",
            "kubernetesVersion": "1.36",
            "identity": {"type": "UserAssigned", "userAssignedIdentities": [self.id(f"{identities}/plane")]},
            "identityProfile": {"kubeletidentity": {"resourceId": self.id(f"{identities}/kubelet")}},
            "agentPoolProfiles": [system],
            "networkProfile": dict(OVERLAY),
            "aadProfile": {"managed": True, "enableAzureRBAC": True},
            "disableLocalAccounts": True,
            "oidcIssuerProfile": {"enabled": True},
            "securityProfile": {"workloadIdentity": {"enabled": True}},
            "sku": {"name": "Base", "tier": "Standard"},
            **more,
        }

    def cluster(self, **more: Any) -> Resource:
        return self.cloud.put("ManagedCluster", self.cluster_inputs(**more), creating=True)

    def rules(self, kind: str, inputs: Mapping[str, Any]) -> set[str]:
        """Names of the rules that a PUT with these inputs breaks."""
        mapping, state = mappings()[kind], self.cloud.azure()
        params = {name: inputs.get(name, "") for name in mapping.path_params}
        resource_id = ids.build(mapping, state.directory.subscription, params)
        put = Put(mapping.kind, resource_id, inputs, state.get(resource_id), state)
        return {refusal.rule for refusal in (*schema.refusals(mapping, put.body, put.api_version), *refusals(put))}

    def platform(self) -> Resource:
        """Creates a cluster with its system pool, and all that it needs."""
        self.network()
        self.identities()
        return self.cluster()

    def pool_inputs(self, **more: Any) -> dict[str, Any]:
        return {
            "resourceGroupName": GROUP,
            "resourceName": "aks",
            "agentPoolName": "h100gpu",
            "mode": "User",
            "type": "VirtualMachineScaleSets",
            "osType": "Linux",
            "osSKU": "Ubuntu",
            "vmSize": "Standard_NC40ads_H100_v5",
            "count": 1,
            "maxPods": 110,
            "osDiskType": "Managed",
            "osDiskSizeGB": 256,
            "gpuProfile": {"driver": "None"},
            "scaleSetPriority": "Regular",
            "vnetSubnetID": self.gpu_subnet_id,
            "nodeLabels": {"physical-ai/gpu-driver": "operator"},
            "nodeTaints": ["nvidia.com/gpu=present:NoSchedule"],
            **more,
        }

    def pool(self, **more: Any) -> Resource:
        return self.cloud.put("AgentPool", self.pool_inputs(**more))


def space(*prefixes: str) -> dict[str, Any]:
    return {"addressSpace": {"addressPrefixes": list(prefixes)}}


IDENTITY_OPERATOR = "f1a07417-d97a-45cb-824c-7a7467783830"
NETWORK_CONTRIBUTOR = "4d97b98b-1d4f-4787-a291-c67834d212e7"
CLUSTER_ADMIN = "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b"
STANDARD = {"name": "Standard"}
STANDARD_ADDRESS: dict[str, Any] = {"sku": STANDARD, "publicIPAllocationMethod": "Static"}
OVERLAY: Mapping[str, str] = {
    "networkPlugin": "azure",
    "networkPluginMode": "overlay",
    "networkDataplane": "cilium",
    "networkPolicy": "cilium",
    "outboundType": "userAssignedNATGateway",
    "podCidr": "10.244.0.0/16",
    "serviceCidr": "10.0.0.0/16",
    "dnsServiceIP": "10.0.0.10",
}
SPOT: dict[str, Any] = {
    "scaleSetPriority": "Spot",
    "scaleSetEvictionPolicy": "Delete",
    "spotMaxPrice": -1,
    "nodeLabels": {"kubernetes.azure.com/scalesetpriority": "spot"},
    "nodeTaints": ["nvidia.com/gpu=present:NoSchedule", "kubernetes.azure.com/scalesetpriority=spot:NoSchedule"],
}
