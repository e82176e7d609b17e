"""Admission policies for GPU Pods, as a stack has them, asked of a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from physical_ai.planning import manifests
from physical_ai.planning.gpu_admission import policies
from physical_ai.planning.pod_security import pod_security_policies
from physical_ai.planning.registry_images import registry_policies
from physical_ai.settings import Overlay, Settings, load
from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH
from tests.simulator.conftest import ApiServer
from tests.support.in_force import wait_until_in_force
from tests.support.waiting import until

TEAM, OPERATOR = "team-vision", "gpu-operator"
CAPABILITIES, VISIBLE = "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES"
Json = dict[str, Any]


class Cluster:
    """An API server with a stack's policies, and what it says to who makes Pods."""

    def __init__(self, kubeconfig: str) -> None:
        self.warnings: list[str] = []
        self.client = Client(kubeconfig)
        http: httpx.Client = self.client._connection.http  # pyright: ignore[reportPrivateUsage]
        http.event_hooks["response"].append(self._hear)

    def _hear(self, response: httpx.Response) -> None:
        self.warnings += response.headers.get_list("warning")

    def put(self, item: Json) -> None:
        path = self.client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"])
        self.client.patch(path, item, APPLY_PATCH, {"fieldManager": "test", "force": "true"})

    def make(self, pod: Json, namespace: str = TEAM) -> Json:
        """What the Pod would be, with nothing of it kept."""
        self.warnings.clear()
        return self.client.request("POST", f"/api/v1/namespaces/{namespace}/pods", pod, {"dryRun": "All"})

    def refuses(self, made: Json) -> bool:
        try:
            self.make(made)
        except ApiError as refusal:
            return refusal.code == 422
        return False

    def remove(self, found: list[Json]) -> None:
        for item in reversed(found):
            self.client.request(
                "DELETE", self.client.path(item["apiVersion"], item["kind"], None, item["metadata"]["name"])
            )


def settings(*assignments: str) -> Settings:
    return load("dev-westus2", [Overlay.assign(list(assignments))] if assignments else []).settings


def pod(*, gpu: str = "nvidia.com/gpu", env: list[Json] | None = None, **spec: Any) -> Json:
    container: Json = {"name": "train", "image": "registry.example/train:1"}
    if gpu:
        container["resources"] = {"limits": {gpu: "1"}}
    if env:
        container["env"] = env
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "train-0"},
        "spec": {"containers": [container], **spec},
    }


@pytest.fixture(scope="module")
def bare(api_server: ApiServer) -> Cluster:
    cluster = Cluster(api_server.kubeconfig)
    for item in manifests.namespaces():
        cluster.put(item)
    cluster.put({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": TEAM}})
    for name in ("nvidia", "nvidia-cdi"):
        runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
        if cluster.client.find(path := cluster.client.path("node.k8s.io/v1", "RuntimeClass", None, name)):
            # Left by another module, and about to be collected as garbage: its owner is gone.
            cluster.client.request("DELETE", path)
        cluster.put(runtime)
    for namespace in (TEAM, OPERATOR, "osmo-workflows"):
        account = f"/api/v1/namespaces/{namespace}/serviceaccounts/default"
        until(lambda path=account: cluster.client.find(path) is not None, "no default account")
    return cluster


@pytest.fixture(scope="module")
def warned(bare: Cluster) -> Iterator[Cluster]:
    """As by default, but with nothing injected."""
    found = policies(settings("admission.injectCapabilities=false"))
    for item in found:
        bare.put(item)
    wait_until_in_force(bare.client)
    yield bare
    bare.remove(found)
    wait_until_in_force(bare.client)  # for the tests of other modules


POOLS = ("h100gpu", "rtxprogpu")
VALUES = {"agentpool": "h100gpu"}
PLACED: Json = {"nodeSelector": {"agentpool": "h100gpu"}}
ALL = [{"name": CAPABILITIES, "value": "all"}]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (pod(), ["NVIDIA_DRIVER_CAPABILITIES", "nodeSelector agentpool"]),
        (pod(env=ALL), ["nodeSelector agentpool"]),
        (pod(**PLACED), ["NVIDIA_DRIVER_CAPABILITIES"]),
        (pod(env=ALL, **PLACED), []),
        (pod(gpu=""), []),
        (pod(env=[{"name": CAPABILITIES, "value": ""}], **PLACED), ["NVIDIA_DRIVER_CAPABILITIES"]),
        (pod(env=[{"name": CAPABILITIES, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}], **PLACED), []),
        (pod(gpu="nvidia.com/mig-1g.12gb"), ["NVIDIA_DRIVER_CAPABILITIES"]),
        (pod(env=ALL, nodeSelector={"kubernetes.io/os": "linux"}), ["nodeSelector agentpool"]),
        (pod(env=ALL, nodeSelector={"node.kubernetes.io/instance-type": "Standard_NC40ads_H100_v5"}), []),
        (pod(env=ALL, nodeSelector={"physical-ai/gpu-driver": "grid"}), []),
        (pod(env=ALL, nodeSelector={"kubernetes.io/hostname": "aks-h100gpu-1"}), []),
        (pod(env=ALL, nodeSelector={"kubernetes.io/hostname": ""}), ["nodeSelector agentpool"]),
        (pod(env=ALL, nodeSelector={"agentpool": "cpu"}), ["nodeSelector agentpool"]),
        (pod(env=ALL, nodeName="aks-h100gpu-1", **PLACED), ["names its node"]),
        (pod(gpu="", resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}]), ["nodeSelector agentpool"]),
    ],
)
def test_a_created_pod_gets_a_warning_for_what_it_lacks(warned: Cluster, made: Json, expected: list[str]) -> None:
    warned.make(made)
    assert len(warned.warnings) == len(expected), warned.warnings
    for words in expected:
        assert any(words in warning for warning in warned.warnings), warned.warnings


def test_required_affinity_counts_as_placement_only_when_every_alternative_has_it(warned: Cluster) -> None:
    def placed(*keys: str) -> Json:
        expressions = [{"key": key, "operator": "In", "values": [VALUES.get(key, "x")]} for key in keys]
        terms = [{"matchExpressions": [each]} for each in expressions]
        affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
        return pod(env=ALL, affinity=affinity)

    warned.make(placed("agentpool"))
    assert warned.warnings == []
    warned.make(placed("agentpool", "kubernetes.io/os"))
    assert len(warned.warnings) == 1
    warned.make(placed("kubernetes.io/hostname", "kubernetes.io/hostname"))
    assert warned.warnings == []
    other = placed("agentpool")
    term = other["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    term["nodeSelectorTerms"][0]["matchExpressions"][0]["operator"] = "NotIn"
    warned.make(other)
    assert len(warned.warnings) == 1, "to say which pool it is not of names none"


@pytest.mark.parametrize(
    ("terms", "warnings"),
    [
        ([{"matchExpressions": [{"key": "agentpool", "operator": "In", "values": ["h100gpu", "rtxprogpu"]}]}], 1),
        ([{"matchExpressions": [{"key": "agentpool", "operator": "In", "values": [p]}]} for p in POOLS], 1),
        ([{"matchExpressions": [{"key": "agentpool", "operator": "In", "values": ["h100gpu"]}]}] * 2, 0),
        ([{"matchExpressions": [{"key": "agentpool", "operator": "In", "values": ["h100gpu", "h100gpu"]}]}], 0),
        ([{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["aks-cpu-1"]}]}], 1),
        ([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["aks-h100gpu-1"]}]}], 0),
        ([{"matchExpressions": [{"key": "agentpool", "operator": "Exists"}]}], 1),
    ],
)
def test_affinity_has_to_select_one_kind_of_gpu(warned: Cluster, terms: list[Json], warnings: int) -> None:
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    warned.make(pod(env=ALL, affinity=affinity))
    assert len(warned.warnings) == warnings, warned.warnings


@pytest.mark.parametrize(
    ("made", "refusal"),
    [
        (pod(gpu="", env=[{"name": VISIBLE, "value": "all"}], runtimeClassName="nvidia"), f"sets {VISIBLE}"),
        (pod(gpu="", env=[{"name": VISIBLE, "value": "0"}]), f"sets {VISIBLE}"),
        (pod(gpu="", env=[{"name": VISIBLE, "value": "void"}, {"name": VISIBLE, "value": "all"}]), f"sets {VISIBLE}"),
        (pod(gpu="", env=[{"name": VISIBLE, "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]), "sets"),
        (pod(env=[*ALL, {"name": VISIBLE, "value": "all"}], **PLACED), f"sets {VISIBLE}"),
        (pod(gpu="", runtimeClassName="nvidia"), "Remove runtimeClassName"),
        (pod(gpu="", runtimeClassName="nvidia-cdi"), "Remove runtimeClassName"),
        (pod(env=ALL, runtimeClassName="nvidia", **PLACED), "Remove runtimeClassName"),
        (
            pod(gpu="") | {"metadata": {"name": "x", "annotations": {"cdi.k8s.io/a": "nvidia.com/gpu=all"}}},
            "cdi.k8s.io",
        ),
        (
            pod(gpu="") | {"metadata": {"name": "x", "annotations": {"nvidia.cdi.k8s.io/container.train": "a"}}},
            "nvidia.cdi.k8s.io",
        ),
        (
            # As KAI's webhook leaves it: the reason is what somebody wrote, not what the webhook added.
            pod(
                gpu="",
                env=[{"name": VISIBLE, "valueFrom": {"configMapKeyRef": {"name": "x-shared-gpu-0", "key": "k"}}}],
            )
            | {"metadata": {"name": "x", "annotations": {"gpu-fraction": "0.5"}}},
            "the annotation gpu-fraction asks for a fraction of a GPU",
        ),
        (pod(gpu="", env=[{"name": VISIBLE, "value": ""}]), ""),
        (pod(gpu="", env=[{"name": VISIBLE, "value": "void"}], runtimeClassName="nvidia"), ""),
    ],
)
def test_a_pod_that_would_see_gpus_it_does_not_request_is_refused(warned: Cluster, made: Json, refusal: str) -> None:
    if not refusal:
        assert warned.make(made)
        return
    with pytest.raises(ApiError) as refused:
        warned.make(made)
    assert (refused.value.code, refusal in str(refused.value)) == (422, True), refused.value
    # The platform's own agents see all GPUs of their node.
    assert warned.make(made, OPERATOR)


def test_what_a_pod_may_not_be_created_with_is_not_added_to_it_later(warned: Cluster) -> None:
    pods = f"/api/v1/namespaces/{TEAM}/pods"
    warned.client.request("POST", pods, pod(gpu="", schedulerName="nobodys"))

    def change_annotation(key: str) -> None:
        warned.client.patch(f"{pods}/train-0", {"metadata": {"annotations": {key: "x"}}}, MERGE_PATCH)

    try:
        change_annotation("note")
        for key in ("gpu-fraction", "nvidia.com/container.train.gpu-memory.request", "cdi.k8s.io/a"):
            with pytest.raises(ApiError, match=key.partition("/")[0]):
                change_annotation(key)
    finally:
        warned.client.request("DELETE", f"{pods}/train-0", None, {"gracePeriodSeconds": "0"})


def test_a_pod_that_requests_no_gpu_by_a_zero_is_accepted(warned: Cluster) -> None:
    made = pod()
    made["spec"]["containers"][0]["resources"]["limits"] = {"nvidia.com/gpu": "0"}
    warned.make(made)
    assert warned.warnings == []


def test_a_gpu_in_an_init_container_is_seen(warned: Cluster) -> None:
    made = pod(gpu="", **PLACED)
    made["spec"]["initContainers"] = [{"name": "probe", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]
    warned.make(made)
    assert [warning for warning in warned.warnings if "container probe requests" in warning]


def test_the_platforms_own_namespaces_are_let_be(warned: Cluster) -> None:
    warned.make(pod(), OPERATOR)
    assert warned.warnings == []


def test_the_name_of_an_owner_does_not_bypass_admission(warned: Cluster) -> None:
    made = pod()
    owner = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "exporter", "uid": "1", "controller": True}
    made["metadata"]["ownerReferences"] = [owner]
    warned.make(made)
    assert len(warned.warnings) == 2


def test_denied_where_the_stack_enables_it(warned: Cluster) -> None:
    before = policies(settings("admission.injectCapabilities=false"))
    found = policies(settings("admission.injectCapabilities=false", "admission.gpuPods=deny"))
    change(warned, before, found)
    try:
        with pytest.raises(ApiError, match=CAPABILITIES) as refusal:
            warned.make(pod(**PLACED))  # what offends two policies is refused with the words of either
        assert refusal.value.code == 422
        assert warned.make(pod(env=ALL, **PLACED))["metadata"]["name"] == "train-0"
    finally:
        change(warned, found, before)
    assert warned.make(pod(**PLACED))
    assert any(CAPABILITIES in warning for warning in warned.warnings), "a warning again"


def change(cluster: Cluster, old: list[Json], new: list[Json]) -> None:
    """As a deployment does: what is new or changed, then what is not declared any more."""
    for item in new:
        cluster.put(item)
    kept = [(item["kind"], item["metadata"]["name"]) for item in new]
    cluster.remove([item for item in old if (item["kind"], item["metadata"]["name"]) not in kept])
    wait_until_in_force(cluster.client)


def test_pods_with_rights_of_their_node_and_bindings_by_hand_are_noticed(warned: Cluster) -> None:
    found = pod_security_policies(settings())
    for item in found:
        warned.put(item)
    privileged = pod(gpu="")
    privileged["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    mounts = pod(gpu="", volumes=[{"name": "gpus", "emptyDir": {}}])
    mount = {"name": "gpus", "mountPath": "/var/run/nvidia-container-devices/all"}
    mounts["spec"]["containers"][0]["volumeMounts"] = [mount]
    try:
        wait_until_in_force(warned.client)
        assert warned.make(pod(gpu="", hostNetwork=True))
        assert ["hostNetwork" in each for each in warned.warnings] == [True]
        warned.make(privileged)
        assert ["is privileged" in each for each in warned.warnings] == [True]
        warned.make(pod(gpu=""))
        assert warned.warnings == []
        assert warned.refuses(mounts)
        _bind_by_hand(warned)
        assert ["only a scheduler binds" in each for each in warned.warnings] == [True]
    finally:
        change(warned, found, [])


def _bind_by_hand(cluster: Cluster) -> None:
    pods = f"/api/v1/namespaces/{TEAM}/pods"
    made = pod(gpu="", schedulerName="nobodys")
    cluster.client.request("POST", pods, made)
    target = {"apiVersion": "v1", "kind": "Node", "name": "aks-h100gpu-1"}
    binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "train-0"}, "target": target}
    try:
        cluster.warnings.clear()
        cluster.client.request("POST", f"{pods}/train-0/binding", binding, {"dryRun": "All"})
    finally:
        heard = list(cluster.warnings)
        cluster.client.request("DELETE", f"{pods}/train-0", None, {"gracePeriodSeconds": "0"})
        cluster.warnings[:] = heard


def test_what_a_container_does_not_set_is_added_and_what_it_sets_remains(warned: Cluster) -> None:
    found = [item for item in policies(settings()) if item["kind"].startswith("Mutating")]
    for item in found:
        warned.put(item)

    def capabilities(made: Json) -> list[list[Json]]:
        spec = warned.make(made)["spec"]
        return [each.get("env", []) for each in (*spec.get("initContainers", []), *spec["containers"])]

    try:
        wait_until_in_force(warned.client)
        assert capabilities(pod(**PLACED)) == [ALL]
        assert warned.warnings == []
        own = [{"name": CAPABILITIES, "value": "compute,utility"}]
        assert capabilities(pod(env=own, **PLACED)) == [own]
        assert capabilities(pod(gpu="")) == [[]]
        assert capabilities(pod(env=[{"name": CAPABILITIES, "value": ""}], **PLACED)) == [ALL]
        other = [{"name": "SEED", "value": "7"}]
        (env,) = capabilities(pod(env=other, **PLACED))
        assert sorted(env, key=lambda item: item["name"]) == [*ALL, *other]
        assert capabilities(pod(**PLACED) | {"metadata": {"name": "x", "labels": {"a": "b"}}}) == [ALL]
        both = pod(**PLACED)
        both["spec"]["initContainers"] = [
            {"name": "probe", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}},
            {"name": "copy", "image": "x"},
        ]
        assert capabilities(both) == [ALL, [], ALL]
        assert "env" not in warned.make(pod(), OPERATOR)["spec"]["containers"][0]
    finally:
        change(warned, found, [])


SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
REGISTRY = "crdevwestus2e5fc84e4.azurecr.io"


def test_images_come_from_the_registry_of_the_stack(bare: Cluster) -> None:
    found = registry_policies(settings("dataServices.source=azure", "dataServices.registry.only=true"), SUBSCRIPTION)
    for item in found:
        bare.put(item)

    def pulled(image: str) -> str:
        made = pod(gpu="")
        made["spec"]["containers"][0]["image"] = image
        made["spec"]["initContainers"] = [{"name": "before", "image": "nvcr.io/a:1"}]
        spec = bare.make(made)["spec"]
        assert [each["image"].endswith("nvcr.io/a:1") for each in spec["initContainers"]] == [True]
        return str(spec["containers"][0]["image"])

    wait_until_in_force(bare.client)
    given = ("nvcr.io/nvidia/cuda:13", "grafana/grafana:12", "busybox", f"{REGISTRY}/own@sha256:{'a' * 64}")
    assert [pulled(image) for image in given] == [
        f"{REGISTRY}/nvcr.io/nvidia/cuda:13",
        f"{REGISTRY}/docker.io/grafana/grafana:12",
        f"{REGISTRY}/docker.io/library/busybox",
        f"{REGISTRY}/own@sha256:{'a' * 64}",
    ]
    # Where nothing replaces it, an image from elsewhere is refused.
    mutating = [item for item in found if item["kind"].startswith("Mutating")]
    change(bare, mutating, [])
    assert bare.refuses(pod(gpu=""))
    change(bare, [item for item in found if item not in mutating], [])
    assert not bare.refuses(pod(gpu=""))
