"""Input and results of the diagnosis of workloads."""

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
"""Stages that a Pod passes, in order. The key is the stage's name; the text is the condition under which the Pod has
passed the stage.
"""


@dataclass(frozen=True)
class DeclaredPool:
    """A node pool as the settings describe it, with or without nodes."""

    name: str
    size: str
    """VM size of the pool's nodes."""
    labels: Mapping[str, str]
    taints: Sequence[Mapping[str, str]]
    allocatable: Mapping[str, str]
    """Capacity of an empty node, in Kubernetes' quantities."""
    gpus: Mapping[str, int]
    """GPU resources of an empty node."""
    most: int
    """Largest number of nodes."""
    autoscaled: bool
    existing: bool = False
    """True for a pool of an existing cluster, whose nodes are servers: nothing adds nodes to it."""


@dataclass(frozen=True)
class Workloads:
    """Objects of all namespaces of a cluster, and facts from the stack's settings and gates."""

    nodes: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    events: Sequence[Json] = ()
    groups: Sequence[Json] = ()
    """PodGroups of KAI."""
    queues: Sequence[Json] | None = ()
    """Queues of KAI. None means, here and in the fields `claims` and `deployments`, that the login may not read the
    objects.
    """
    claims: Sequence[Json] | None = ()
    """ResourceClaims, and the ResourceSlices with devices for them; read only where a Pod has a claim."""
    slices: Sequence[Json] = ()
    deployments: Sequence[Json] | None = ()
    """Deployments, at least those in the namespaces of the scheduler and the agents."""
    pools: Sequence[DeclaredPool] = ()
    reports: Sequence[Report] = ()
    """Reports about the gates of the GPU pools."""
    logs: Mapping[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])
    """Last log lines by namespace, Pod and container, for logs that were read."""
    autoscaler: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Status that the cluster autoscaler itself writes; empty if the status was not read."""
    azure: Mapping[str, Mapping[str, Any]] | None = None
    """Properties of the node pools in Azure, by name; None where Azure was not asked."""
    restarted: frozenset[str] = frozenset()
    """Nodes whose machine a repair has recently restarted."""
    alerts: Sequence[Alert] | None = None
    """Firing alerts; None where no Prometheus was asked."""
    xids: Mapping[str, Sequence[Seen]] = field(default_factory=dict[str, Sequence[Seen]])
    """Xids that a Prometheus has counted, by node."""
    workflows: Sequence[Json] = ()
    """OSMO's documents about workflows, where OSMO was asked."""
    owners: Mapping[str, Sequence[Json]] = field(default_factory=dict[str, Sequence[Json]])
    """Owners of Pods by kind: Job, CronJob, Deployment, ReplicaSet, StatefulSet, DaemonSet.

    A kind that was not read is missing.
    """
    records: Sequence[Json] = ()
    """ConfigMaps with the records of GPU machines."""
    refused: Sequence[str] = ()
    """Requests for objects of the cluster that were refused; `unread` also has those to a Prometheus. The commands
    `why` and `doctor` set it.
    """
    unread: Sequence[str] = ()
    """Objects that the login may not read, with the refusal; nothing is known about them."""
    platform: PlatformState | None = None
    """Expected and existing objects of the software that the stack installs; None if the objects were not read."""
    has_agents: bool = False
    """True where the stack installs OSMO's agents."""
    stack: str = "STACK"
    existing: bool = False
    """True for an existing cluster, to which advice about AKS does not apply."""
    now: str = ""
    """Time of the reading, as Kubernetes writes it."""


@dataclass(frozen=True)
class Explanation:
    """One cause of a problem, for one subject such as a Pod or a node."""

    subject: str
    """Subject of the explanation: `pod osmo-workflows/train-0`, `node aks-…`, `pool h100gpu`."""
    stage: str
    """Stage at which the subject stops: a key of `STAGES`."""
    cause: str
    """Id of the cause in `data/workload_causes.yaml`, or of a gate's cause in `data/causes.yaml`."""
    reason: str
    """Reason in one sentence."""
    fix: str
    """Instruction, or the next command."""
    evidence: str
    """Message, event or status that shows the cause."""
    waits: bool = False
    """True for a cause that usually ends without an action."""
    where: str = ""
    """Source of the evidence: a condition, an event, a container's status, its log."""
    past: bool = False
    """True if the Pod, node or pool no longer exists, or if what caused its problem has ended."""
    known: bool = True
    """True for an explanation by a known cause; False for an explanation that only repeats the evidence in its own
    words.
    """
    signs: tuple[str, ...] = ()
    """All signs of the cause, each with where it was read; the first one is the evidence."""
    alerts: tuple[str, ...] = ()
    """Names of the alerts that the cause explains."""
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
