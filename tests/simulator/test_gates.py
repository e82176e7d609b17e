"""A deployment in the simulator: it waits for GPUs, fails with the closed gate, and succeeds once it opens.

And why a Pod gets no GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from simulator.simulation import Simulation
from tests.simulator.physai import physai
from tests.support.waiting import LIMIT

STACK = "dev-westus2"
PLUGIN_LABEL = "nvidia.com/gpu.deploy.device-plugin"


def kubectl(simulation: Simulation, *arguments: str) -> str:
    """kubectl as a user calls it after `physai env`."""
    # Its cache of discovery goes with the simulation.
    environment = {**os.environ, **simulation.environment(), "KUBECACHEDIR": str(simulation.folder / "kube")}
    ran = subprocess.run(["kubectl", *arguments], env=environment, capture_output=True, text=True, check=True)
    return ran.stdout.strip()


def test_an_operand_kept_off_fails_the_deployment_until_its_label_is_back(
    running: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = physai("status", STACK, "--json")
    for pool in map(status.pool, ("h100gpu", "rtxprogpu")):
        assert pool["gpus"] == {"nvidia.com/gpu": {"allocatable": 1, "expected": 1}}
        assert (pool["sharing"], pool["gates"]) == ("none", [])
    assert physai("gates", STACK, "--json").json["open"]

    node = kubectl(running, "get", "nodes", "-l", "agentpool=h100gpu", "-o", "name").removeprefix("node/")
    kubectl(running, "label", "--overwrite", "node", node, f"{PLUGIN_LABEL}=false")

    monkeypatch.setenv("PHYSICAL_AI_GATE_SECONDS", "4")
    failed = physai("up", STACK, expect=1)
    assert f"node {node}: gate 'deploy-labels' is closed" in failed.err
    assert f"{PLUGIN_LABEL}=false" in failed.err
    assert failed.err.count("Created resources remain") == 1
    assert "Traceback" not in failed.err
    assert Path(running.environment()["KUBECONFIG"]).exists()
    assert running.outputs()["gpus"]["h100gpu"]["state"] == "waiting"
    [gate] = physai("status", STACK, "--json").pool("h100gpu")["gates"]
    assert (gate["node"], gate["gate"]) == (node, "deploy-labels")

    assert physai("gates", STACK, expect=1).out.count("is closed") == 1
    kubectl(running, "label", "--overwrite", "node", node, f"{PLUGIN_LABEL}=true")
    monkeypatch.setenv("PHYSICAL_AI_GATE_SECONDS", "840")
    physai("gates", STACK, "--wait")
    kubeconfig = running.environment()
    monkeypatch.setenv("PATH", kubeconfig["PATH"])
    physai("gates", STACK, "--kubeconfig", kubeconfig["KUBECONFIG"])
    assert physai("up", STACK, "--json").json["changes"] == {}
    assert running.outputs()["gpus"]["h100gpu"]["state"] == "ready"


def test_why_a_pod_gets_no_gpu(running: Simulation) -> None:
    """Read from the real API server, with the scheduler's own message."""
    healthy = physai("doctor", STACK).out
    assert healthy.startswith("nothing is wrong in what could be read\n")
    assert "physai up dev-westus2 --telemetry" in healthy
    overrides = json.dumps({"spec": {"nodeSelector": {"agentpool": "h100gpu"}}})
    kubectl(running, "run", "stray", "--image=busybox", "--restart=Never", f"--overrides={overrides}")
    try:
        kubectl(running, "wait", "--for=condition=PodScheduled=false", "pod/stray", f"--timeout={LIMIT:g}s")
        [cause] = physai("why", "default/stray", STACK, "--json", expect=3).json["causes"]
        assert cause["cause"] == "toleration-missing"
        assert "untolerated taint" in cause["evidence"]
        assert [each["subjects"] for each in physai("doctor", STACK, "--json", expect=3).json["findings"]] == [
            ["pod default/stray"]
        ]
        assert "Did you mean" in physai("why", "default/strax", STACK, expect=2).err
    finally:
        kubectl(running, "delete", "pod", "stray", "--now")
