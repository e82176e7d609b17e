"""Choice of the Pods that a repair evicts from its node, and of the Pods that the repair waits for. Pure functions.

The choice is more careful than that of `kubectl drain`. The Pod of a Job, or a Pod without a controller, is never
evicted, because nothing would continue its work elsewhere; the repair waits until it ends. A Pod that Kubernetes starts
again elsewhere is evicted, as disruption budgets allow. Slurm itself drains its node when the node is cordoned: the
repair waits for Slurm's jobs, and does not wait for Slurm's daemon.
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
"""Annotation with which a Pod's owner allows its eviction, including the loss of local data."""
MOVABLE = ("ReplicaSet", "StatefulSet", "ReplicationController")
"""Controllers that start a Pod again on another node."""


@dataclass(frozen=True)
class Load:
    """Pods on a node, grouped by the way in which a drain treats them."""

    evicted: tuple[tuple[str, str], ...] = ()
    """Namespace and name of the Pods to evict."""
    awaited: tuple[tuple[str, str, str], ...] = ()
    """Namespace and name of the Pods whose end the repair waits for, each with the reason."""
    released: tuple[tuple[str, str], ...] = ()
    """Namespace and name of the Pods of Slurm's daemons, after Slurm has drained the node. These Pods are evicted, but
    the repair does not wait for their end: Slurm's operator may start them again on the cordoned node, where they do
    nothing.
    """

    @property
    def is_gone(self) -> bool:
        return not self.evicted and not self.awaited


def load_of(pods: Iterable[Mapping[str, Any]]) -> Load:
    """The Pods of a node, divided by how a drain treats them. Pods of DaemonSets, static Pods and Pods that have ended
    are left out.
    """
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
    """Reason why the Pod of a Slurm daemon is not evicted yet; empty if Slurm has drained its node and no jobs run on
    it.
    """
    found = slurm_node(pod)
    if found.is_busy:
        return f"jobs of Slurm run on its node {found.host}"
    # A Slurm daemon that has never registered has no jobs.
    return "" if found.drained_for or not found.states else f"Slurm has not drained its node {found.host} yet"


def _controller(pod: Mapping[str, Any]) -> str:
    owners: list[Mapping[str, Any]] = at(pod, "metadata.ownerReferences", [])
    return next((str(each.get("kind", "")) for each in owners if each.get("controller")), "")


def _kept(pod: Mapping[str, Any], owner: str) -> str:
    """Reason why a drain does not evict a Pod; empty if it evicts the Pod. `owner`: kind of the Pod's controller."""
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
