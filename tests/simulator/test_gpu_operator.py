"""The GPU Operator's release in the life of a stack: what a preview shows of a change, upgrades, and no way back."""

from __future__ import annotations

from physical_ai.catalog import newest_release
from physical_ai.simulator.home import Home
from physical_ai.simulator.simulation import Simulation
from tests.simulator.physai import physai

STACK = "dev-westus2"
ONE_POOL = ("--set", "pools.rtxprogpu=null")
OLD = (*ONE_POOL, "--set", "gpuOperator.version=v26.3.3")
CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nvidiadrivers.nvidia.com"


def knows_upgrade_policy() -> bool:
    """Whether the cluster's NVIDIADriver definition is one of 26.7."""
    clusters = Simulation(STACK).clusters()
    version = clusters.client(clusters.ids()[0]).get(CRD)["spec"]["versions"][0]
    return "upgradePolicy" in version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def test_a_release_is_upgraded_to_the_next_line_with_its_definitions_and_never_back(home: Home) -> None:
    physai("up", *OLD)
    assert not knows_upgrade_policy()

    sharing = physai("preview", "--json", *OLD, "--set", "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}").json
    changed = {(change["type"].rpartition(":")[2], change["op"]) for change in sharing["changes"]}
    assert changed == {("ConfigMap", "update"), ("Release", "update"), ("ResourceQuota", "update")}

    assert physai("up", "--json", *ONE_POOL).json["changes"] == {"update": 2}
    assert knows_upgrade_policy()

    refused = physai("up", *OLD, expect=1)
    assert f"upgrade-downgrade: {newest_release().version} runs already" in refused.out + refused.err
    assert physai("preview", "--json", *ONE_POOL).json["changes"] == []
