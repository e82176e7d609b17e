"""The end of a deployment in the simulator: it waits for GPUs, fails with the shut gate, and goes on once it opens."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from simulator.home import Home
from simulator.simulation import Simulation
from tests.simulator.physai import physai

STACK = "dev-westus2"
HOST_DRIVER = "simulator.physical-ai/host-driver"
LOOKS_AT_THE_HOST = "nvidia-container-toolkit-daemonset"


def kubectl(simulation: Simulation, *arguments: str) -> str:
    """kubectl as a user calls it after `physai env`."""
    # Its cache of discovery goes with the simulation.
    environment = {**os.environ, **simulation.environment(), "KUBECACHEDIR": str(simulation.folder / "kube")}
    ran = subprocess.run(["kubectl", *arguments], env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def kick(simulation: Simulation, node: str, *daemonsets: str) -> None:
    for each in daemonsets:
        where = ("-l", f"app={each}", "--field-selector", f"spec.nodeName={node}")
        kubectl(simulation, "-n", "gpu-operator", "delete", "pod", *where)


def test_a_lost_driver_fails_the_deployment_until_the_kick(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    simulation = Simulation(STACK, home)
    try:
        physai("up", STACK)
        for name in ("h100gpu", "rtxprogpu"):
            pool = physai("status", STACK, "--json").pool(name)
            assert pool["gpus"] == {"nvidia.com/gpu": {"allocatable": 1, "expected": 1}}
            assert (pool["sharing"], pool["gates"]) == ("none", [])
        assert physai("gates", STACK, "--json").json["open"]

        node = kubectl(simulation, "get", "nodes", "-l", "agentpool=rtxprogpu", "-o", "name").removeprefix("node/")
        version = kubectl(simulation, "get", "node", node, "-o", "jsonpath={.metadata.annotations}")
        assert HOST_DRIVER in version
        kubectl(simulation, "annotate", "node", node, f"{HOST_DRIVER}-")
        kick(simulation, node, LOOKS_AT_THE_HOST, "nvidia-device-plugin-daemonset")

        monkeypatch.setenv("PHYSICAL_AI_GATE_SECONDS", "4")
        failed = physai("up", STACK, expect=1)
        assert f"node {node}: gate 'driver-validation' is shut" in failed.err
        assert ".driver-ctr-ready': No such file or directory" in failed.err
        assert f"kubectl -n gpu-operator delete pod {LOOKS_AT_THE_HOST}" in failed.err
        assert failed.err.count("What was made stays") == 1
        assert "Traceback" not in failed.err
        assert Path(simulation.environment()["KUBECONFIG"]).exists()
        assert simulation.outputs()["gpus"]["rtxprogpu"]["state"] == "waiting"
        [gate] = physai("status", STACK, "--json").pool("rtxprogpu")["gates"]
        assert (gate["node"], gate["gate"], gate["phase"]) == (node, "driver-validation", "Init:0/1")
        physai("preview", STACK)

        kubectl(simulation, "annotate", "node", node, f"{HOST_DRIVER}=595.91.07")
        assert physai("gates", STACK, expect=1).out.count("is shut") == 1
        kick(simulation, node, LOOKS_AT_THE_HOST)
        monkeypatch.setenv("PHYSICAL_AI_GATE_SECONDS", "60")
        physai("gates", STACK, "--wait")
        kubeconfig = simulation.environment()
        monkeypatch.setenv("PATH", kubeconfig["PATH"])
        physai("gates", STACK, "--kubeconfig", kubeconfig["KUBECONFIG"])
        assert physai("up", STACK, "--json").json["changes"] == {}
        assert simulation.outputs()["gpus"]["rtxprogpu"]["state"] == "ready"
    finally:
        simulation.discard()
