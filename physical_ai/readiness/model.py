"""The input of the diagnosis and its results."""

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
"""The gates in the order in which they open, and what each one being open means."""


@dataclass(frozen=True)
class Expected:
    """Resources that each node of a GPU pool should offer."""

    pool: str
    resources: Mapping[str, int]
    """Allocatable resources of one node: `{"nvidia.com/gpu": 2}`; `{"gpu.nvidia.com": 2}` are devices for claims."""
    driver_source: Source
    needs_mig_ids: bool = False
    """True where MIG is on, so that CUDA works only with the id of an instance: strategy `none` would offer unusable
    GPUs."""
    fabric: Mapping[str, int] = field(default_factory=dict[str, int])
    """Resources of the Network Operator's device plugin on one node: `{"rdma/shared_ib": 63}`."""

    slurm: bool = False
    """True for a pool whose nodes are Slurm's."""
    ports: int = 0
    """InfiniBand ports of one node; 0 where no Pod reaches them."""
    stack: str = "STACK"
    """Name of the stack in commands."""
    existing: bool = False
    """True for a pool whose nodes are servers of an existing cluster."""

    @property
    def by_claims(self) -> bool:
        """True where Pods get the GPUs by resource claims."""
        return CLAIM_DRIVER in self.resources


@dataclass(frozen=True)
class AmdObjects:
    """The objects of AMD's operator; none where no pool has AMD's GPUs, or all of them are offered."""

    configs: Sequence[Json] = ()
    """DeviceConfigs."""
    daemonsets: Sequence[Json] = ()
    deployments: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    events: Sequence[Json] = ()


@dataclass(frozen=True)
class Cluster:
    """Plain Kubernetes objects, as the API server returns them in lists."""

    nodes: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    """Pods of the operator's namespace, like DaemonSets, Deployments and events."""
    daemonsets: Sequence[Json] = ()
    deployments: Sequence[Json] = ()
    events: Sequence[Json] = ()
    policies: Sequence[Json] = ()
    """ClusterPolicies."""
    drivers: Sequence[Json] = ()
    """NVIDIADrivers."""
    logs: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Last log line by pod and container, for those that were read."""
    namespace: str = OPERATOR_NAMESPACE
    amd: AmdObjects = field(default_factory=AmdObjects)
    slurm: Sequence[Json] = ()
    """Pods of Slurm's namespace; none where no pool is Slurm's."""
    records: Sequence[Json] = ()
    """ConfigMaps with the record of each machine; none where no pool has InfiniBand."""
    work: Mapping[str, Sequence[str]] | None = None
    """Pods that hold GPUs by node, of those nodes whose driver is in use; None where they were not read."""


@dataclass(frozen=True)
class ClosedGate:
    """The first closed gate of one node."""

    pool: str
    node: str
    gate: str
    """A key of `GATES`."""
    reason: str
    """One sentence."""
    cause: str = ""
    """Id of a known cause; empty for a wait that is expected to end, and for an unknown cause."""
    fix: str = ""
    pod: str = ""
    container: str = ""
    """The container that is not ready."""
    phase: str = ""
    """The pod's, as kubectl prints it: `Init:0/1`."""
    message: str = ""
    """The evidence: a log line, a container's message, an event, a status."""
    may_recover: bool = True
    """True where waiting may help; otherwise an action is needed."""


@dataclass(frozen=True)
class Report:
    """One pool: `empty` has no nodes, so there is nothing to wait for."""

    pool: str
    driver_source: Source
    state: State
    nodes: int
    expected: Mapping[str, int]
    """Resources of all its nodes together, as the settings define them."""
    allocatable: Mapping[str, int]
    """Resources its nodes offer now, including unexpected ones."""
    closed: tuple[ClosedGate, ...] = ()
    unread: tuple[str, ...] = ()
    """Evidence that could not be read, and why: without it a cause may be missing."""

    def document(self) -> dict[str, Any]:
        """Report as JSON, with stable keys."""
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
"""The gate of nodes that offer their GPUs while a change has not reached them."""


@dataclass(frozen=True)
class Outcome:
    """Result of a wait."""

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
        """True where every node offers its GPUs, and a change has not reached all of them."""
        gates = {gate.gate for report in self.reports for gate in report.closed}
        return not self.problem and gates == {ROLLOUT}

    def is_failure(self, timeout_minutes: int) -> bool:
        """True for a result that fails a deployment. A timeout of 0 only reports.

        A rollout does not: a driver that waits for training to end may take a day, with the GPUs in use meanwhile.
        """
        return not self.is_open and timeout_minutes > 0 and not self.is_only_rollout
