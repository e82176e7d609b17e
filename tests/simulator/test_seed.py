"""The recorded architecture of February 2026 runs beside another stack: retired size, one ClusterPolicy, both GPUs."""

from __future__ import annotations

import subprocess

import pytest

from simulator import processes
from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.waiting import LIMIT

STACK, OTHER = "seed-westus2", "dev-westus2"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
DRIVERS = "/apis/nvidia.com/v1alpha1/nvidiadrivers"
DAEMONSETS = "/apis/apps/v1/namespaces/gpu-operator/daemonsets"


def gpus_appear(simulation: Simulation, pool: str) -> None:
    """Waits until the pool's nodes offer their GPU."""
    allocatable = r"--for=jsonpath={.status.allocatable.nvidia\.com/gpu}=1"
    selector = f"kubernetes.azure.com/agentpool={pool}"
    command = ["kubectl", "wait", "node", "--selector", selector, allocatable, f"--timeout={LIMIT:g}s"]
    environment = {**simulation.environment(), "KUBECACHEDIR": str(simulation.folder / "kube")}
    subprocess.run(command, env=environment, check=True, capture_output=True)


@pytest.mark.deep
def test_the_architecture_of_february_2026_has_its_values_and_goes_down_once_protection_is_lifted(
    running: Simulation,
) -> None:
    up = physai("up", STACK, "--set", "protect=true")
    assert "simulated Azure takes sizes and Kubernetes versions that the real one has retired" in up.err
    assert "do not deploy it to Azure" in up.err
    simulation = Simulation(STACK)
    for pool in ("h100gpu", "rtxprogpu"):
        gpus_appear(simulation, pool)
    status = physai("status", STACK, "--json")
    assert status.pool("rtxprogpu")["size"] == "Standard_NC128ds_xl_RTXPRO6000BSE_v6"
    assert [status.pool(pool)["gpusAllocatable"] for pool in ("h100gpu", "rtxprogpu")] == [1, 1]
    clusters = simulation.clusters()
    client = clusters.client(clusters.ids()[0])
    nodes = client.get("/api/v1/nodes")["items"]
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in nodes} == {"v1.32.5"}
    (policy,) = client.get(POLICIES)["items"]
    assert (policy["spec"]["driver"]["version"], policy["spec"]["driver"]["kernelModuleType"]) == (
        "580.82.07",
        "proprietary",
    )
    assert client.get(DRIVERS)["items"] == []
    daemonsets = {item["metadata"]["name"]: item for item in client.get(DAEMONSETS)["items"]}
    image = daemonsets["nvidia-driver-daemonset"]["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image.endswith("driver:580.82.07-ubuntu22.04")
    assert daemonsets["nvidia-driver-daemonset"]["status"]["desiredNumberScheduled"] == 1
    assert "nvidia-mig-manager" not in daemonsets

    assert client.server != running.clusters().client(running.clusters().ids()[0]).server
    refused = physai("down", STACK, expect=1)
    assert f"physai up {STACK} --set protect=false" in refused.err
    assert simulation.exists
    physai("up", STACK, "--set", "protect=false")
    planes = list(simulation.folder.glob("clusters/*/"))
    assert any(processes.running(plane) for plane in planes)
    physai("down", STACK)
    assert not any(processes.running(plane) for plane in planes)
    assert not simulation.exists
    assert "nothing to do" in physai("down", STACK).err
    assert physai("status", OTHER, "--json").pool("h100gpu")["ready"] == 1
