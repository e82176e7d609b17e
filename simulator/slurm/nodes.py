"""The Pods of slurmd, and the state of each node in Slurm. Pure functions over plain objects.

Real Slurm keeps this state in slurmctld. The simulator keeps it only in the conditions of the node's Pod, to which the
operator copies it. Two annotations of the Pod replace actions of people: `slurm-gpus` is the number of GPUs that jobs
hold now, and `slurm-drain` is the reason of a drain that an administrator has set with scontrol.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.vendors import GPU_DOMAINS
from physical_ai.kubernetes.fit import requests
from physical_ai.kubernetes.selectors import selects
from physical_ai.kubernetes.taints import tolerates
from simulator.cluster.names import RUN_BY, SIMULATOR
from simulator.cluster.objects import Json, annotations_of, at, digest, labels, matches, name
from simulator.slurm import names
from simulator.slurm.objects import APP, CLUSTER_LABEL, COMPONENT, INSTANCE, PORTS, cluster_of, container

MODEL = "slurm"
GPUS_IN_USE, EXTERNAL_DRAIN = f"{SIMULATOR}slurm-gpus", f"{SIMULATOR}slurm-drain"
HOSTNAME, SCALING_MODE = f"{names.NODE_PREFIX}pod-hostname", f"{names.NODE_PREFIX}scaling-mode"
REVISION = "controller-revision-hash"
MAX_UNAVAILABLE = 0.25
"""Largest share of the Pods that a rolling update makes unavailable (api/v1beta1/nodeset_types.go)."""
_CAPABILITIES = ("BPF", "NET_ADMIN", "SYS_ADMIN", "SYS_NICE")


def revision(nodeset: Json) -> str:
    """Digest of those fields of a NodeSet whose change replaces its Pods."""
    spec: Json = at(nodeset, "spec", {})
    return digest([spec.get(key) for key in ("slurmd", "logfile", "template", "extraConf")])


def pod(nodeset: Json, node: str) -> Json:
    """The Pod of a NodeSet for one node. Its affinity makes the scheduler place it on this node."""
    hostname = node.partition(".")[0]
    given: Json = at(nodeset, "spec.template.spec", {})
    main = container(
        names.NODE,
        at(nodeset, "spec.slurmd", {}),
        args=["-Z", "--conf-server", f"{cluster_of(nodeset)}-controller.{at(nodeset, 'metadata.namespace')}:6817"],
        ports=[{"name": names.NODE, "containerPort": PORTS[names.NODE], "protocol": "TCP"}],
        securityContext={"privileged": True, "capabilities": {"add": list(_CAPABILITIES)}},
    )
    by_name = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    others = {"labelSelector": {"matchExpressions": [{"key": APP, "operator": "In", "values": [names.NODE]}]}}
    affinity = {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": by_name}},
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "kubernetes.io/hostname", **others}]
        },
    }
    beside = at(nodeset, "spec.logfile", {})
    spec = {
        **given,
        "hostname": hostname,
        "subdomain": f"slurm-workers-{cluster_of(nodeset)}",
        "automountServiceAccountToken": False,
        "affinity": affinity,
        "containers": [main],
        **({"initContainers": [container("logfile", beside, restartPolicy="Always")]} if beside else {}),
    }
    marks = {APP: names.NODE, INSTANCE: name(nodeset), COMPONENT: "worker", CLUSTER_LABEL: cluster_of(nodeset)}
    marks |= {HOSTNAME: hostname, SCALING_MODE: "DaemonSet", REVISION: revision(nodeset)}
    owner = {"apiVersion": names.API_VERSION, "kind": "NodeSet", "name": name(nodeset)}
    owner |= {"uid": at(nodeset, "metadata.uid", ""), "controller": True, "blockOwnerDeletion": True}
    metadata = {
        "generateName": f"{name(nodeset)}-",
        "namespace": at(nodeset, "metadata.namespace"),
        "labels": marks,
        "annotations": {RUN_BY: MODEL},
        "ownerReferences": [owner],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def should_run(nodeset: Json, node: Json) -> tuple[bool, bool]:
    """Pair of answers about a node (PodShouldRunOnNode): the first is True if a Pod of the NodeSet may start on the
    node, the second if a running Pod may stay there.
    """
    given: Json = {"spec": at(nodeset, "spec.template.spec", {})}
    if not (matches(at(given, "spec.nodeSelector", {}), labels(node)) and selects(given, node)):
        return False, False
    tolerations: Sequence[Json] = at(given, "spec.tolerations", [])
    taints: Sequence[Json] = at(node, "spec.taints", [])
    hostile = [each for each in taints if not any(tolerates(one, each) for one in tolerations)]
    starts = not any(each["effect"] in ("NoSchedule", "NoExecute") for each in hostile)
    return starts, not any(each["effect"] == "NoExecute" for each in hostile)


@dataclass(frozen=True)
class Work:
    """Actions on a NodeSet's Pods: nodes that get a Pod, and Pods that are deleted once Slurm has drained their
    nodes.
    """

    create: tuple[str, ...]
    condemned: Mapping[str, str]
    """Reasons for the deletion of Pods, by name of the Pod."""


def work(nodeset: Json, nodes: Iterable[Json], pods: Sequence[Json]) -> Work:
    """Actions on the Pods of a NodeSet in DaemonSet mode, the only mode that the simulator supports. Pods of an old
    revision are replaced a quarter at a time.
    """
    held = {str(at(each, "spec.nodeName", "") or _target(each)): each for each in pods}
    create: list[str] = []
    condemned: dict[str, str] = {}
    there: set[str] = set()
    where = at(nodeset, "metadata.namespace", "")
    for node in nodes:
        there.add(name(node))
        starts, stays = should_run(nodeset, node)
        present = held.get(name(node))
        if present is None and starts:
            create.append(name(node))
        elif present is not None and not stays:
            condemned[name(present)] = f"Pod ({where}/{name(present)}) is pending termination for scale-in"
    condemned |= {name(each): "the node is gone" for node, each in held.items() if node not in there}
    current = revision(nodeset)
    old = [each for each in pods if labels(each).get(REVISION) != current and name(each) not in condemned]
    fresh = [each for each in pods if labels(each).get(REVISION) == current and not is_registered(each)]
    # Pods whose nodes are already drained are replaced first.
    old.sort(key=lambda each: (names.POD_CORDON not in annotations_of(each), name(each)))
    for each in old[: max(0, math.ceil(len(pods) * MAX_UNAVAILABLE) - len(fresh))]:
        condemned[name(each)] = f"Pod ({where}/{name(each)}) is pending termination for scale-in"
    return Work(tuple(create), condemned)


def _target(given: Json) -> str:
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    return str(at(given, path)[0]["matchFields"][0]["values"][0])


@dataclass(frozen=True)
class SlurmNode:
    """State of one node in Slurm: its GPUs, their use, and a drain."""

    gpus: int
    in_use: int
    reason: str = ""
    """Reason of the node's drain; empty if the node takes jobs."""
    invalid: bool = False
    """True if the node has registered with less hardware than its configuration says."""

    @property
    def is_busy(self) -> bool:
        return self.in_use > 0

    @property
    def states(self) -> dict[str, str]:
        """The node's states in Slurm, each with its message, in the form of the Pod's conditions."""
        base = "Idle" if not self.is_busy else "Allocated" if self.in_use >= self.gpus else "Mixed"
        found = {base: "", **({"Drain": self.reason} if self.reason else {})}
        return found | ({"InvalidReg": self.reason} if self.invalid else {})


def is_registered(given: Json) -> bool:
    """True if slurmctld knows the node of a Pod."""
    return any(str(each["type"]).startswith(names.STATE_PREFIX) for each in at(given, "status.conditions", []))


def drain_reason(given: Json) -> str:
    """Reason why the node of a Pod is drained now; empty if it is not."""
    kind = f"{names.STATE_PREFIX}Drain"
    conditions: list[Json] = at(given, "status.conditions", [])
    return next((str(each.get("message", "")) for each in conditions if each["type"] == kind), "")


def judge(given: Json, nodeset: Json, node: Json, propagated: Sequence[str], condemned: str = "") -> SlurmNode:
    """The Slurm node after one round of the operator (syncCordon, processCondemned). A drain that an administrator has
    set is kept.

    Args:
        given: The node's Pod; its conditions contain Slurm's state before this round.
        nodeset: The Pod's NodeSet.
        node: The Kubernetes node.
        propagated: Types of node conditions that become the reason of a drain.
        condemned: Reason why the Pod has to be deleted; empty if it stays.
    """
    gpus = sum(count for resource, count in requests(given).items() if resource.startswith(GPU_DOMAINS))
    used = annotations_of(given).get(GPUS_IN_USE, "0")
    in_use = int(used) if used.isdigit() else 0
    configured = configured_gpus(nodeset)
    if configured > gpus:
        reason = f"gres/gpu count reported lower than configured ({gpus} < {configured})"
        return SlurmNode(gpus, in_use, reason, invalid=True)
    external, before = annotations_of(given).get(EXTERNAL_DRAIN, ""), drain_reason(given)
    if external:
        return SlurmNode(gpus, in_use, external)
    ours = before if before.startswith(names.REASON_PREFIX) else ""
    if condemned:
        return SlurmNode(gpus, in_use, f"{names.REASON_PREFIX}{condemned}")
    if at(node, "spec.unschedulable"):
        # A drain keeps the reason that it began with.
        return SlurmNode(gpus, in_use, ours or f"{names.REASON_PREFIX}{cordon_reason(given, node, propagated)}")
    return SlurmNode(gpus, in_use)


def configured_gpus(nodeset: Json) -> int:
    """Number of GPUs for each node in the NodeSet's `extraConf`; 0 if `extraConf` names no GPUs."""
    words = str(at(nodeset, "spec.extraConf", "")).split()
    given = next((word.partition("=")[2] for word in words if word.lower().startswith("gres=")), "")
    counts = [each.rpartition(":")[2] for each in given.split(",") if each.startswith(f"{names.RESOURCE_TYPE}:")]
    return sum(int(each) for each in counts if each.isdigit())


def cordon_reason(given: Json, node: Json, propagated: Sequence[str]) -> str:
    """Reason for draining a cordoned node. It comes from the node's annotation, else from those conditions whose types
    are in `propagated`, else it is a fixed sentence.
    """
    written = " ".join(annotations_of(node).get(names.CORDON_REASON, "").split())[:256]
    if written:
        return written
    conditions: list[Json] = at(node, "status.conditions", [])
    found = [
        f"({each.get('reason', '')}: {each.get('message', '')})"
        for kind in propagated
        for each in conditions
        if each["type"] == kind and each["status"] == "True"
    ]
    where = f"{at(given, 'metadata.namespace')}/{name(given)}"
    return "; ".join(found) or f"Node ({name(node)}) was cordoned, Pod ({where}) must be cordoned"


def conditions(given: Json, found: SlurmNode, now: str) -> list[Json]:
    """All conditions of a Pod. Conditions with Slurm's present states replace those with earlier states; unchanged
    conditions keep their times.
    """
    held: list[Json] = at(given, "status.conditions", [])
    before = {each["type"]: each for each in held}
    kept = [each for each in held if not str(each["type"]).startswith(names.STATE_PREFIX)]
    for state, message in found.states.items():
        kind = f"{names.STATE_PREFIX}{state}"
        new: Json = {"type": kind, "status": "True", "message": message}
        old = before.get(kind, {})
        same = all(old.get(key, "") == value for key, value in new.items())
        kept.append(old if same else {**new, "lastTransitionTime": now})
    return kept


def status(nodeset: Json, nodes: Iterable[Json], pods: Sequence[Json], ready: Iterable[str]) -> dict[str, Any]:
    """The status of a NodeSet. `ready`: names of the ready Pods."""
    running, current = set(ready), revision(nodeset)
    states = [{str(each["type"]) for each in at(one, "status.conditions", [])} for one in pods]

    def count(*wanted: str) -> int:
        return sum(any(f"{names.STATE_PREFIX}{each}" in found for each in wanted) for found in states)

    up = sum(name(each) in running for each in pods)
    return {
        "desired": sum(should_run(nodeset, node)[0] or should_run(nodeset, node)[1] for node in nodes),
        "replicas": len(pods),
        "updatedReplicas": sum(labels(each).get(REVISION) == current for each in pods),
        "readyReplicas": up,
        "availableReplicas": up,
        "unavailableReplicas": len(pods) - up,
        "slurmIdle": count("Idle"),
        "slurmAllocated": count("Allocated", "Mixed"),
        "slurmDown": 0,
        "slurmDrain": count("Drain"),
        "observedGeneration": at(nodeset, "metadata.generation", 1),
        "nodeSetHash": current,
        "selector": f"{INSTANCE}={name(nodeset)},{APP}={names.NODE}",
    }
