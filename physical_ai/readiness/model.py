"""Input and results of the diagnosis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from parts.dra.names import DRIVER as CLAIM_DRIVER
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE

Json = Mapping[str, Any]
State = Literal["ready", "waiting", "empty"]
Source = Literal["operator", "grid", "aks", "host"]

GATES: Mapping[str, str] = {
    "node": "the node is Ready",
    "nfd": "Node Feature Discovery has found the GPU on the PCI bus",
    "labels": "the GPU Operator has labeled the node as a GPU node",
    "deploy-labels": "the labels that allow the operands on the node are `true`",
    "driver": "the operator's driver pod runs (driver source operator), or the GRID agent has verified its own (grid)",
    "driver-validation": "the toolkit's first container has found a driver",
    "toolkit": "the container toolkit has configured containerd for GPUs",
    "validator": "the validator has run a CUDA program",
    "device-plugin": "the device plugin has registered the GPUs",
    "dra-driver": "the DRA driver runs, in place of the device plugin, on pools with allocation: dra",
    "allocatable": "the node offers as many GPUs as the pool's settings define",
    "fabric": "the node offers its InfiniBand adapters, and all ports are active, on a pool with `fabric: infiniband`",
    "rollout": "the latest change has reached the node",
    "slurm": "slurmd runs on the node and has registered, on pools of `slurm.pools`",
}
"""Gates of a node in the order in which they open. The key is the gate's name; the text is the condition under which
the gate is open.
"""


@dataclass(frozen=True)
class Expected:
    """Resources that each node of a GPU pool should offer."""

    pool: str
    resources: Mapping[str, int]
    """Allocatable resources of one node: `{"nvidia.com/gpu": 2}`, or devices for claims: `{"gpu.nvidia.com": 2}`."""
    driver_source: Source
    needs_mig_ids: bool = False
    """True where MIG is enabled and a container must see the id of a MIG instance. With MIG strategy `none`, containers
    see the id of the full GPU, on which CUDA fails.
    """
    fabric: Mapping[str, int] = field(default_factory=dict[str, int])
    """RDMA resources that the Network Operator's device plugin offers on one node: `{"rdma/shared_ib": 63}`."""

    slurm: bool = False
    """True for a pool that Slurm schedules."""
    ports: int = 0
    """Number of InfiniBand ports on one node; 0 where the settings give Pods no InfiniBand adapters."""
    stack: str = "STACK"
    """Name of the stack to write in commands."""
    existing: bool = False
    """True for a pool whose nodes are servers of an existing cluster."""

    @property
    def by_claims(self) -> bool:
        """True where Pods get GPUs by resource claims."""
        return CLAIM_DRIVER in self.resources


@dataclass(frozen=True)
class AmdObjects:
    """Objects of AMD's operator; empty where no pool has AMD GPUs, or where all GPUs are offered."""

    configs: Sequence[Json] = ()
    """DeviceConfigs in AMD's namespace."""
    daemonsets: Sequence[Json] = ()
    deployments: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    events: Sequence[Json] = ()


@dataclass(frozen=True)
class Cluster:
    """Objects of a cluster, as the API server returns them in lists."""

    nodes: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    """Pods in the operator's namespace; DaemonSets, Deployments and events are of this namespace, too."""
    daemonsets: Sequence[Json] = ()
    deployments: Sequence[Json] = ()
    events: Sequence[Json] = ()
    policies: Sequence[Json] = ()
    """ClusterPolicies in the cluster."""
    drivers: Sequence[Json] = ()
    """NVIDIADrivers in the cluster."""
    logs: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Last log line, by Pod and container, for logs that were read."""
    namespace: str = OPERATOR_NAMESPACE
    amd: AmdObjects = field(default_factory=AmdObjects)
    slurm: Sequence[Json] = ()
    """Pods in Slurm's namespace; empty where Slurm schedules no pool."""
    records: Sequence[Json] = ()
    """ConfigMaps with the records of machines; empty where no pool has InfiniBand."""
    work: Mapping[str, Sequence[str]] | None = None
    """Pods that hold GPUs, by node, for nodes whose driver is in use; None where they were not read."""


@dataclass(frozen=True)
class ClosedGate:
    """The first closed gate of one node."""

    pool: str
    node: str
    gate: str
    """Name of the gate: a key of `GATES`."""
    reason: str
    """Reason why the gate is closed, in one sentence."""
    cause: str = ""
    """Id of the known cause; empty for a wait that is expected to end, and for an unknown cause."""
    fix: str = ""
    pod: str = ""
    container: str = ""
    """Container that is not ready."""
    phase: str = ""
    """Phase of the Pod, as kubectl prints it: `Init:0/1`."""
    message: str = ""
    """Evidence: a log line, a container's message, an event, or a status."""
    may_recover: bool = True
    """True where the gate may open by itself; False where an action is needed."""


@dataclass(frozen=True)
class Report:
    """Report about the GPUs and the closed gates of one pool. The state `empty` means that the pool has no nodes, so
    there is nothing to wait for.
    """

    pool: str
    driver_source: Source
    state: State
    nodes: int
    expected: Mapping[str, int]
    """Resources that all nodes of the pool together should offer, according to the settings."""
    allocatable: Mapping[str, int]
    """Resources that the pool's nodes offer now, including unexpected ones."""
    closed: tuple[ClosedGate, ...] = ()
    unread: tuple[str, ...] = ()
    """Evidence that could not be read, with the reason; causes may be missing because of it."""

    def document(self) -> dict[str, Any]:
        """The report as a JSON document with stable keys."""
        return {
            "state": self.state,
            "nodes": self.nodes,
            "driverSource": self.driver_source,
            "gpus": {
                name: {"allocatable": self.allocatable.get(name, 0), "expected": self.expected.get(name, 0)}
                for name in sorted({*self.expected, *self.allocatable})
            },
            "closed": [
                {
                    "node": closed.node,
                    "gate": closed.gate,
                    "pod": closed.pod,
                    "phase": closed.phase,
                    "message": closed.message,
                    "cause": closed.cause,
                    "reason": closed.reason,
                    "fix": closed.fix,
                }
                for closed in self.closed
            ],
            "unread": list(self.unread),
        }


ROLLOUT = "rollout"
"""Gate of nodes that offer their GPUs although a change has not reached them yet."""


@dataclass(frozen=True)
class Outcome:
    """Result of waiting for the gates."""

    reports: tuple[Report, ...]
    """Reports from the last successful read."""
    seconds: float
    problem: str = ""
    """Reason why the last read failed; empty when it succeeded."""

    @property
    def is_open(self) -> bool:
        return not self.problem and not any(report.closed for report in self.reports)

    @property
    def is_only_rollout(self) -> bool:
        """True where every node offers its GPUs, but a change has not reached all nodes yet."""
        gates = {gate.gate for report in self.reports for gate in report.closed}
        return not self.problem and gates == {ROLLOUT}

    def is_failure(self, timeout_minutes: int) -> bool:
        """True if the result fails a deployment: the time limit is above 0, and the last read failed or a gate other
        than `rollout` is closed.

        An incomplete rollout does not fail a deployment: a driver that waits for training to end may take a day, while
        the GPUs are in use.
        """
        return not self.is_open and timeout_minutes > 0 and not self.is_only_rollout
