"""The kubelet of a GPU node: it computes the node's state from added and deleted Pods and from the passing of simulated
time, and writes the result to the API server.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from simulator.cluster.names import BOOTS, HOST_DRIVER, HOST_MODULES, NETWORK_DRIVER, NVIDIA, SECURE_BOOT
from simulator.cluster.objects import (
    Changes,
    Json,
    annotations_of,
    at,
    is_terminating,
    labels,
    name,
    owner,
    timestamp,
)
from simulator.faults import ANNOTATION, injected, node_faults
from simulator.faults.ending import Happened, after, ends_with_jobs
from simulator.faults.record import annotation, together
from simulator.gpu import names, nfd, node
from simulator.gpu.driver import COMPONENT
from simulator.gpu.hardware import Hardware
from simulator.gpu.live import pod_status, slices
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.grid_api import gpus_of
from simulator.gpu.node_state import Host, NodeState, Pod
from simulator.gpu.upgrade_states import MOST_RESTARTS

PATIENCE_SECONDS = 0.3
STRATEGIC = "application/strategic-merge-patch+json"


@dataclass(frozen=True)
class Surroundings:
    """State of the rest of the cluster that a node's Pods depend on."""

    release: str
    driver_in_cluster: bool = False
    configs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Configurations of the device plugin, by key of the ConfigMap."""
    layouts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """MIG layouts of the MIG manager's ConfigMap, by name."""
    collectors: str = ""
    """CSV with the fields that the DCGM exporter reports."""


def host_of(item: Json) -> Host:
    """The driver software on the node's host, as the node's annotations describe it."""
    given = annotations_of(item)
    return Host(
        driver=given.get(HOST_DRIVER, ""),
        modules=given.get(HOST_MODULES, "open"),
        bind_mount=given.get(names.LEGACY_MOUNT) == "true",
    )


def pseudo_daemonset(pod: Json) -> Json:
    """A DaemonSet made from the Pod alone, for the event `PodAdded`. It lacks the changes that the real DaemonSet got
    after the Pod was created.
    """
    return {
        "metadata": {"name": owner(pod, "DaemonSet"), "labels": {COMPONENT: labels(pod).get(COMPONENT, "")}},
        "spec": {"template": {"spec": pod["spec"]}},
    }


class Kubelet:
    """The kubelet of one GPU node."""

    def __init__(self, cluster: Cluster, item: Json, hardware: Hardware, release: str) -> None:
        runtime = str(at(item, "status.nodeInfo.containerRuntimeVersion", ""))
        system = nfd.os_release(str(at(item, "status.nodeInfo.osImage", "")))
        self._cluster = cluster
        self.uid = str(at(item, "metadata.uid"))
        secure = annotations_of(item).get(SECURE_BOOT) == "true"
        self.state = NodeState(
            release,
            replace(hardware, secure_boot=secure),
            os=f"{system['ID']}{system['VERSION_ID']}",
            containerd=runtime.rpartition("//")[2],
            host=host_of(item),
        )
        self.boots = annotations_of(item).get(BOOTS, "")
        """Value of the annotation BOOTS, which each restart of the machine changes; empty before the first restart."""
        self._marked = False
        self._now = 0.0
        self._pods: dict[str, str] = {}
        self._jobs: frozenset[str] = frozenset()
        """UIDs of the pending or running Pods that hold GPUs; empty if no fault of the node ends with a job."""
        self.began: dict[str, float] = {}
        """Creation time of each Pod, by uid, in simulated seconds since the epoch."""
        self._written: dict[str, tuple[Any, ...]] = {}
        self._messages: dict[str, tuple[str, float]] = {}
        """Reason why a Pod is not ready, and the monotonic time at which the reason began, by Pod uid. The time
        becomes 0 when an event about the reason is written.
        """

    @property
    def is_waiting(self) -> bool:
        """True if something on the node waits for time to pass: a driver build, or an event that is due."""
        driver = self.state.driver_pod
        builds = driver is not None and not driver.ready and driver.restarts <= MOST_RESTARTS
        return builds or any(since for message, since in self._messages.values() if message)

    @property
    def looks_at_jobs(self) -> bool:
        """True if the node has a fault that ends when a job's Pod ends."""
        return ends_with_jobs(self.state.faults.items)

    def run(self, item: Json, around: Surroundings, pods: Mapping[str, Json], seconds: float, now: float) -> bool:
        """Applies everything that has happened since the last call; returns True if the node changed.

        Args:
            pods: The node's Pods of the GPU stack, by DaemonSet.
            seconds: Simulated seconds that have passed.
            now: Simulated time, in seconds since the epoch.
        """
        before, self._now = self.state, now
        self._happen(item, around, seconds)
        self._pods_changed(item, pods)
        self._report(item, before, pods)
        return self.state != before

    def _do(self, event: node.Event) -> None:
        self.state = node.step(self.state, event)

    def _happen(self, item: Json, around: Surroundings, seconds: float) -> None:
        if self.state.release != around.release:
            self.state = replace(self.state, release=around.release)
        if self.state.mig_layouts != around.layouts:
            self.state = replace(self.state, mig_layouts=around.layouts)
        if self.state.collectors != around.collectors:
            self.state = replace(self.state, collectors=around.collectors)
        if self.state.driver_in_cluster != around.driver_in_cluster:
            self._do(node.ClusterDriver(around.driver_in_cluster))
        if self.state.configs != around.configs:
            self._do(node.ConfigsChanged(around.configs))
        host = host_of(item)
        if (host.driver, host.bind_mount) != (self.state.host.driver, self.state.host.bind_mount):
            self._do(node.HostChanged(host))
        if host.bind_mount != self._marked:
            self._do(node.MarkerTouched() if host.bind_mount else node.MarkerRemoved())
        self._marked = host.bind_mount
        network = annotations_of(item).get(NETWORK_DRIVER, "")
        if network != self.state.network_driver:
            self._do(node.NetworkDriverChanged(network))
        if (faults := node_faults(item)) != self.state.faults:
            self._do(node.FaultsChanged(faults))
        self._look_at_jobs(item)
        boots = annotations_of(item).get(BOOTS, "")
        if boots != self.boots:
            self.boots = boots
            self._do(node.Rebooted())
            self._refuse_bound(name(item))
            self._end_faults(item, "reboot", boot=boots)
        if self.state.labels != labels(item):
            self._do(node.LabelsChanged(labels(item)))
        if seconds and self.is_waiting:
            self._do(node.Tick(seconds))

    def _look_at_jobs(self, item: Json) -> None:
        """Ends the faults that end with a job. A job has ended if a Pod that held GPUs no longer exists or no longer
        runs. The method lists the Pods, because no watch covers all namespaces.
        """
        if not self.looks_at_jobs:
            self._jobs = frozenset()
            return
        pods = [pod for pod in self._cluster.pods_on(name(item)) if gpus_of(pod)]
        running = {str(at(pod, "metadata.uid")) for pod in pods if at(pod, "status.phase") in ("Pending", "Running")}
        before, self._jobs = self._jobs, frozenset(running)
        if before - running:
            self._end_faults(item, "job")

    def _end_faults(self, item: Json, happened: Happened, containers: Iterable[str] = (), boot: str = "") -> None:
        """Removes the faults that the event `happened` ends from the node's record, as `physai fault heal` does."""
        held = injected(item)
        left = after(held, happened, containers, boot)
        if left != held:
            self._cluster.annotate(item, {ANNOTATION: annotation(left)})
            self._do(node.FaultsChanged(together(left)))

    def _refuse_bound(self, node: str) -> None:
        """Fails the Pods on the node that request GPUs, after a restart of the node.

        The real kubelet refuses these Pods, because after a restart no device plugin has registered yet, and does not
        start them again later (NVIDIA/gpu-operator#707; kubernetes/kubernetes, devicemanager).
        """
        for pod in self._cluster.pods_on(node):
            wanted = gpus_of(pod)
            if wanted and at(pod, "status.phase") in ("Pending", "Running") and not is_terminating(pod):
                self._cluster.patch({**pod, "kind": "Pod"}, {"status": pod_status.refused(wanted)}, sub="/status")

    def _pods_changed(self, item: Json, pods: Mapping[str, Json]) -> None:
        for daemonset in list(self._pods):
            if daemonset not in pods or at(pods[daemonset], "metadata.uid") != self._pods[daemonset]:
                gone = self.state.pods[daemonset].workload
                self._do(node.PodRemoved(daemonset))
                self._end_faults(item, "pod", (*gone.init, gone.main))
                uid = self._pods.pop(daemonset)
                self.began.pop(uid, None)
                self._written.pop(uid, None)
                self._messages.pop(uid, None)
        for daemonset, pod in sorted(pods.items()):
            if daemonset not in self._pods:
                self._pods[daemonset] = str(at(pod, "metadata.uid"))
                self.began[self._pods[daemonset]] = self._now
                self._do(node.PodAdded(pseudo_daemonset(pod)))

    # Reports to the API server

    def _report(self, item: Json, before: NodeState, pods: Mapping[str, Json]) -> None:
        self._report_node(item)
        slices.report(self._cluster, item, self.state)
        given = labels(item)
        changed: Changes = {
            key: value
            for key, value in self.state.own_labels.items()
            # Once the node has no operand, nothing on it writes labels.
            if pods
            and given.get(key) != value
            # After they are set, deploy labels may be changed by others.
            and (not key.startswith(names.DEPLOY) or before.own_labels.get(key) != value)
        }
        if changed:
            self._cluster.label(item, changed)
        for daemonset, live in pods.items():
            self._report_pod(daemonset, live)

    def _report_pod(self, daemonset: str, live: Json) -> None:
        pod, uid = self.state.pods[daemonset], self._pods[daemonset]
        key = pod_status.key(pod)
        if self._written.get(uid) != key:
            self._cluster.patch(live, {"status": pod_status.status(pod, live, timestamp())}, STRATEGIC, "/status")
            self._written[uid] = key
        self._report_message(pod, uid, live)

    def _report_message(self, pod: Pod, uid: str, live: Json) -> None:
        """Writes an Event with the reason why a Pod is not ready, once the Pod has had this reason for
        PATIENCE_SECONDS.
        """
        message = "" if pod.is_ready else pod.fault
        shown, since = self._messages.get(uid, ("", 0.0))
        now = time.monotonic()
        if message != shown:
            self._messages[uid] = (message, now)
        elif message and since and now - since > PATIENCE_SECONDS:
            self._cluster.apply(pod_status.event(pod, live, timestamp()))
            self._messages[uid] = (message, 0.0)

    def _report_node(self, item: Json) -> None:
        """Reports the node's extended resources and readiness. A node without a running containerd is NotReady."""
        held = {field: _of_nvidia(at(item, f"status.{field}", {})) for field in ("capacity", "allocatable")}
        wanted = {
            field: dict.fromkeys(held[field], "0") | {key: str(count) for key, count in counts.items()}
            for field, counts in (("capacity", self.state.resources), ("allocatable", self.state.healthy_resources))
        }
        if wanted != held:
            self._cluster.patch(item, {"status": wanted}, sub="/status")
        dead = self.state.containerd_dead
        if dead and names.NOT_READY not in annotations_of(item):
            self._cluster.annotate(item, {names.NOT_READY: dead})
            now = timestamp()
            message = f"container runtime is down: {dead}"
            ready = {"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": message}
            times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
            self._cluster.patch(item, {"status": {"conditions": [{**ready, **times}]}}, STRATEGIC, "/status")
        elif not dead and names.NOT_READY in annotations_of(item):
            self._cluster.annotate(item, {names.NOT_READY: None})


def _of_nvidia(resources: Mapping[str, str]) -> dict[str, str]:
    return {key: count for key, count in resources.items() if key.startswith(NVIDIA)}
