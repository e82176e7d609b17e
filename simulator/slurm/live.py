"""Simulation of the slurm-operator in a running cluster, and of slurmd on the cluster's nodes."""

from __future__ import annotations

from typing import Any

from simulator.cluster.loop import Loop
from simulator.cluster.objects import (
    Json,
    annotations_of,
    at,
    digest,
    is_ready,
    is_terminating,
    labels,
    name,
    owner,
    timestamp,
)
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from simulator.slurm import names, objects
from simulator.slurm import nodes as model

KINDS = ("controllers", "restapis", "loginsets", "nodesets")
NODES, STATEFUL, DEPLOYMENTS = "/api/v1/nodes", "/apis/apps/v1/statefulsets", "/apis/apps/v1/deployments"
PODS = "/api/v1/pods"
OPERATOR = f"app.kubernetes.io/name={names.OPERATOR_CHART}"
OF_SLURM = f"{objects.COMPONENT} in (controller,restapi)"
OF_NODES = f"{objects.APP}={names.NODE}"
CONDITION_FLAG, NAMESPACES_FLAG = "--propagated-node-conditions=", "--namespaces="


class SlurmOperator:
    """Simulates the slurm-operator while the operator's Deployment is available, in the namespaces that the operator
    watches.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.loop = Loop("slurm", self.round)
        self._operators = Watch(client, DEPLOYMENTS, self.loop.wake, OPERATOR)
        self._watches: dict[str, Watch] = {}
        self._made: dict[str, str] = {}

    def round(self) -> None:
        """Reconciles all objects of Slurm once; does nothing if no operator is running."""
        running = [each for each in self._operators.all() if int(at(each, "status.availableReplicas", 0)) > 0]
        if not running:
            return
        if not self._watches:
            self._watch()
        arguments: list[str] = at(running[0], "spec.template.spec.containers", [{}])[0].get("args", [])
        spaces = _flag(arguments, NAMESPACES_FLAG)
        conditions = _flag(arguments, CONDITION_FLAG)
        for controller in self._all("controllers"):
            if not spaces or at(controller, "metadata.namespace") in ",".join(spaces).split(","):
                self._serve(controller, conditions)

    def _watch(self) -> None:
        selectors = {STATEFUL: OF_SLURM, DEPLOYMENTS: OF_SLURM, PODS: OF_NODES}
        paths = {each: f"/apis/{names.API_VERSION}/{each}" for each in KINDS}
        paths |= {each: each for each in (NODES, STATEFUL, DEPLOYMENTS, PODS)}
        for key, path in paths.items():
            self._watches[key] = Watch(self._client, path, self.loop.wake, selectors.get(key, ""))
        for watch in self._watches.values():
            watch.synced.wait()

    def _all(self, key: str) -> list[Json]:
        return [each for each in self._watches[key].all() if not is_terminating(each)]

    def _of(self, key: str, controller: Json) -> list[Json]:
        """Resources of the kind `key` that belong to the Slurm cluster of a Controller. The operator considers only
        resources in the Controller's namespace.
        """
        where, own = at(controller, "metadata.namespace"), name(controller)
        mine = (each for each in self._all(key) if at(each, "metadata.namespace") == where)
        return [each for each in mine if objects.cluster_of(each) == own]

    def _serve(self, controller: Json, propagated: list[str]) -> None:
        nodesets, rests = self._of("nodesets", controller), self._of("restapis", controller)
        wanted = objects.controller_objects(controller, nodesets)
        wanted += [made for each in rests for made in objects.rest_objects(each)]
        wanted += [made for each in self._of("loginsets", controller) for made in objects.login_objects(each)]
        wanted += objects.worker_objects(controller, nodesets) if nodesets else []
        for each in wanted:
            self._apply(each)
        has_slurmctld = self._is_available(STATEFUL, {f"{name(controller)}-controller"})
        # The operator talks to Slurm only through slurmrestd: without slurmrestd, no state is known and no
        # node is drained.
        speaks = has_slurmctld and self._is_available(DEPLOYMENTS, {f"{name(each)}-restapi" for each in rests})
        for nodeset in nodesets:
            self._nodes(nodeset, propagated, has_slurmctld=has_slurmctld, speaks=speaks)

    def _is_available(self, key: str, wanted: set[str]) -> bool:
        found = [each for each in self._all(key) if name(each) in wanted]
        return any(int(at(each, "status.readyReplicas", 0)) > 0 for each in found)

    def _nodes(self, nodeset: Json, propagated: list[str], *, has_slurmctld: bool, speaks: bool) -> None:
        nodes = self._watches[NODES].all()
        pods = [each for each in self._all(PODS) if owner(each, "NodeSet") == name(nodeset)]
        todo = model.work(nodeset, nodes, pods)
        for node in todo.create:
            path = f"/api/v1/namespaces/{at(nodeset, 'metadata.namespace')}/pods"
            self._watches[PODS].put(self._client.request("POST", path, model.pod(nodeset, node)))
        by_name = {name(each): each for each in nodes}
        for pod in pods:
            node = by_name.get(str(at(pod, "spec.nodeName", "")))
            why = todo.condemned.get(name(pod), "")
            if node is None:
                if why:
                    self._delete(pod)
                continue
            given = self._started(pod, ready=has_slurmctld)
            if not (speaks and is_ready(given)):
                continue
            found = model.judge(given, nodeset, node, propagated, why)
            self._report(given, found)
            if why and not found.is_busy:
                self._delete(given)
        live = [each for each in self._all(PODS) if owner(each, "NodeSet") == name(nodeset)]
        wanted = model.status(nodeset, nodes, live, (name(each) for each in live if is_ready(each)))
        if wanted.items() - _flat(at(nodeset, "status", {})).items():
            path = f"{_path(nodeset, f'apis/{names.API_VERSION}', 'nodesets')}/status"
            self._patch(path, {"status": wanted}, "nodesets")

    def _started(self, pod: Json, *, ready: bool) -> Json:
        """The Pod of slurmd with an updated status. The Pod runs as soon as it has a node, and becomes ready when
        slurmd has registered with slurmctld (probe /readyz).
        """
        if is_ready(pod) or (not ready and at(pod, "status.phase") == "Running"):
            return pod
        now, state = timestamp(), "True" if ready else "False"
        message = "" if ready else f"containers with unready status: [{names.NODE}]"
        held: list[Json] = at(pod, "status.conditions", [])
        own = {"Initialized": "True", "ContainersReady": state, "Ready": state}
        new = [{"type": each, "status": value, "lastTransitionTime": now} for each, value in own.items()]
        new = [{**each, "message": message} if each["status"] == "False" else each for each in new]
        kept = [each for each in held if each["type"] not in own]
        containers = [_running(each, now, ready=ready) for each in pod["spec"]["containers"]]
        first = [_running(each, now, ready=True) for each in at(pod, "spec.initContainers", [])]
        status: Json = {"phase": "Running", "startTime": now, "conditions": [*kept, *new]}
        status |= {"containerStatuses": containers, **({"initContainerStatuses": first} if first else {})}
        return self._patch(f"{_path(pod, 'api/v1', 'pods')}/status", {"status": status}, PODS) or pod

    def _report(self, pod: Json, found: model.SlurmNode) -> None:
        """Writes Slurm's state of the node to its Pod: conditions, the cordon, and the protection of running jobs."""
        wanted = model.conditions(pod, found, timestamp())
        if wanted != at(pod, "status.conditions", []):
            self._patch(f"{_path(pod, 'api/v1', 'pods')}/status", {"status": {"conditions": wanted}}, PODS)
        drained = found.reason.startswith(names.REASON_PREFIX)
        cordoned = names.POD_CORDON in annotations_of(pod)
        # A drain by others is left as it is, with the Pod's annotation.
        cordon = drained if drained or not found.reason else cordoned
        protected = names.POD_PROTECT in labels(pod)
        if (cordon, found.is_busy) != (cordoned, protected):
            metadata = {
                "annotations": {names.POD_CORDON: "true" if cordon else None},
                "labels": {names.POD_PROTECT: "true" if found.is_busy else None},
            }
            self._patch(_path(pod, "api/v1", "pods"), {"metadata": metadata}, PODS)

    # Writes

    def _apply(self, item: Json) -> None:
        group = "api/v1" if item["apiVersion"] == "v1" else f"apis/{item['apiVersion']}"
        path = _path(item, group, f"{item['kind'].lower()}s")
        watch = {"StatefulSet": STATEFUL, "Deployment": DEPLOYMENTS}.get(item["kind"])
        mark = digest(item)
        if self._made.get(path) == mark and (watch is None or name(item) in map(name, self._all(watch))):
            return
        found = self._client.patch(path, item, APPLY_PATCH, {"fieldManager": "slurm-operator", "force": "true"})
        if watch is not None:
            self._watches[watch].put(found)
        self._made[path] = mark

    def _patch(self, path: str, body: Json, watched: str) -> Json | None:
        """Patches an object and returns it; None if the object was deleted."""
        try:
            found: Json = self._client.patch(path, body, MERGE_PATCH)
        except ApiError as refusal:
            if refusal.code not in (404, 409):
                raise
            return None
        self._watches[watched].put(found)
        return found

    def _delete(self, pod: Json) -> None:
        try:
            self._client.request("DELETE", _path(pod, "api/v1", "pods"), params={"gracePeriodSeconds": "0"})
        except ApiError as refusal:
            if refusal.code != 404:
                raise
        self._watches[PODS].forget(pod)


def _path(item: Json, group: str, plural: str) -> str:
    return f"/{group}/namespaces/{at(item, 'metadata.namespace')}/{plural}/{name(item)}"


def _flag(arguments: list[str], flag: str) -> list[str]:
    return [each.removeprefix(flag) for each in arguments if each.startswith(flag)]


def _flat(status: Json) -> dict[str, Any]:
    return {key: value for key, value in status.items() if not isinstance(value, (list, dict))}


def _running(container: Json, now: str, *, ready: bool) -> Json:
    shown = {"name": container["name"], "image": container["image"], "imageID": "", "restartCount": 0}
    return {**shown, "ready": ready, "started": True, "state": {"running": {"startedAt": now}}}
