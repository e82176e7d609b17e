"""The input of the diagnosis of workloads, and its results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.kubernetes.objects import Json
from physical_ai.readiness.model import Report
from physical_ai.readiness.nodes.signs import Alert, Seen
from physical_ai.readiness.platform.absence import PlatformState

STAGES: Mapping[str, str] = {
    "osmo": "OSMO has taken the workflow, and has sent its Pods to the cluster",
    "gang": "its controller has created the Pod and all that start with it, and a scheduler looks at it",
    "queue": "its queue may have more",
    "scheduling": "a pool has nodes for a Pod like this one",
    "capacity": "a node of that pool has room, or one is added",
    "volume": "its volumes exist, where the node is",
    "node": "the node works, and keeps the Pod",
    "start": "the kubelet has pulled the images and started the containers",
    "container": "the containers run",
}
"""The stages of a Pod in their order, and what each one being passed means."""


@dataclass(frozen=True)
class DeclaredPool:
    """A node pool as its settings describe it, with or without nodes."""

    name: str
    size: str
    """VM size."""
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, str]]
    allocatable: Mapping[str, str]
    """Capacity of an empty node, as Kubernetes writes quantities."""
    gpus: Mapping[str, int]
    """The GPU resources among them."""
    most: int
    """Maximum number of nodes."""
    autoscaled: bool
    existing: bool = False
    """True for a pool whose nodes are servers of an existing cluster: nothing adds one."""


@dataclass(frozen=True)
class Workloads:
    """Plain Kubernetes objects of all namespaces, and what the stack's settings and gates say."""

    nodes: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    events: Sequence[Json] = ()
    groups: Sequence[Json] = ()
    """PodGroups of KAI."""
    queues: Sequence[Json] | None = ()
    """Queues of KAI; None where the login may not read them, as below."""
    claims: Sequence[Json] | None = ()
    """ResourceClaims, and the ResourceSlices with the devices for them; read only where a Pod has a claim."""
    slices: Sequence[Json] = ()
    deployments: Sequence[Json] | None = ()
    """Deployments of the scheduler's and the agents' namespaces, at least."""
    pools: Sequence[DeclaredPool] = ()
    reports: Sequence[Report] = ()
    """The gates of the GPU pools."""
    logs: Mapping[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])
    """Last lines of log by namespace, Pod and container, for those that were read."""
    autoscaler: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The cluster autoscaler's own status; empty where it was not read."""
    azure: Mapping[str, Mapping[str, Any]] | None = None
    """Properties of the node pools in Azure, by name; None where Azure was not asked."""
    restarted: frozenset[str] = frozenset()
    """Nodes whose machine a repair has restarted lately."""
    alerts: Sequence[Alert] | None = None
    """Alerts that fire; None where no Prometheus was asked."""
    xids: Mapping[str, Sequence[Seen]] = field(default_factory=dict[str, Sequence[Seen]])
    """Xids that a Prometheus has counted, by node."""
    workflows: Sequence[Json] = ()
    """Workflows as OSMO describes them, where it was asked."""
    owners: Mapping[str, Sequence[Json]] = field(default_factory=dict[str, Sequence[Json]])
    """Owners of Pods, by kind: Job, CronJob, Deployment, ReplicaSet, StatefulSet, DaemonSet.

    A kind that was not read is absent.
    """
    records: Sequence[Json] = ()
    """Records of GPU machines (ConfigMaps)."""
    refused: Sequence[str] = ()
    """Refused requests for objects of the cluster; requests that were not made are left out."""
    unread: Sequence[str] = ()
    """Objects that the login may not read, with the refusal: nothing is known of them."""
    platform: PlatformState | None = None
    """Software that the stack installs, and the part of it that is there; None where it was not read."""
    has_agents: bool = False
    """True where the stack installs OSMO's agents."""
    stack: str = "STACK"
    existing: bool = False
    """True for an existing cluster, for which no advice is about AKS."""
    now: str = ""
    """The time of the reading, as Kubernetes writes it."""


@dataclass(frozen=True)
class Explanation:
    """One cause for one subject."""

    subject: str
    """`pod osmo-workflows/train-0`, `node aks-…`, `pool h100gpu`."""
    stage: str
    """A key of `STAGES`."""
    cause: str
    """Id of the cause in `data/workload_causes.yaml`, or of a gate's in `data/causes.yaml`."""
    reason: str
    """One sentence."""
    fix: str
    """Instruction, or the next command."""
    evidence: str
    """The message, event or status that shows it."""
    waits: bool = False
    """True for a cause that usually ends without an action."""
    where: str = ""
    """Source of the evidence: a condition, an event, a container's status, its log."""
    past: bool = False
    """True for an explanation of something that has left the cluster or is over."""
    known: bool = True
    """False where nothing is known but the evidence, in the original's own words."""
    signs: tuple[str, ...] = ()
    """All that shows it, with where each was read; the first is the evidence."""
    alerts: tuple[str, ...] = ()
    """Names of the alerts that it explains."""
    remedy: str = ""
    """`reboot` or `replace`, where the machine has to be restarted or replaced."""

    @property
    def needs_action(self) -> bool:
        return not (self.waits or self.past)

    def document(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "stage": self.stage,
            "cause": self.cause,
            "reason": self.reason,
            "fix": self.fix,
            "evidence": self.evidence,
            "readFrom": self.where,
            "waits": self.waits,
            "past": self.past,
            "known": self.known,
            "signs": list(self.signs),
            "alerts": list(self.alerts),
            "remedy": self.remedy,
        }


@dataclass(frozen=True)
class CauseGroup:
    """One cause with all its subjects."""

    first: Explanation
    subjects: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        return {**self.first.document(), "subjects": list(self.subjects)}
