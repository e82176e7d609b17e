"""The stand-in for Kubernetes connects to the simulation's own clusters, and runs no login but theirs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.clusters import SLOTS_FILE, Clusters
from simulator.kubernetes.kubeconfig import load
from simulator.kubernetes.options import KubernetesOptions
from simulator.kubernetes.provider import Kubernetes
from simulator.tools import Toolbox

SERVER = "https://127.0.0.1:6443"


def kubeconfig(user: dict[str, Any], server: str = SERVER) -> str:
    return yaml.safe_dump(
        {
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


def login(command: str, **more: Any) -> dict[str, Any]:
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, **more}}


@pytest.fixture
def clusters(tmp_path: Path) -> Clusters:
    folder = tmp_path / "clusters"
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "port.json").write_text("6443")
    (folder / SLOTS_FILE).write_text(json.dumps({"/subscriptions/s/cluster": "1"}))
    return Clusters(folder, Toolbox(()))


@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (kubeconfig(login("kubelogin", env=[{"name": "AAD_LOGIN_METHOD", "value": "msi"}])), ""),
        (kubeconfig({"token": "t"}), ""),
        (kubeconfig({}, "https://127.0.0.1:9999"), "is not a cluster of this simulation"),
        (kubeconfig({}, "https://example.invalid"), "is not a cluster of this simulation"),
        (kubeconfig(login("sh", args=["-c", "id"])), "logs in with sh"),
        (kubeconfig(login("./kubelogin")), "logs in with ./kubelogin"),
        (kubeconfig(login("/elsewhere/kubelogin")), "logs in with /elsewhere/kubelogin"),
        (kubeconfig(login("kubelogin", env=[{"name": "LD_PRELOAD", "value": "x.so"}])), "sets LD_PRELOAD"),
    ],
)
def test_only_the_simulations_own_clusters_and_login_are_used(clusters: Clusters, given: str, refusal: str) -> None:
    found = clusters.refusal(load(given))
    assert refusal in found if refusal else found == ""


def test_a_refused_kubeconfig_runs_nothing(clusters: Clusters, tmp_path: Path) -> None:
    proof = tmp_path / "ran"
    provider = Kubernetes(KubernetesOptions(refused=clusters.refusal))
    provider.configure({"kubeconfig": kubeconfig(login("touch", args=[str(proof)]))})
    assert not proof.exists()
    free = Kubernetes(KubernetesOptions())
    free.configure({"kubeconfig": kubeconfig(login("touch", args=[str(proof)]))})
    assert proof.exists(), "the test's own command does not run"
