"""What the diagnosis reads and what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE

Json = Mapping[str, Any]
State = Literal["ready", "waiting", "empty"]
Source = Literal["operator", "grid", "aks"]

GATES: Mapping[str, str] = {
    "node": "the node is Ready",
    "nfd": "Node Feature Discovery has found the GPU on the PCI bus",
    "labels": "the GPU Operator has taken the node for a GPU node",
    "deploy-labels": "the labels that let the operands onto the node are `true`",
    "driver": "the operator's driver pod runs (driver source operator), or the GRID agent has proven its own (grid)",
    "driver-validation": "the toolkit's first container has found a driver",
    "toolkit": "the container toolkit has told containerd about GPUs",
    "validator": "the validator has run a CUDA program",
    "device-plugin": "the device plugin has registered the GPUs",
    "allocatable": "the node offers as many GPUs as the pool's settings say",
    "rollout": "what was asked for last has reached the node",
}
"""The gates in the order of the real path, and what each one being open means."""


@dataclass(frozen=True)
class Expected:
    """What each node of a GPU pool should offer."""

    pool: str
    resources: Mapping[str, int]
    """Allocatable resources of one node: `{"nvidia.com/gpu": 2}`."""
    driver_source: Source
    needs_mig_ids: bool = False
    """MIG is on, so that CUDA works with the id of an instance only: strategy `none` would hand out useless ones."""


@dataclass(frozen=True)
class Cluster:
    """Plain Kubernetes objects, as the API server returns them in lists."""

    nodes: Sequence[Json] = ()
    pods: Sequence[Json] = ()
    """Of the operator's namespace, like DaemonSets, Deployments and events."""
    daemonsets: Sequence[Json] = ()
    deployments: Sequence[Json] = ()
    events: Sequence[Json] = ()
    policies: Sequence[Json] = ()
    """ClusterPolicies."""
    drivers: Sequence[Json] = ()
    """NVIDIADrivers."""
    logs: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Last log line by pod and container, for those that were asked for."""
    namespace: str = OPERATOR_NAMESPACE


@dataclass(frozen=True)
class Shut:
    """The first shut gate of one node."""

    pool: str
    node: str
    gate: str
    """A key of `GATES`."""
    reason: str
    """One sentence."""
    cause: str = ""
    """Id of a known cause; empty for a wait that is expected to end, and for what nobody has seen yet."""
    way_out: str = ""
    pod: str = ""
    container: str = ""
    """The container that is not done."""
    phase: str = ""
    """The pod's, as kubectl prints it: `Init:0/1`."""
    words: str = ""
    """What was found: a log line, a container's message, an event, a status."""
    opens_itself: bool = True
    """Waiting may help; otherwise somebody has to do something."""


@dataclass(frozen=True)
class Report:
    """One pool: `empty` has no nodes, so there is nothing to wait for."""

    pool: str
    driver_source: Source
    state: State
    nodes: int
    expected: Mapping[str, int]
    """Resources of all its nodes together, as they should be."""
    allocatable: Mapping[str, int]
    """Resources its nodes offer now, those of other names included."""
    shut: tuple[Shut, ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON, with stable keys."""
        return {
            "state": self.state,
            "nodes": self.nodes,
            "driverSource": self.driver_source,
            "gpus": {
                name: {"allocatable": self.allocatable.get(name, 0), "expected": self.expected.get(name, 0)}
                for name in sorted({*self.expected, *self.allocatable})
            },
            "shut": [
                {
                    "node": shut.node,
                    "gate": shut.gate,
                    "pod": shut.pod,
                    "phase": shut.phase,
                    "words": shut.words,
                    "cause": shut.cause,
                    "reason": shut.reason,
                    "wayOut": shut.way_out,
                }
                for shut in self.shut
            ],
        }
