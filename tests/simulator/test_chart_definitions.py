"""The models' definitions and objects in a real API server."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from physical_ai.planning.plan import make_plan
from physical_ai.settings import existing, load
from simulator.charts import crds
from simulator.cluster.definitions import replace_definition
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import MERGE_PATCH
from simulator.kubernetes.definitions import DEFINITIONS
from tests.support.charts import DRIVERS, OPERATOR, OURS, POLICY, Json, driver, helm, model, render, run
from tests.support.simulated_cluster import SimulatedCluster


class ApiServer(Protocol):
    kubeconfig: str
    path: Path


@pytest.fixture(scope="module")
def installed(api_server: ApiServer, shared_cluster: SimulatedCluster) -> Iterator[Client]:
    """v26.7.0 as helm installs it. Helm changes no definitions that exist: those of another release are replaced."""
    shared_cluster.defined = ""
    client = Client(api_server.kubeconfig)
    for item in crds(OPERATOR, "v26.7.0"):
        if client.find(f"{DEFINITIONS}/{item['metadata']['name']}"):
            replace_definition(client, item)
    where = ("--namespace", OPERATOR, "--kubeconfig", str(api_server.path))
    run("install", OPERATOR, str(model("v26.7.0")), "--create-namespace", *where, values=OURS)
    yield client
    subprocess.run([helm(), "uninstall", OPERATOR, "--no-hooks", *where], check=True, capture_output=True)


def test_helm_installs_the_chart_and_the_policy_is_what_it_renders(installed: Client) -> None:
    rendered = next(item for item in render("v26.7.0", OURS) if item["kind"] == "ClusterPolicy")
    live = installed.get(f"{POLICY}/cluster-policy")
    assert live["spec"]["toolkit"] == rendered["spec"]["toolkit"]
    assert live["spec"]["daemonsets"] == rendered["spec"]["daemonsets"]
    # The definition's own defaults are there too.
    assert live["spec"]["hostPaths"]["kubeletRootDir"] == "/var/lib/kubelet"


def test_an_unknown_field_is_pruned(installed: Client) -> None:
    path = f"{POLICY}/cluster-policy"
    live = installed.patch(path, {"spec": {"driver": {"tolerations": [{"key": "a"}]}, "nonsense": 1}}, MERGE_PATCH)
    assert "tolerations" not in live["spec"]["driver"]
    assert "nonsense" not in live["spec"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"mig": {"strategy": "weird"}}, 'spec.mig.strategy: Unsupported value: "weird"'),
        ({"daemonsets": {"updateStrategy": "Recreate"}}, "spec.daemonsets.updateStrategy: Unsupported value"),
        ({"toolkit": {"image": "-1:"}, "driver": {"enabled": "yes"}}, "spec.driver.enabled"),
        ({"gfd": None}, "spec.gfd: Required value"),
    ],
)
def test_a_value_the_policy_cannot_have_is_refused(installed: Client, spec: Json, words: str) -> None:
    with pytest.raises(ApiError, match=words):
        installed.patch(f"{POLICY}/cluster-policy", {"spec": spec}, MERGE_PATCH)


@pytest.fixture
def own_driver(installed: Client) -> Iterator[str]:
    installed.request("POST", DRIVERS, driver("own", usePrecompiled=False, nodeSelector={"a": "b"}, surprise=True))
    yield f"{DRIVERS}/own"
    installed.request("DELETE", f"{DRIVERS}/own")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"driverType": "vgpu"}, "driverType is an immutable field"),
        ({"usePrecompiled": True}, "usePrecompiled is an immutable field"),
        ({"default": True}, "default NVIDIADriver must not use nodeSelector"),
        ({"upgradePolicy": {"maxParallelUpgrades": -1}}, "should be greater than or equal to 0"),
    ],
)
def test_a_driver_keeps_upstreams_rules(installed: Client, own_driver: str, spec: Json, words: str) -> None:
    with pytest.raises(ApiError, match=words):
        installed.patch(own_driver, {"spec": spec}, MERGE_PATCH)
    allowed = installed.patch(own_driver, {"spec": {"version": "580.173.02", "nodeSelector": None}}, MERGE_PATCH)
    assert allowed["spec"]["default"] is False
    assert "surprise" not in allowed["spec"]
    assert installed.patch(own_driver, {"spec": {"default": True}}, MERGE_PATCH)["spec"]["default"] is True


@pytest.mark.parametrize("stack", existing())
def test_the_drivers_of_every_committed_stack_have_known_fields_only(installed: Client, stack: str) -> None:
    settings = load(stack).settings
    plan = make_plan(settings).gpu
    assert bool(plan.drivers) == (settings.gpu_operator.driver_owner == "NVIDIADriver")
    for resource in plan.drivers.values():
        given = {**driver(resource.name), "spec": dict(resource.spec)}
        checked = {"dryRun": "All", "fieldValidation": "Strict"}
        assert installed.request("POST", DRIVERS, given, checked)["spec"].items() >= resource.spec.items()
    unknown = {**driver("x"), "spec": {"image": "driver", "nodeselector": {}}}
    with pytest.raises(ApiError, match="unknown field"):
        installed.request("POST", DRIVERS, unknown, {"dryRun": "All", "fieldValidation": "Strict"})


def test_a_gpu_cluster_has_one_name(installed: Client) -> None:
    path = "/apis/nvidia.com/v1alpha1/gpuclusters"
    other = {"apiVersion": "nvidia.com/v1alpha1", "kind": "GPUCluster", "metadata": {"name": "mine"}}
    with pytest.raises(ApiError, match="named gpu-cluster"):
        installed.request("POST", path, other)


def test_a_rule_of_the_features_chart_is_taken(installed: Client) -> None:
    rendered = render("v26.7.0", {"nfd": {"nodefeaturerules": True}})
    rule = next(item for item in rendered if item["kind"] == "NodeFeatureRule")
    path = "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeaturerules"
    live = installed.request("POST", path, rule)
    assert live["spec"] == rule["spec"]
    installed.request("DELETE", f"{path}/{rule['metadata']['name']}")
