"""The operator's controllers: reads the cluster into a State, lets the model decide, carries out its steps."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any, cast

from physical_ai.simulator.cluster.names import RUN_BY
from physical_ai.simulator.cluster.objects import (
    Json,
    at,
    by_name,
    is_ready,
    is_terminating,
    labels,
    name,
    owner,
    timestamp,
)
from physical_ai.simulator.gpu import names, operator
from physical_ai.simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from physical_ai.simulator.gpu.live.cluster import Cluster, Operator
from physical_ai.simulator.gpu.state import State, Step
from physical_ai.simulator.gpu.upgrade import DriverPod

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
TEMPLATE_GENERATION = "pod-template-generation"
DAEMONSET_GENERATION = "deprecated.daemonset.template.generation"


def without_times(status: Any) -> Json:
    """A status as the model writes it: times of conditions are the API server's business."""
    if not isinstance(status, dict):
        return {}
    found: Json = dict(cast("Json", status))
    conditions: list[Json] = found.get("conditions") or []
    if conditions:
        kept = ("type", "status", "reason", "message")
        found["conditions"] = [{key: each.get(key, "") for key in kept} for each in conditions]
    return found


def state_of(cluster: Cluster, given: Operator) -> State:
    """Everything the operator looks at. Of several ClusterPolicies the oldest counts."""
    policies = sorted(cluster.all("ClusterPolicy"), key=lambda item: str(at(item, "metadata.creationTimestamp", "")))
    policy = next((_bare(item) for item in policies if not is_terminating(item)), None)
    uid = at(policy, "metadata.uid")
    daemonsets = by_name(
        item for item in cluster.all("DaemonSet") if not is_terminating(item) and not _is_left(item, uid)
    )
    pods = [item for item in cluster.all("Pod") if not is_terminating(item)]
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
        validated=frozenset(
            str(at(pod, "spec.nodeName")) for pod in pods if owner(pod, "DaemonSet") == VALIDATOR and is_ready(pod)
        ),
        namespace=given.namespace,
        draw=secrets.randbelow(60),
    )


def _bare(item: Json) -> Json:
    return {**item, "status": without_times(item.get("status"))}


def _is_left(item: Json, uid: Any) -> bool:
    """Whether it belongs to a deleted ClusterPolicy: it will be collected, and has to be recreated."""
    references: list[Json] = at(item, "metadata.ownerReferences", [])
    return any(each.get("kind") == "ClusterPolicy" and each.get("uid") != uid for each in references)


def _is_own(daemonset: Json) -> bool:
    return bool(owner(daemonset, "ClusterPolicy") or owner(daemonset, "NVIDIADriver"))


def _driver_pods(pods: list[Json], daemonsets: dict[str, Json]) -> dict[str, DriverPod]:
    found: dict[str, DriverPod] = {}
    for pod in pods:
        node, made_by = str(at(pod, "spec.nodeName", "")), daemonsets.get(owner(pod, "DaemonSet"))
        if node and made_by is not None and labels(pod).get(COMPONENT) == DRIVER_COMPONENT:
            generation = str(at(made_by, "metadata.annotations", {}).get(DAEMONSET_GENERATION, ""))
            found[node] = DriverPod(labels(pod).get(TEMPLATE_GENERATION) == generation, is_ready(pod))
    return found


class Controllers:
    """The operator's four controllers, as one process runs them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._seen: State | None = None

    def restart(self) -> None:
        """A new operator has none of the state of the previous one."""
        self._seen = None

    def run(self, given: Operator) -> bool:
        """One pass of the controllers that are awake; returns whether it wrote anything."""
        state = state_of(self._cluster, given)
        awake = operator.wakes(self._seen, state)
        if is_missing_driver_pods(state):
            awake -= {"upgrade"}
        self._seen = state
        if not awake or state.policy is None:
            return False
        if self._cluster.serves("monitoring.coreos.com/v1", "ServiceMonitor"):
            state = replace(state, crds=frozenset({"ServiceMonitor"}))
        steps = operator.reconcile(state, awake).steps
        for step in steps:
            self._carry_out(state, step)
        return bool(steps)

    def _carry_out(self, state: State, step: Step) -> None:
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
            case "restart":
                for pod in cluster.all("Pod"):
                    mine = labels(pod).get(COMPONENT) == DRIVER_COMPONENT
                    if mine and at(pod, "spec.nodeName") == step.name and not is_terminating(pod):
                        cluster.delete(pod)


def is_missing_driver_pods(state: State) -> bool:
    """Whether a driver Pod has not been recreated yet. The upgrade controller does nothing until all exist
    (NVIDIA/k8s-operator-libs, BuildState): a node whose pod has just been deleted would not count as busy."""
    drivers = (item for item in state.daemonsets.values() if labels(item).get(COMPONENT) == DRIVER_COMPONENT)
    return sum(int(at(item, "status.desiredNumberScheduled", 0)) for item in drivers) > len(state.pods)


def marked(daemonset: Json) -> Json:
    """The DaemonSet with Pods that have this model's annotation."""
    template: Json = daemonset["spec"]["template"]
    metadata: Json = template["metadata"]
    annotated = {**metadata, "annotations": {**metadata.get("annotations", {}), RUN_BY: names.STACK}}
    return {**daemonset, "spec": {**daemonset["spec"], "template": {**template, "metadata": annotated}}}
