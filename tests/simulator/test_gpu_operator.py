"""The GPU Operator's release in the life of a stack: what a preview shows of a change, upgrades, and no way back."""

from __future__ import annotations

from physical_ai.catalog import newest_release
from physical_ai.simulator.cluster.objects import labels
from physical_ai.simulator.gpu import names
from physical_ai.simulator.home import Home
from physical_ai.simulator.kubernetes.client import Client
from physical_ai.simulator.simulation import Simulation
from tests.simulator.physai import physai

STACK = "dev-westus2"
OLD = ("--set", "gpuOperator.version=v26.3.3")
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nvidiadrivers.nvidia.com"


def client() -> Client:
    clusters = Simulation(STACK).clusters()
    return clusters.client(clusters.ids()[0])


def knows_upgrade_policy() -> bool:
    """Whether the cluster's NVIDIADriver definition is one of 26.7."""
    version = client().get(CRD)["spec"]["versions"][0]
    return "upgradePolicy" in version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def test_a_release_is_upgraded_to_the_next_line_with_its_definitions_and_gpus_and_never_back(home: Home) -> None:
    physai("up", *OLD)
    assert not knows_upgrade_policy()

    sharing = physai("preview", "--json", *OLD, "--set", "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}").json
    changed = {(change["type"].rpartition(":")[2], change["op"]) for change in sharing["changes"]}
    # A field of the NVIDIADriver is known only when the release is: a preview shows it with every change of that.
    assert changed == {(kind, "update") for kind in ("ConfigMap", "NVIDIADriver", "Release", "ResourceQuota")}

    upgraded = physai("up", "--json")
    assert upgraded.json["changes"] == {"update": 2}
    assert knows_upgrade_policy()
    assert [upgraded.pool(pool)["gpusAllocatable"] for pool in ("h100gpu", "rtxprogpu")] == [1, 1]
    (h100,) = client().get("/api/v1/nodes", {"labelSelector": "agentpool=h100gpu"})["items"]
    assert names.DRIVER_OWNER in labels(h100), "26.7 does not own the driver"

    refused = physai("up", *OLD, expect=1)
    assert f"upgrade-downgrade: {newest_release().version} runs already" in refused.out + refused.err
    assert physai("preview", "--json").json["changes"] == []
