"""Pods that leave a node before its repair, and Pods that the repair waits for. Pure functions.

This is more careful than `kubectl drain`: a Job's Pod, or a Pod without a controller, is never evicted, since nothing
would continue its work elsewhere; the repair waits for its end. Pods that Kubernetes starts elsewhere are evicted, as
disruption budgets allow. A node of Slurm's is drained by Slurm because of the cordon: the repair waits for its jobs,
not for its daemon.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.osmo import WORKFLOW_LABEL
from physical_ai.kubernetes.objects import annotations_of, at, labels, name, namespace
from physical_ai.readiness.slurmd import is_slurmd, slurm_node

MIRROR = "kubernetes.io/config.mirror"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
"""Annotation: the owner says that the Pod may be evicted, local data included."""
MOVABLE = ("ReplicaSet", "StatefulSet", "ReplicationController")
"""Controllers that start a Pod again on another node."""


@dataclass(frozen=True)
class Load:
    """Pods on a node, by how a drain treats them."""

    evicted: tuple[tuple[str, str], ...] = ()
    """Namespace and name of Pods to evict."""
    awaited: tuple[tuple[str, str, str], ...] = ()
    """Namespace, name and reason of Pods whose end is awaited."""
    released: tuple[tuple[str, str], ...] = ()
    """Daemons of Slurm's whose node is drained and has no jobs. They are evicted, and not waited for: the operator may
    start them again on a cordoned node, where they do nothing."""

    @property
    def is_gone(self) -> bool:
        return not self.evicted and not self.awaited


def load_of(pods: Iterable[Mapping[str, Any]]) -> Load:
    """The Pods of a node by treatment, without those of DaemonSets, static Pods, and Pods that have ended."""
    evicted: list[tuple[str, str]] = []
    awaited: list[tuple[str, str, str]] = []
    released: list[tuple[str, str]] = []
    for pod in sorted(pods, key=lambda each: (namespace(each), name(each))):
        if at(pod, "status.phase") in ("Succeeded", "Failed") or MIRROR in annotations_of(pod):
            continue
        owner = _controller(pod)
        if owner == "DaemonSet":
            continue
        reason = _of_slurm(pod) if is_slurmd(pod) else _kept(pod, owner)
        if is_slurmd(pod) and not reason:
            released.append((namespace(pod), name(pod)))
        elif reason:
            awaited.append((namespace(pod), name(pod), reason))
        else:
            evicted.append((namespace(pod), name(pod)))
    return Load(tuple(evicted), tuple(awaited), tuple(released))


def _of_slurm(pod: Mapping[str, Any]) -> str:
    """Reason why a Slurm daemon's Pod does not leave yet; empty once Slurm has drained its node and no jobs run."""
    found = slurm_node(pod)
    if found.is_busy:
        return f"jobs of Slurm run on its node {found.host}"
    # A daemon that has never registered has no jobs.
    return "" if found.drained_for or not found.states else f"Slurm has not drained its node {found.host} yet"


def _controller(pod: Mapping[str, Any]) -> str:
    owners: list[Mapping[str, Any]] = at(pod, "metadata.ownerReferences", [])
    return next((str(each.get("kind", "")) for each in owners if each.get("controller")), "")


def _kept(pod: Mapping[str, Any], owner: str) -> str:
    """Reason why a Pod is not evicted; empty if it is."""
    if at(pod, "metadata.deletionTimestamp"):
        return "is ending"
    workflow = labels(pod).get(WORKFLOW_LABEL)
    if workflow:
        return f"a task of the OSMO workflow {workflow}"
    if annotations_of(pod).get(SAFE) == "true":
        return ""
    if owner == "Job":
        return "a Pod of a Job, which would start over"
    if owner not in MOVABLE:
        return f"a Pod of a {owner}" if owner else "a Pod without a controller, which would not be recreated"
    volumes: list[Mapping[str, Any]] = at(pod, "spec.volumes", [])
    local = [
        str(each.get("name")) for each in volumes if "emptyDir" in each and at(each, "emptyDir.medium") != "Memory"
    ]
    return f"has data in emptyDir {', '.join(local)}; annotate it with {SAFE}=true to evict it" if local else ""
