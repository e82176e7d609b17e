"""The agents that share a client start from the files that their Pods mount, and from nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from physical_ai.kubernetes.objects import Json
from physical_ai.planning import agents, manifests

AGENTS = {
    "cluster_cleanup": manifests.load("cluster-cleanup.yaml"),
    "data_snapshots": manifests.load_of("in_cluster_data", "snapshots.yaml"),
    "gpu_evidence": manifests.load("gpu-evidence.yaml"),
    "osmo_token": manifests.load("osmo-token.yaml"),
}


@pytest.mark.parametrize("agent", AGENTS)
def test_it_starts_from_what_its_config_map_holds(agent: str, tmp_path: Path) -> None:
    files = agents.package(agent)
    data = agents.data(files)
    for item in agents.items(files):
        (tmp_path / item["path"]).parent.mkdir(exist_ok=True)
        (tmp_path / item["path"]).write_text(data[item["key"]])
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-B", "-s", "-m", agent, "--help"]
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--" in done.stdout


def containers(manifest: Json) -> list[Json]:
    """The containers of the Pods that a manifest's object makes."""
    spec = manifest.get("spec", {})
    spec = spec.get("jobTemplate", {}).get("spec", spec)
    return spec.get("template", {}).get("spec", {}).get("containers", [])


@pytest.mark.parametrize("agent", AGENTS)
def test_its_files_are_mounted_where_python_looks(agent: str) -> None:
    found = [each for manifest in AGENTS[agent] for each in containers(manifest)]
    assert found
    for each in found:
        (python_path,) = (item["value"] for item in each["env"] if item["name"] == "PYTHONPATH")
        assert python_path in [mount["mountPath"] for mount in each["volumeMounts"] if mount["name"] == "agent"]
        assert agent in each["command"]
