"""The GPU stack's link to an API server: what it reads out of objects, and what it reports."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest

from physical_ai import catalog
from simulator import clock, pool_nodes
from simulator.cluster.names import HOST_DRIVER
from simulator.cluster.watch import Watch
from simulator.errors import SimulationError
from simulator.gpu import hardware, names, node, pacing
from simulator.gpu.live import discovery, kubelet, operator, pod_status
from simulator.gpu.live.cluster import Cluster, Operator, path_of
from simulator.gpu.node_state import Host, NodeState
from simulator.gpu.state import State
from simulator.gpu.upgrade_states import DriverPod
from simulator.kubernetes.client import ApiError, Client
from tests.support.gpu_hardware import h100, rtx_pro_6000
from tests.support.gpu_model import GpuModel, gpu_model
from tests.support.waiting import LIMIT

NOW = "2026-11-21T12:00:00Z"


def live(lab_: GpuModel, host: str, daemonset: str) -> dict[str, Any]:
    """The API server's pod of a DaemonSet on a simulated node."""
    template = lab_.state.daemonsets[daemonset]["spec"]["template"]
    owner = {"kind": "DaemonSet", "name": daemonset}
    metadata = {**template["metadata"], "name": f"{daemonset}-x", "namespace": "gpu-operator", "uid": "u1"}
    return {
        "kind": "Pod",
        "metadata": {**metadata, "ownerReferences": [owner]},
        "spec": {**template["spec"], "nodeName": host},
    }


def test_a_pod_at_a_closed_gate_is_pending_and_names_the_gate() -> None:
    place = gpu_model()
    place.join("h", h100())
    place.join("rtx", rtx_pro_6000())
    pod = place.nodes["rtx"].pods["nvidia-container-toolkit-daemonset"]
    given = live(place, "rtx", "nvidia-container-toolkit-daemonset")
    status = pod_status.status(pod, given, NOW)
    assert status["phase"] == "Pending"
    assert status["initContainerStatuses"][0]["state"] == {"running": {"startedAt": NOW}}
    assert status["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    ready = next(each for each in status["conditions"] if each["type"] == "Initialized")
    assert (ready["status"], ready["message"]) == (
        "False",
        "containers with incomplete status: ['driver-validation']",
    )
    event = pod_status.event(pod, given, NOW)
    assert event["reason"] == "SimulatedLog"
    assert event["involvedObject"]["fieldPath"] == "spec.initContainers{driver-validation}"
    assert ".driver-ctr-ready" in event["message"]


def test_a_pod_without_its_runtime_has_no_sandbox() -> None:
    place = gpu_model()
    place.join("rtx", rtx_pro_6000())
    pod = place.nodes["rtx"].pods["nvidia-device-plugin-daemonset"]
    given = live(place, "rtx", "nvidia-device-plugin-daemonset")
    status = pod_status.status(pod, given, NOW)
    assert status["initContainerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert pod_status.event(pod, given, NOW)["reason"] == "FailedCreatePodSandBox"


def test_a_failing_container_backs_off_with_its_last_output() -> None:
    place = gpu_model(mig={"strategy": "single"})
    place.join("rtx", hardware.Hardware("NVIDIA-X", 98304, mig=((),), vgpu=True), host=Host(driver="595.91.07"))
    pod = place.nodes["rtx"].pods["nvidia-device-plugin-daemonset"]
    status = pod_status.status(pod, live(place, "rtx", "nvidia-device-plugin-daemonset"), NOW)
    main = status["containerStatuses"][0]
    assert main["state"]["waiting"]["reason"] == "CrashLoopBackOff"
    assert main["lastState"]["terminated"]["message"] == pod.message != ""


def test_a_ready_pod_is_ready_with_all_its_containers() -> None:
    place = gpu_model()
    place.join("h", h100())
    place.wait()
    name = "nvidia-operator-validator"
    status = pod_status.status(place.nodes["h"].pods[name], live(place, "h", name), NOW)
    assert status["phase"] == "Running"
    assert all(each["ready"] for each in status["containerStatuses"] + status["initContainerStatuses"])
    assert {each["type"]: each["status"] for each in status["conditions"]} == dict.fromkeys(
        ("Initialized", "ContainersReady", "Ready"), "True"
    )


def test_a_pod_is_read_as_the_daemonset_it_was_made_from() -> None:
    place = gpu_model()
    place.join("h", h100())
    driver = next(key for key in place.state.daemonsets if "driver" in key)
    pod = kubelet.pseudo_daemonset(live(place, "h", driver))
    state = node.step(NodeState("v26.7.0", h100()), node.PodAdded(pod))
    assert state.pods[driver].workload == place.nodes["h"].pods[driver].workload


def item(**annotations: str) -> dict[str, Any]:
    info = {"osImage": "Ubuntu 24.04 LTS", "kernelVersion": "6.8.0-1041-azure"}
    return {"kind": "Node", "metadata": {"name": "n", "annotations": annotations}, "status": {"nodeInfo": info}}


def test_annotations_describe_the_host() -> None:
    assert kubelet.host_of(item()) == Host()
    given = item(**{HOST_DRIVER: "595.91.07", names.LEGACY_MOUNT: "true"})
    assert kubelet.host_of(given) == Host(driver="595.91.07", bind_mount=True)


def test_nfd_labels_appear_with_a_worker_and_disappear_with_the_installation() -> None:
    found = discovery.changes(item(), h100(), ("vendor",), has_worker=True)
    assert found["feature.node.kubernetes.io/pci-10de.present"] == "true"
    labelled = {**item(), "metadata": {"name": "n", "labels": {**found, "agentpool": "h100gpu"}}}
    assert discovery.changes(labelled, h100(), ("vendor",), has_worker=True) == {}
    gone = discovery.changes(labelled, h100(), ("vendor",), has_worker=False)
    assert set(gone) == set(found)
    assert set(gone.values()) == {None}


def test_nfd_follows_its_workers_configuration() -> None:
    text = "sources: {pci: {deviceLabelFields: [vendor, device]}}"
    given = {
        "metadata": {"labels": {"app.kubernetes.io/name": "node-feature-discovery"}},
        "data": {"nfd-worker.conf": text},
    }
    assert tuple(discovery.fields([given])) == ("vendor", "device")
    assert tuple(discovery.fields([{"metadata": {}, "data": {"nfd-worker.conf": text}}])) == ("vendor",)


@pytest.mark.parametrize(
    ("size", "gpus", "mig", "vgpu"),
    [
        ("Standard_NC80adis_H100_v5", 2, None, False),
        ("Standard_NC144ds_xl_RTXPRO6000BSE_v6", 1, ("4g.96gb",), True),
        ("Standard_NC36ds_xl_RTXPRO6000BSE_v6", 1, ("1g.24gb",), True),
    ],
)
def test_a_nodes_gpus_follow_from_its_size(size: str, gpus: int, mig: hardware.Mig, vgpu: bool) -> None:
    found = hardware.of_node({"metadata": {"labels": {"node.kubernetes.io/instance-type": size}}})
    assert found is not None
    assert (found.gpus, found.mig, found.vgpu) == (gpus, (mig,) * gpus, vgpu)
    assert hardware.of_size(catalog.vm_size("Standard_D8ds_v5")) is None


def test_users_layouts_replace_the_mig_managers() -> None:
    layouts = {
        "h100gpu": [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.12gb": 3, "4g.47gb": 1}}],
        "all-disabled": [{"devices": "all", "mig-enabled": False}],
    }
    cut = ("1g.12gb", "1g.12gb", "1g.12gb", "4g.47gb")
    assert hardware.repartitioned(h100(2), "h100gpu", layouts) == (cut, cut)
    assert hardware.repartitioned(h100(), "all-disabled", layouts) == (None,)
    assert hardware.repartitioned(h100(), "all-1g.12gb", layouts) is None
    assert hardware.repartitioned(h100(), "all-1g.12gb") == (("1g.12gb",) * 7,)


def test_what_became_of_a_nodes_host_outlives_a_change_of_its_pool() -> None:
    wanted = {"metadata": {"name": "n", "annotations": {"k": "v", HOST_DRIVER: "580.159.04"}}}
    assert pool_nodes.with_host(wanted, None) == wanted
    upgraded = {"metadata": {"annotations": {HOST_DRIVER: "595.99.01", "other": "x"}}}
    again = pool_nodes.with_host(wanted, upgraded)
    assert again["metadata"]["annotations"] == {"k": "v", HOST_DRIVER: "595.99.01"}
    assert pool_nodes.with_host(wanted, {"metadata": {}})["metadata"]["annotations"] == {"k": "v"}


@pytest.mark.parametrize("given", ["soon", "0", "-1", "inf", "nan"])
def test_model_time_must_run(given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(clock.VARIABLE, given)
    with pytest.raises(SimulationError, match=clock.VARIABLE):
        clock.seconds_per_model_minute()


class FakeApi:
    """A collection that is listed once, then watched."""

    def __init__(self, listing: Any, events: list[Any]) -> None:
        self.listing, self.events, self.done = listing, events, threading.Event()

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Any:
        if isinstance(self.listing, Exception):
            raise self.listing
        return self.listing

    def watch(self, path: str, version: str, params: Mapping[str, str] | None = None) -> Iterator[Any]:
        assert version == "7"
        yield from self.events
        self.done.set()
        threading.Event().wait(5)


def pod(name: str, version: int, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ns", "resourceVersion": str(version), "labels": labels}}


def test_a_watch_keeps_the_newest_of_events_and_writes() -> None:
    listing = {"apiVersion": "v1", "kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [pod("a", 3)]}
    events = [
        {"type": "ADDED", "object": pod("b", 8)},
        {"type": "MODIFIED", "object": pod("a", 9, step="one")},
        {"type": "DELETED", "object": pod("b", 10)},
    ]
    api = FakeApi(listing, events)
    seen = Watch(cast("Client", api), "/api/v1/pods", lambda: None)
    assert seen.synced.wait(LIMIT)
    assert api.done.wait(LIMIT)
    assert [(each["metadata"]["name"], each["metadata"]["labels"]) for each in seen.all()] == [("a", {"step": "one"})]
    seen.put(pod("a", 12, step="two"))
    seen.put(pod("a", 11, step="late"))
    seen.put(pod("b", 9))  # older than its own deletion
    assert [each["metadata"]["labels"] for each in seen.all()] == [{"step": "two"}]
    seen.stop()


def test_a_kind_that_is_not_served_counts_as_empty() -> None:
    api = FakeApi(ApiError(404, {"message": "the server could not find the requested resource"}), [])
    seen = Watch(cast("Client", api), "/apis/nvidia.com/v1/clusterpolicies", lambda: None)
    assert seen.synced.wait(LIMIT)
    assert seen.all() == []
    seen.stop()


def test_paths_of_kinds() -> None:
    assert path_of("Pod", "gpu-operator", "x") == "/api/v1/namespaces/gpu-operator/pods/x"
    assert path_of("ClusterPolicy", key="cluster-policy") == "/apis/nvidia.com/v1/clusterpolicies/cluster-policy"
    assert path_of("RuntimeClass") == "/apis/node.k8s.io/v1/runtimeclasses"


class Held:
    """A cluster of which only the objects matter."""

    def __init__(self, **kinds: list[Any]) -> None:
        self.kinds = kinds
        self.nodes = kinds.get("Node", [])

    def all(self, kind: str) -> list[Any]:
        return self.kinds.get(kind, [])


def test_the_operator_sees_driver_pods_by_the_template_they_came_from() -> None:
    daemonset = {
        "kind": "DaemonSet",
        "metadata": {
            "name": "nvidia-gpu-driver",
            "annotations": {"deprecated.daemonset.template.generation": "2"},
            "ownerReferences": [{"kind": "NVIDIADriver", "name": "h100"}],
        },
    }

    def driver_pod(host: str, generation: str) -> dict[str, Any]:
        labels = {"app.kubernetes.io/component": "nvidia-driver", "pod-template-generation": generation}
        owner = [{"kind": "DaemonSet", "name": "nvidia-gpu-driver"}]
        return {"metadata": {"name": host, "labels": labels, "ownerReferences": owner}, "spec": {"nodeName": host}}

    times = {"type": "Ready", "status": "True", "reason": "R", "message": "", "lastTransitionTime": NOW}
    policy = {"metadata": {"name": "cluster-policy"}, "status": {"state": "ready", "conditions": [times]}}
    held = Held(DaemonSet=[daemonset], Pod=[driver_pod("new", "2"), driver_pod("old", "1")], ClusterPolicy=[policy])
    state = operator.state_of(cast("Cluster", held), Operator("gpu-operator", "v26.7.0"))
    assert {key: each.current for key, each in state.pods.items()} == {"new": True, "old": False}
    assert state.policy is not None
    assert "lastTransitionTime" not in state.policy["status"]["conditions"][0]


@pytest.mark.parametrize(("desired", "missing"), [(1, False), (2, True)])
def test_no_driver_is_upgraded_while_a_driver_pod_is_not_recreated(desired: int, missing: bool) -> None:
    daemonset = {
        "metadata": {"name": "d", "labels": {"app.kubernetes.io/component": "nvidia-driver"}},
        "status": {"desiredNumberScheduled": desired},
    }
    state = State("v26.7.0", None, daemonsets={"d": daemonset}, pods={"n": DriverPod()})
    assert pacing.is_missing_driver_pods(state) is missing
