"""Nodes, driver Pods and policy of a driver upgrade, and the changes of a node's upgrade state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from simulator.cluster.objects import annotations_of, labels
from simulator.gpu import names
from simulator.gpu.workloads import Workload

REQUIRED, DONE, FAILED = "upgrade-required", "upgrade-done", "upgrade-failed"
CORDON, WAIT, DELETE_PODS, DRAIN = (
    "cordon-required",
    "wait-for-jobs-required",
    "pod-deletion-required",
    "drain-required",
)
RESTART, VALIDATE, UNCORDON = "pod-restart-required", "validation-required", "uncordon-required"
CLEARING = (WAIT, DELETE_PODS, DRAIN)
"""Upgrade states in which the Pods on the node determine the node's next state."""
EVICTING = (DELETE_PODS, DRAIN)
"""Upgrade states in which the operator repeats evictions until a time limit. The operator keeps the time of the first
attempt in memory only, so a restart of the operator forgets it.
"""
MOST_RESTARTS = 10
"""Number of container restarts above which a driver Pod that is not ready has failed."""
VALIDATION_SECONDS = 600
"""Seconds without a ready validator pod after which an upgrade has failed."""
AT_REST = ("", DONE)
WARNING = "Warning"


@dataclass(frozen=True)
class DriverPod:
    """A node's driver Pod. `current`: True if the Pod was created from the present template of its DaemonSet."""

    current: bool = True
    ready: bool = True
    failing: bool = False
    """True if a container is not ready and was restarted more than MOST_RESTARTS times."""
    same_install: bool = False
    """True if the Pod and the present template of its DaemonSet have the same DRIVER_CONFIG_DIGEST, so both install the
    same driver.
    """
    is_orphan: bool = False
    """True if no DaemonSet owns the Pod."""


@dataclass(frozen=True)
class Note:
    """An event on the node that the operator writes in addition to the events about changed upgrade states."""

    text: str
    type: str = "Normal"


@dataclass(frozen=True)
class Move:
    """Change of one node to its next upgrade state. `evict`: Pods that must be evicted before the state can change."""

    node: str
    state: str
    unschedulable: bool | None = None
    """New value of `spec.unschedulable`, written before the node's state label; None leaves the value as it is."""
    restart: bool = False
    """True if the move deletes the node's driver Pod; the Pod's DaemonSet (OnDelete) then creates a new one."""
    evict: tuple[Workload, ...] = ()
    annotations: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Changes of the node's annotations, in which the operator keeps data that must survive its restart. None removes
    an annotation.
    """
    notes: tuple[Note, ...] = field(default=(), compare=False)
    """Events on the node that tell a user about the move; they do not change the node."""


@dataclass(frozen=True)
class Pool:
    """Nodes for which one upgrade policy and one limit of parallel upgrades apply: the nodes of one NVIDIADriver, or
    all nodes of the ClusterPolicy.
    """

    nodes: Mapping[str, Any]
    """Node objects. Nodes without the upgrade annotation, or without a driver Pod, are ignored."""
    policy: Mapping[str, Any]
    """`upgradePolicy` of the ClusterPolicy or the NVIDIADriver."""
    pods: Mapping[str, DriverPod]
    validated: frozenset[str] = frozenset()
    """Nodes whose validator pod is ready."""
    workloads: Mapping[str, Sequence[Workload]] = field(default_factory=dict[str, "Sequence[Workload]"])
    """Pods on each node that is being cleared, by node."""
    validating: frozenset[str] = frozenset()
    """Nodes that have a validator pod, ready or not."""
    waited: Mapping[str, float] = field(default_factory=dict[str, float])
    """Simulated seconds for which the operator has tried to evict Pods, by node."""
    now: float = 0.0
    """Simulated time in seconds since the epoch."""
    restarts_in_place: bool = False
    """True if a node is not cleared when its new driver Pod would install the same driver: only the driver Pod is
    restarted.
    """

    @property
    def states(self) -> dict[str, str]:
        return {
            key: labels(node).get(names.UPGRADE_STATE, "")
            for key, node in sorted(self.nodes.items())
            if annotations_of(node).get(names.UPGRADE_ENABLED) == "true" and key in self.pods
        }
