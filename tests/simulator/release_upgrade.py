"""The GPU Operator's release in the life of a stack: what a preview shows of a change, upgrades, and no way back."""

from __future__ import annotations

from physical_ai.catalog import newest_release
from simulator.cluster.objects import labels
from simulator.gpu import names
from simulator.kubernetes.client import Client
from simulator.kubernetes.definitions import DEFINITIONS
from simulator.simulation import Simulation
from tests.simulator.physai import physai

OLD = ("--set", "gpuOperator.version=v26.3.3")
CRD = f"{DEFINITIONS}/nvidiadrivers.nvidia.com"


def knows_upgrade_policy(client: Client) -> bool:
    """Whether the cluster's NVIDIADriver definition is one of 26.7."""
    version = client.get(CRD)["spec"]["versions"][0]
    return "upgradePolicy" in version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]


def the_release_is_upgraded_and_never_back(stack: str, *settings: str) -> None:
    """Of a stack that was deployed with these settings and the old release: with its definitions and GPUs."""
    clusters = Simulation(stack).clusters()
    client = clusters.client(clusters.ids()[0])
    assert not knows_upgrade_policy(client)

    shared = (*settings, *OLD, "--set", "pools.h100gpu.sharing={timeSlicing: {replicas: 4}}")
    sharing = physai("preview", stack, "--json", *shared).json
    changed = {(change["type"].rpartition(":")[2], change["op"]) for change in sharing["changes"]}
    # A field of the NVIDIADriver is known only when the release is: a preview shows it with every change of that.
    assert changed == {(kind, "update") for kind in ("ConfigMap", "NVIDIADriver", "Release", "ResourceQuota")}

    upgraded = physai("up", stack, "--json", *settings)
    assert upgraded.json["changes"] == {"update": 2}
    assert knows_upgrade_policy(client)
    assert [upgraded.pool(pool)["gpusAllocatable"] for pool in ("h100gpu", "rtxprogpu")] == [1, 1]
    (h100,) = client.get("/api/v1/nodes", {"labelSelector": "agentpool=h100gpu"})["items"]
    assert names.DRIVER_OWNER in labels(h100), "26.7 does not own the driver"

    refused = physai("up", stack, *settings, *OLD, expect=1)
    assert f"upgrade-downgrade: {newest_release().version} runs already" in refused.out + refused.err
    assert physai("preview", stack, "--json", *settings).json["changes"] == []
