"""The operator's controllers on a live cluster. They read the cluster into a `State`, compute the operator's steps with
`simulator.gpu`, and write these steps to the cluster.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, cast

from simulator.cluster.names import RUN_BY
from simulator.cluster.objects import (
    Json,
    annotations_of,
    at,
    by_name,
    is_ready,
    is_terminating,
    labels,
    name,
    owner,
    timestamp,
)
from simulator.gpu import names, operator, policies
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from simulator.gpu.driver_digest import is_same_install
from simulator.gpu.live.cluster import Cluster, Operator
from simulator.gpu.pacing import Pacing
from simulator.gpu.release import release
from simulator.gpu.state import State, Write
from simulator.gpu.upgrade_states import CLEARING, EVICTING, MOST_RESTARTS, DriverPod, Note
from simulator.gpu.workloads import Workload
from simulator.kubernetes.client import ApiError

COMPANIONS = (
    "ConfigMap",
    "ServiceAccount",
    "Service",
    "Role",
    "RoleBinding",
    "ClusterRole",
    "ClusterRoleBinding",
    "RuntimeClass",
)
VALIDATOR = "nvidia-operator-validator"
TOO_MANY_REQUESTS = 429
_TIMERS = {names.COMPLETION_START, names.VALIDATION_START}
TEMPLATE_GENERATION = "pod-template-generation"
DAEMONSET_GENERATION = "deprecated.daemonset.template.generation"


def without_times(status: Any) -> Json:
    """A status in the form in which the simulator writes it: without the times of conditions, which the API server
    sets.
    """
    if not isinstance(status, dict):
        return {}
    found: Json = dict(cast("Json", status))
    conditions: list[Json] = found.get("conditions") or []
    if conditions:
        kept = ("type", "status", "reason", "message")
        found["conditions"] = [{key: each.get(key, "") for key in kept} for each in conditions]
    return found


def state_of(cluster: Cluster, given: Operator, held: str = "") -> State:
    """Everything in the cluster that the operator reads.

    `held`: name of the ClusterPolicy that the operator has followed so far; empty when the operator starts.
    """
    present = [_bare(item) for item in cluster.all("ClusterPolicy") if not is_terminating(item)]
    policy = policies.active(release(given.release), present, held)
    uid = at(policy, "metadata.uid")
    daemonsets = by_name(
        item for item in cluster.all("DaemonSet") if not is_terminating(item) and not _is_left(item, uid)
    )
    pods = [item for item in cluster.all("Pod") if not is_terminating(item)]
    validators = [pod for pod in pods if owner(pod, "DaemonSet") == VALIDATOR]
    return State(
        release=given.release,
        policy=policy,
        nodes=by_name(cluster.nodes),
        drivers=by_name(_bare(item) for item in cluster.all("NVIDIADriver") if not is_terminating(item)),
        daemonsets={key: item for key, item in daemonsets.items() if _is_own(item)},
        others={
            (kind, name(item)): item
            for kind in COMPANIONS
            for item in cluster.all(kind)
            if not is_terminating(item) and not _is_left(item, uid)
        },
        pods=_driver_pods(pods, daemonsets),
        validated=frozenset(str(at(pod, "spec.nodeName")) for pod in validators if is_ready(pod)),
        validating=frozenset(str(at(pod, "spec.nodeName")) for pod in validators),
        ignored=by_name(item for item in present if item is not policy),
        namespace=given.namespace,
        manager_image=given.manager_image,
        draw=secrets.randbelow(60),
    )


def _bare(item: Json) -> Json:
    return {**item, "status": without_times(item.get("status"))}


def _is_left(item: Json, uid: Any) -> bool:
    """True if `item` belongs to a ClusterPolicy with another uid than `uid`. That ClusterPolicy was deleted, so the
    object will be garbage-collected and has to be created again.
    """
    references: list[Json] = at(item, "metadata.ownerReferences", [])
    return any(each.get("kind") == "ClusterPolicy" and each.get("uid") != uid for each in references)


def _is_own(daemonset: Json) -> bool:
    return bool(owner(daemonset, "ClusterPolicy") or owner(daemonset, "NVIDIADriver"))


def _driver_pods(pods: list[Json], daemonsets: dict[str, Json]) -> dict[str, DriverPod]:
    found: dict[str, DriverPod] = {}
    for pod in pods:
        node, made_by = str(at(pod, "spec.nodeName", "")), daemonsets.get(owner(pod, "DaemonSet"))
        if not node or labels(pod).get(COMPONENT) != DRIVER_COMPONENT:
            continue
        if made_by is not None:
            generation = str(at(made_by, "metadata.annotations", {}).get(DAEMONSET_GENERATION, ""))
            current = labels(pod).get(TEMPLATE_GENERATION) == generation
            same = is_same_install(pod["spec"], at(made_by, "spec.template.spec", {}))
            found[node] = DriverPod(current, is_ready(pod), _is_failing(pod), same_install=same)
        elif not at(pod, "metadata.ownerReferences", []):
            found.setdefault(node, DriverPod(current=False, ready=is_ready(pod), is_orphan=True))
    return found


def _is_failing(pod: Json) -> bool:
    containers: list[Json] = [*at(pod, "status.initContainerStatuses", []), *at(pod, "status.containerStatuses", [])]
    return any(not each.get("ready") and int(each.get("restartCount", 0)) > MOST_RESTARTS for each in containers)


def model_time(nodes: Iterable[Json]) -> float:
    """Latest simulated time, in seconds since the epoch, that a process has recorded on any of the nodes; 0 if none is
    recorded.
    """
    return max((float(annotations_of(node).get(names.MODEL_TIME, 0)) for node in nodes), default=0.0)


class Controllers:
    """The operator's four controllers, with the state that one operator process keeps about them in memory."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._pacing = Pacing()
        self._since: dict[str, tuple[str, float]] = {}
        """Nodes whose Pods are being evicted. Values: the node's upgrade state, and the simulated time at which it
        began.
        """

    @property
    def are_waiting(self) -> bool:
        """True if a controller has to run again after some time, even if no object changes."""
        return bool(self._since) or self._pacing.is_waiting

    @property
    def policy(self) -> Json:
        """The ClusterPolicy that the operator follows; empty if there is none."""
        seen = self._pacing.seen
        return (seen.policy if seen else None) or {}

    def restart(self) -> None:
        """Forgets the state of the controllers, as a restarted operator does."""
        self._pacing = Pacing()
        self._since = {}

    def run(self, given: Operator, now: float) -> bool:
        """Runs the controllers that are due at the simulated time `now`; returns True if they wrote anything but
        evictions.
        """
        state = self._with_workloads(state_of(self._cluster, given, self._pacing.followed), now)
        awake = self._pacing.awake(state)
        if not awake:
            return False
        if self._cluster.serves("monitoring.coreos.com/v1", "ServiceMonitor"):
            state = replace(state, crds=frozenset({"ServiceMonitor"}))
        steps = operator.reconcile(state, awake).steps
        for step in steps:
            self._carry_out(state, step)
        self._pacing.took(steps, now)
        if "upgrade" in awake:
            self._keep_time(now)
        return any(step.verb != "evict" for step in steps)

    def _keep_time(self, now: float) -> None:
        """Records the simulated time on the nodes that have timers: without a record, each new process starts at time
        zero.
        """
        for node in self._cluster.nodes:
            if _TIMERS & annotations_of(node).keys():
                self._cluster.annotate(node, {names.MODEL_TIME: str(int(now))})

    def _with_workloads(self, state: State, now: float) -> State:
        """`state`, completed for driver upgrades: the Pods on nodes that are being cleared, and the seconds for which
        the
        operator has tried to evict Pods from each node.
        """
        begun: dict[str, tuple[str, float]] = {}
        for key, node in state.nodes.items():
            if (stage := labels(node).get(names.UPGRADE_STATE, "")) in EVICTING:
                known = self._since.get(key)
                begun[key] = known if known is not None and known[0] == stage else (stage, now)
        self._since = begun
        cleared = [key for key, node in state.nodes.items() if labels(node).get(names.UPGRADE_STATE) in CLEARING]
        counts_claims = release(state.release).counts_claims
        return replace(
            state,
            workloads={key: self._cluster.workloads_on(key, claims=counts_claims) for key in cleared},
            waited={key: now - since for key, (_, since) in begun.items()},
            now=now,
        )

    def _evict(self, pod: Workload) -> None:
        try:
            self._cluster.evict(pod.namespace, pod.name)
        except ApiError as refusal:
            if refusal.code != TOO_MANY_REQUESTS:
                raise
            # A disruption budget may refuse the eviction: the next round tries again.

    def _carry_out(self, state: State, step: Write) -> None:
        cluster = self._cluster
        item: Json = {"kind": step.kind, "metadata": {"name": step.name}}
        match step.verb:
            case "label":
                cluster.label(item, step.body)
            case "annotate":
                cluster.annotate(item, step.body)
            case "cordon":
                cluster.patch(item, {"spec": {"unschedulable": step.body or None}})
            case "apply":
                cluster.apply(marked(step.body) if step.kind == "DaemonSet" else step.body)
            case "delete":
                known = state.daemonsets.get(step.name) if step.kind == "DaemonSet" else None
                found = known or state.others.get((step.kind, step.name))
                if found is not None:
                    cluster.delete(found)
            case "status":
                conditions = [{**each, "lastTransitionTime": timestamp()} for each in step.body.get("conditions", ())]
                cluster.patch(item, {"status": {**step.body, "conditions": conditions}}, sub="/status")
            case "evict":
                self._evict(step.body)
            case "event":
                cluster.apply(upgrade_event(state.nodes[step.name], step.body, timestamp()))
            case "restart":
                for pod in cluster.all("Pod"):
                    mine = labels(pod).get(COMPONENT) == DRIVER_COMPONENT
                    if mine and at(pod, "spec.nodeName") == step.name and not is_terminating(pod):
                        cluster.delete(pod)


def upgrade_event(node: Json, note: Note, now: str) -> Json:
    """Event about a step of a driver upgrade; the same step of the same node again updates the existing Event."""
    metadata: Json = node["metadata"]
    key = f"{metadata['name']}.{zlib.crc32(note.text.encode()):08x}"
    involved = {"apiVersion": "v1", "kind": "Node", "name": metadata["name"], "uid": metadata.get("uid", "")}
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": key, "namespace": "default"},
        "involvedObject": involved,
        "type": note.type,
        "reason": "GPUDriverUpgrade",
        "message": note.text,
        "source": {"component": "nvidia-gpu-operator"},
        "firstTimestamp": now,
        "lastTimestamp": now,
    }


def marked(daemonset: Json) -> Json:
    """The DaemonSet with the annotation RUN_BY in its Pod template: the simulated GPU stack runs these Pods."""
    template: Json = daemonset["spec"]["template"]
    metadata: Json = template["metadata"]
    annotated = {**metadata, "annotations": {**metadata.get("annotations", {}), RUN_BY: names.STACK}}
    return {**daemonset, "spec": {**daemonset["spec"], "template": {**template, "metadata": annotated}}}
