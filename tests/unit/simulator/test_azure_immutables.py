"""What a PUT may not change: one test for each row of the table."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from simulator.azure import ArmError
from simulator.azure.data import Rule, mappings, rules
from tests.support.azure_fakes import Azure

OTHER: dict[str, Any] = {
    "properties.vmSize": "Standard_NC80adis_H100_v5",
    "properties.osType": "Windows",
    "properties.osDiskType": "Ephemeral",
    "properties.osDiskSizeGB": 512,
    "properties.maxPods": 50,
    "properties.availabilityZones": ["2"],
    "properties.scaleSetPriority": "Spot",
    "properties.scaleSetEvictionPolicy": "Deallocate",
    "properties.spotMaxPrice": 1.5,
    "properties.gpuProfile.driver": "Install",
    "properties.kubeletDiskType": "Temporary",
    "properties.kubeletConfig": {"cpuManagerPolicy": "static"},
    "properties.linuxOSConfig": {"swapFileSizeMB": 1},
    "properties.networkProfile.nodePublicIPTags": [{"ipTagType": "a", "tag": "b"}],
    "properties.workloadRuntime": "KataVmIsolation",
    "properties.type": "VirtualMachines",
    "properties.linuxProfile": {"adminUsername": "me", "ssh": {"publicKeys": [{"keyData": "ssh-rsa A"}]}},
    "properties.windowsProfile.adminUsername": "someone",
    "properties.networkProfile.serviceCidr": "10.1.0.0/16",
    "properties.networkProfile.dnsServiceIP": "10.0.0.20",
    "properties.networkProfile.networkMode": "bridge",
    "properties.networkProfile.networkPlugin": "kubenet",
    "properties.networkProfile.networkPluginMode": None,
    "properties.networkProfile.podCidr": "10.245.0.0/16",
    "properties.networkProfile.networkDataplane": "azure",
    "properties.networkProfile.networkPolicy": "calico",
    "properties.networkProfile.outboundType": "loadBalancer",
    "properties.networkProfile.loadBalancerSku": "basic",
    "properties.apiServerAccessProfile.enablePrivateCluster": True,
    "properties.apiServerAccessProfile.privateDNSZone": "system",
    "properties.aadProfile.managed": False,
    "properties.oidcIssuerProfile.enabled": False,
    "identity.type": "None",
    "location": "swedencentral",
    "properties.enableEncryptionAtHost": True,
    "properties.enableUltraSSD": True,
}
BEFORE: dict[str, Any] = {"properties.windowsProfile.adminUsername": "admin"}


def immutable(kind: str) -> list[Rule]:
    return [rule for rule in rules().values() if rule.kind == "immutable" and rule.types == (kind,)]


def with_value(kind: str, inputs: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Inputs with the value that lands at a body path."""
    result = copy.deepcopy(inputs)
    source = path
    for name, target in mappings()[kind].inputs.items():
        if path == target or path.startswith(f"{target}."):
            source = name + path[len(target) :]
    *parents, last = source.split(".")
    holder = result
    for step in parents:
        holder = holder.setdefault(step, {})
    if value is None:
        holder.pop(last, None)
    else:
        holder[last] = value
    return result


@pytest.fixture(scope="module")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Azure:
    made = Azure(Path(tmp_path_factory.mktemp("azure")) / "azure.json")
    made.platform()
    made.pool()
    return made


@pytest.mark.parametrize("rule", immutable("AgentPool"), ids=lambda rule: rule.id)
def test_node_pool_property_is_fixed_at_creation(azure: Azure, rule: Rule) -> None:
    changed = with_value("AgentPool", azure.pool_inputs(), rule.path, OTHER.get(rule.path, "/other"))
    assert rule.id in azure.rules("AgentPool", changed)


@pytest.mark.parametrize("rule", immutable("ManagedCluster"), ids=lambda rule: rule.id)
def test_cluster_property_is_fixed_at_creation(azure: Azure, rule: Rule) -> None:
    inputs = with_value("ManagedCluster", azure.cluster_inputs(), rule.path, BEFORE.get(rule.path))
    changed = with_value("ManagedCluster", inputs, rule.path, OTHER.get(rule.path, "/other"))
    assert rule.id in azure.rules("ManagedCluster", changed)


def test_the_same_inputs_change_nothing(azure: Azure) -> None:
    assert azure.rules("AgentPool", azure.pool_inputs()) == set()
    assert azure.rules("ManagedCluster", azure.cluster_inputs()) == set()


MUTABLE: dict[str, Any] = {
    "count": 3,
    "nodeLabels": {"physical-ai/gpu-driver": "grid"},
    "nodeTaints": ["nvidia.com/gpu=present:NoSchedule", "team=robots:NoSchedule"],
    "tags": {"cost": "robots"},
    "upgradeSettings": {"maxSurge": "1"},
    "osSKU": "Ubuntu2204",
    "scaleDownMode": "Deallocate",
    "powerState": {"code": "Stopped"},
    "securityProfile": {"enableSecureBoot": True},
    "orchestratorVersion": "1.36",
}


@pytest.mark.parametrize("name", MUTABLE)
def test_other_node_pool_properties_change_in_place(azure: Azure, name: str) -> None:
    assert azure.rules("AgentPool", azure.pool_inputs(**{name: MUTABLE[name]})) == set()


def test_writing_out_a_default_is_no_change(azure: Azure) -> None:
    spelled = {"kubeletDiskType": "OS", "workloadRuntime": "OCIContainer", "scaleDownMode": "Delete"}
    assert azure.rules("AgentPool", azure.pool_inputs(**spelled)) == set()


def test_leaving_out_the_driver_flips_it_to_install_and_is_refused(azure: Azure) -> None:
    inputs = azure.pool_inputs()
    del inputs["gpuProfile"]
    assert azure.rules("AgentPool", inputs) == {"imm-agentpool-gpuProfile-driver"}


def test_oidc_issuer_may_be_turned_on_but_not_off(tmp_path: Path) -> None:
    azure = Azure(tmp_path / "azure.json")
    azure.network()
    azure.identities()
    off = {"oidcIssuerProfile": {"enabled": False}, "securityProfile": {}}
    azure.cluster(**off)
    azure.put("ManagedCluster", **azure.cluster_inputs())
    with pytest.raises(ArmError) as refused:
        azure.put("ManagedCluster", **azure.cluster_inputs(**off))
    assert refused.value.refusal.code == "OIDCIssuerCannotBeDisabled"


def test_refusal_names_the_property_as_aks_does(azure: Azure) -> None:
    with pytest.raises(ArmError) as refused:
        azure.pool(maxPods=50)
    refusal = refused.value.refusal
    assert (refusal.status, refusal.code, refusal.target) == (400, "PropertyChangeNotAllowed", "properties.maxPods")
    assert "'properties.maxPods' is not allowed" in refusal.message
