"""The recorded architecture of February 2026 runs whole: retired size, old Kubernetes, one ClusterPolicy, both GPUs."""

from __future__ import annotations

import subprocess

from physical_ai.simulator.home import Home
from physical_ai.simulator.simulation import Simulation
from tests.simulator.physai import physai

STACK = "seed-westus2"
POLICIES = "/apis/nvidia.com/v1/clusterpolicies"
DRIVERS = "/apis/nvidia.com/v1alpha1/nvidiadrivers"
DAEMONSETS = "/apis/apps/v1/namespaces/gpu-operator/daemonsets"


def gpus_appear(simulation: Simulation, pool: str) -> None:
    """Waits until the pool's nodes offer their GPU."""
    allocatable = r"--for=jsonpath={.status.allocatable.nvidia\.com/gpu}=1"
    selector = f"kubernetes.azure.com/agentpool={pool}"
    command = ["kubectl", "wait", "node", "--selector", selector, allocatable, "--timeout=60s"]
    environment = {**simulation.environment(), "KUBECACHEDIR": str(simulation.folder / "kube")}
    subprocess.run(command, env=environment, check=True, capture_output=True)


def test_the_architecture_of_february_2026_starts_with_its_values_and_reports_what_it_is(home: Home) -> None:
    up = physai("up", STACK)
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
    physai("down", STACK)
    assert not simulation.exists
