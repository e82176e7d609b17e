"""AMD's operator and Kernel Module Management on a live cluster."""

from __future__ import annotations

import json
import logging
import time
from typing import Any

from physical_ai.catalog.vendors import AMD
from simulator.amd import model
from simulator.amd import names as amd
from simulator.cluster.loop import Loop
from simulator.cluster.names import RUN_BY
from simulator.cluster.objects import (
    Json,
    annotations_of,
    at,
    is_ready,
    is_terminating,
    labels,
    name,
    owner,
    timestamp,
)
from simulator.cluster.pods import ended
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client

log = logging.getLogger(model.MODEL)
CONFIGS = f"/apis/{amd.API_VERSION}/deviceconfigs"
OPERATORS = "app.kubernetes.io/part-of in (amd-gpu,kmm)"
STRATEGIC = "application/strategic-merge-patch+json"
RETRY_SECONDS = 0.5


class AmdStack:
    """Simulates AMD's operator and the driver builds of Kernel Module Management, each while its own Deployment is
    available.
    """

    def __init__(self, client: Client, speed: float) -> None:
        """`speed`: simulated seconds per real second."""
        self._client, self._speed = client, speed
        self.loop = Loop(model.MODEL, self.round)
        self._operators = Watch(client, "/apis/apps/v1/deployments", self.loop.wake, OPERATORS)
        self._watches: dict[str, Watch] = {}
        self._began: dict[str, float] = {}
        """Simulated start time of each driver build, by the uid of its build Pod."""

    def round(self) -> float | None:
        """Runs one round. Returns the seconds until the next round if a driver build is running or blocked; None if the
        next round has to wait for a change in the cluster.
        """
        running = {name(each) for each in self._operators.all() if int(at(each, "status.availableReplicas", 0)) > 0}
        if amd.CONTROLLER not in running:
            return None
        if not self._watches:
            inside = f"/namespaces/{amd.NAMESPACE}"
            paths = {"configs": CONFIGS, "nodes": "/api/v1/nodes", "pods": f"/api/v1{inside}/pods"}
            self._watches = {key: Watch(self._client, path, self.loop.wake) for key, path in paths.items()}
            for watch in self._watches.values():
                watch.synced.wait()
        configs = self._watches["configs"].all()
        for config in filter(is_terminating, configs):
            self._forget(config)
        live = [each for each in configs if not is_terminating(each)]
        nodes = [node for node in self._watches["nodes"].all() if model.gpu_of(node) is not None]
        mine, refused = model.claims(live, nodes)
        waits = [self._serve(config, mine.get(name(config)), refused, amd.BUILDER in running) for config in live]
        for node in nodes:
            self._report(node)
        return RETRY_SECONDS if any(waits) else None

    def _serve(self, config: Json, nodes: list[Json] | None, refused: dict[str, str], builds: bool) -> bool:
        """Does everything that one DeviceConfig asks for. Returns True if another round is needed, because the driver
        is not yet loaded on all nodes.
        """
        if amd.FINALIZER not in at(config, "metadata.finalizers", []):
            self._patch(config, {"metadata": {"finalizers": [amd.FINALIZER]}})
        if nodes is None:
            self._say(config, "False", "ValidationError", refused[name(config)])
            return False
        for item in model.daemon_sets(config):
            self._apply(item)
        if not at(config, "spec.driver.enable", True):
            self._say(config, "True", "OperatorReady", "")
            return False
        problem = self._driver(config, nodes) if builds else "Kernel Module Management does not run"
        self._say(config, "False" if problem else "True", "DriverNotReady" if problem else "OperatorReady", problem)
        version = at(config, "spec.driver.version", "")
        return bool(problem) or any(annotations_of(node).get(model.DRIVER) != version for node in nodes)

    def _driver(self, config: Json, nodes: list[Json]) -> str:
        """Builds missing driver images and loads built ones. Returns the reason why a build or the login to the
        registry failed; empty if nothing failed.
        """
        wanted = at(config, "spec.driver.imageRegistrySecret.name")
        path = f"/api/v1/namespaces/{amd.NAMESPACE}/secrets/{wanted}"
        problem = model.login_problem(config, self._client.find(path) if wanted else None)
        if problem:
            return problem
        built: list[str] = json.loads(annotations_of(config).get(model.BUILT, "[]"))
        for tag in sorted({model.tag(config, node) for node in nodes} - set(built)):
            problem = self._build(config, tag, built) or problem
        for node in nodes:
            loaded = annotations_of(node).get(model.DRIVER)
            if model.tag(config, node) in built and loaded != at(config, "spec.driver.version"):
                self._load(config, node)
        return problem

    def _build(self, config: Json, tag: str, built: list[str]) -> str:
        pod = self._pod(model.build_pod(config, tag))
        if at(pod, "status.phase") == "Failed":
            return f"build failed: {model.build_problem(config)}"
        if not at(pod, "spec.nodeName") or at(pod, "status.phase") == "Succeeded":
            return ""
        began = self._began.setdefault(str(at(pod, "metadata.uid")), time.monotonic())
        if at(pod, "status.phase") != "Running":
            self._status(pod, {"phase": "Running", "startTime": timestamp()})
        if (time.monotonic() - began) * self._speed < model.BUILD_MINUTES * 60:
            return ""
        problem = model.build_problem(config)
        self._status(pod, ended(pod, {"kaniko": (1, problem)} if problem else None))
        if problem:
            return f"build failed: {problem}"
        built.append(tag)
        self._patch(config, {"metadata": {"annotations": {model.BUILT: json.dumps(built)}}})
        return ""

    def _load(self, config: Json, node: Json) -> None:
        pod = self._pod(model.load_pod(config, node))
        if not at(pod, "spec.nodeName"):
            return  # the scheduler says why
        version = at(config, "spec.driver.version")
        ready = model.READY_LABEL.format(amd.NAMESPACE, name(config))
        self._patch_node(node, {"metadata": {"annotations": {model.DRIVER: version}, "labels": {ready: ""}}})
        self._delete(f"/api/v1/namespaces/{amd.NAMESPACE}/pods/{name(pod)}")

    def _report(self, node: Json) -> None:
        """Updates everything that AMD's DaemonSets change for a node: the status of their Pods, the node's GPU devices,
        and its labels.
        """
        gpu, driver = model.gpu_of(node), annotations_of(node).get(model.DRIVER, "")
        here = [
            pod
            for pod in self._watches["pods"].all()
            if at(pod, "spec.nodeName") == name(node) and owner(pod, "DaemonSet") and not is_terminating(pod)
        ]
        ready: set[str] = set()
        for each in here:
            pod = each
            if annotations_of(pod).get(RUN_BY) != model.MODEL:
                continue
            if is_ready(pod) != bool(driver) or not at(pod, "status.initContainerStatuses"):
                pod = self._status(pod, model.operand_status(pod, timestamp(), loaded=bool(driver)))
                if not driver:
                    self._event(pod)
            if driver:
                ready.add(owner(pod, "DaemonSet"))
        offers = gpu is not None and any(each.endswith("-device-plugin") for each in ready)
        count = str(gpu.count) if gpu is not None and offers else "0"
        held = at(node, "status.allocatable", {}).get(AMD.resource)
        if held != count and (offers or held is not None):
            counts = {AMD.resource: count}
            self._patch_node(node, {"status": {"capacity": counts, "allocatable": counts}}, "/status")
        if gpu is not None and any(each.endswith("-node-labeller") for each in ready):
            wanted = model.node_labels(gpu, driver)
            if not wanted.items() <= labels(node).items():
                self._patch_node(node, {"metadata": {"labels": wanted}})

    # Writes

    def _pod(self, wanted: Json) -> Json:
        """The Pod as it is in the cluster. Creates the Pod if it does not exist."""
        path = f"/api/v1/namespaces/{amd.NAMESPACE}/pods"
        found = self._client.find(f"{path}/{name(wanted)}")
        return found if found is not None else self._client.request("POST", path, wanted)

    def _apply(self, item: Json) -> None:
        path = f"/apis/apps/v1/namespaces/{amd.NAMESPACE}/daemonsets/{name(item)}"
        self._client.patch(path, item, APPLY_PATCH, {"fieldManager": model.MODEL, "force": "true"})

    def _status(self, pod: Json, status: Json) -> Json:
        path = f"/api/v1/namespaces/{amd.NAMESPACE}/pods/{name(pod)}/status"
        found = self._client.patch(path, {"status": status}, STRATEGIC)
        self._watches["pods"].put(found)
        return found

    def _say(self, config: Json, status: str, reason: str, message: str) -> None:
        conditions: list[Json] = at(config, "status.conditions", [])
        if [(each.get("status"), each.get("reason"), each.get("message")) for each in conditions] == [
            (status, reason, message)
        ]:
            return
        found = {"type": "Ready", "status": status, "reason": reason, "message": message}
        self._patch(config, {"status": {"conditions": [{**found, "lastTransitionTime": timestamp()}]}}, "/status")

    def _event(self, pod: Json) -> None:
        """Writes the last log line of a container as an Event of its Pod, because logs of simulated containers cannot
        be read.
        """
        now, metadata = timestamp(), pod["metadata"]
        body: Json = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{metadata['name']}.", "namespace": amd.NAMESPACE},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": metadata["name"],
                "namespace": amd.NAMESPACE,
                "uid": metadata["uid"],
                "fieldPath": f"spec.initContainers{{{model.WAIT_FOR_DRIVER}}}",
            },
            "type": "Normal",
            "reason": "SimulatedLog",
            "message": model.NOT_LOADED,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        self._client.request("POST", f"/api/v1/namespaces/{amd.NAMESPACE}/events", body)

    def _forget(self, config: Json) -> None:
        """Removes the finalizer of a deleted DeviceConfig, so that the API server can remove the objects that the
        DeviceConfig owns.
        """
        kept = [each for each in at(config, "metadata.finalizers", []) if each != amd.FINALIZER]
        if kept != at(config, "metadata.finalizers", []):
            self._patch(config, {"metadata": {"finalizers": kept}})

    def _patch(self, config: Json, body: Json, sub: str = "") -> None:
        path = f"/apis/{amd.API_VERSION}/namespaces/{amd.NAMESPACE}/deviceconfigs/{name(config)}{sub}"
        self._write(path, body, self._watches["configs"])

    def _patch_node(self, node: Json, body: Json, sub: str = "") -> None:
        self._write(f"/api/v1/nodes/{name(node)}{sub}", body, self._watches["nodes"])

    def _write(self, path: str, body: Json, watch: Watch) -> None:
        try:
            found: Any = self._client.patch(path, body, MERGE_PATCH)
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise
            return
        if not is_terminating(found):
            watch.put(found)

    def _delete(self, path: str) -> None:
        try:
            self._client.request("DELETE", path, params={"gracePeriodSeconds": "0"})
        except ApiError as refusal:
            if refusal.code != 404:
                raise
