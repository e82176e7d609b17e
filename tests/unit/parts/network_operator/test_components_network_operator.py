"""The Network Operator in a stack: its release, its policy, and what other parts know of it."""

from __future__ import annotations

from typing import Any

from physical_ai.safe_yaml import load as parsed
from tests.support.recording import Recording
from tests.unit.conftest import Simulate

POOL: dict[str, Any] = parsed(
    "{sku: Standard_ND96isr_H100_v5, driver: {source: operator}, subnet: 10.40.3.0/26, priority: Regular, fabric:"
    " infiniband, scale: {count: 2}}"
)


def stack(simulate: Simulate, **more: Any) -> Recording:
    return simulate("dev-westus2", {"networkOperator": {}, "pools": {"ndgpu": POOL}} | more)


def namespaces(found: Recording) -> dict[str, Any]:
    return {each.inputs["metadata"]["name"]: each.inputs["metadata"] for each in found.of_type("Namespace")}


def test_nothing_of_it_unless_asked_for(simulate: Simulate) -> None:
    found = simulate("dev-westus2", {})
    assert "network-operator" not in namespaces(found)
    assert not [each for each in found.of_type("Release") if each.inputs["name"] == "network-operator"]


def test_the_release_comes_after_the_one_with_node_feature_discovery(simulate: Simulate) -> None:
    found = stack(simulate)
    releases = {each.inputs["name"]: each for each in found.of_type("Release")}
    release = releases["network-operator"]
    assert releases["gpu-operator"].urn in release.options.depends_on
    assert release.inputs["values"]["nfd"] == {"enabled": False}
    labels = namespaces(found)["network-operator"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "privileged"


def test_the_policy_comes_after_the_release_and_is_deleted_before_it(simulate: Simulate) -> None:
    found = stack(simulate)
    policy = found.resource("NicClusterPolicy", "physical-ai-network-operator-policy")
    release = next(each for each in found.of_type("Release") if each.inputs["name"] == "network-operator")
    assert policy.inputs["metadata"]["name"] == "nic-cluster-policy"
    assert release.urn in policy.options.depends_on


def test_networks_of_pods_come_after_the_policy_which_brings_their_kind(simulate: Simulate) -> None:
    network = {"interface": "ens2f0np0", "subnet": "192.168.100.0/24"}
    operator = {"secondaryNetwork": True, "nvIpam": True, "networks": {"rail-0": network}}
    found = stack(simulate, networkOperator=operator, osmo={"platforms": {"ndgpu": {"networks": ["rail-0"]}}})
    policy = found.resource("NicClusterPolicy", "physical-ai-network-operator-policy")
    for kind, namespace in (("IPPool", "network-operator"), ("MacvlanNetwork", None)):
        made = found.resource(kind, f"physical-ai-network-operator-{kind.lower()}-rail-0")
        assert (made.inputs["metadata"]["name"], made.inputs["metadata"].get("namespace")) == ("rail-0", namespace)
        assert policy.urn in made.options.depends_on
    plain = stack(simulate)
    assert not plain.of_type("IPPool")
    assert not plain.of_type("MacvlanNetwork")


def test_isolation_covers_its_namespace(simulate: Simulate) -> None:
    found = stack(simulate, network={"isolation": {"platform": "deny"}})
    policies = [each.inputs["metadata"] for each in found.of_type("NetworkPolicy")]
    own = {each["name"] for each in policies if each["namespace"] == "network-operator"}
    assert own == {"default-deny", "operator"}


def test_workflows_find_their_node_s_topology_and_gangs_their_fabric(simulate: Simulate) -> None:
    found = stack(simulate, osmo={"platforms": {"ndgpu": {"rdma": True}}})
    (files,) = [each for each in found.of_type("ConfigMap") if each.inputs["metadata"]["name"] == "nccl-topology"]
    assert files.inputs["metadata"]["namespace"] == "osmo-workflows"
    assert "ndv5-topo.xml" in str(files.inputs["data"])
    topology = found.resource("Topology", "physical-ai-osmo-topology")
    levels = [each["nodeLabel"] for each in topology.inputs["spec"]["levels"]]
    assert levels == ["kubernetes.azure.com/agentpool", "kubernetes.io/hostname"]
    plain = simulate("dev-westus2", {})
    assert not [each for each in plain.of_type("ConfigMap") if each.inputs["metadata"]["name"] == "nccl-topology"]
    assert not plain.of_type("Topology")
