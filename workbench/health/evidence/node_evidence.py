"""Evidence about one GPU machine, combined from all sources. Pure functions.

The evidence contains no secrets, and only the names of workloads: output and data of users' programs are not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from physical_ai.catalog.impact import ImpactCategory, category
from physical_ai.catalog.osmo import WORKFLOW_LABEL
from physical_ai.catalog.telemetry_rows import Xid, xids
from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.nodes.counts import counts
from physical_ai.readiness.nodes.findings import NodeFinding, advice_of, findings_of
from physical_ai.readiness.nodes.repairs import counts_still
from physical_ai.readiness.nodes.signs import Alert, NodeSigns, Seen
from workbench.health.acceptance.record import CheckResult, NodeResult
from workbench.health.evidence.record import Machine
from workbench.health.replacement.record import Record

Advice = Literal["reboot", "replace", "none"]


@dataclass(frozen=True)
class NodeEvidence:
    """Evidence about one GPU machine and its node. `node` is None if the node has left the cluster."""

    name: str
    machine: Machine | None
    node: Json | None
    acceptance: NodeResult | None
    alerts: Sequence[Alert]
    seen: Sequence[Seen]
    conditions: Sequence[Json]
    """Conditions that indicate a problem."""
    events: Sequence[Json]
    work: Sequence[tuple[str, str, str]]
    """Pods on the node that use GPUs: namespace, name and OSMO workflow of each Pod."""
    repairs: Sequence[Record]
    now: str
    gate: ClosedGate | None = None
    """First closed gate of the node; None if none is closed, or gates were not read."""
    operands: Sequence[tuple[str, str, str]] = ()
    """Failing Pods of the GPU stack on the node: DaemonSet, name of the Pod, and its last message."""
    stack: str = "STACK"
    existing: bool = False
    """True if the stack is installed in an existing cluster."""
    unread: Sequence[str] = ()
    """Texts about evidence that could not be read or was not asked for, and how to get it."""

    @cached_property
    def findings(self) -> tuple[NodeFinding, ...]:
        """Causes of faults that this evidence shows; `physai why` finds the same causes."""
        return findings_of(
            NodeSigns(
                name=self.name,
                node=self.node,
                gate=self.gate,
                alerts=self.alerts,
                seen=self.seen,
                facts=self.machine.facts if self.machine is not None else {},
                failed_checks=[(each.check, each.message) for each in self._failed],
                restarted=any(self._restarted(each) for each in self.repairs),
                operands=self.operands,
                stack=self.stack,
                existing=self.existing,
            )
        )

    def _restarted(self, repair: Record) -> bool:
        """True if `repair` has restarted this machine recently, and not an earlier machine with the same name."""
        is_own = self.node is None or at(self.node, "metadata.uid", repair.node_uid) == repair.node_uid
        lately = counts_still(repair.removed or repair.started, self.now)
        return repair.has_ended and repair.action == "reboot" and is_own and lately

    @property
    def _failed(self) -> list[CheckResult]:
        given = self.acceptance.checks if self.acceptance is not None else ()
        return [each for each in given if each.verdict not in ("passed", "skipped")]

    @property
    def failed_checks(self) -> list[str]:
        return [each.check for each in self._failed]

    @property
    def missing(self) -> int:
        """Number of GPUs that the VM size has and the machine's PCI bus lacks; 0 if that is not known."""
        return counts(self.machine.facts).missing if self.machine is not None else 0

    @property
    def known_xids(self) -> list[Xid]:
        """The observed Xids that the catalogue knows. Xids that indicate a fault of the machine come first."""
        found = {each.code: xids()[each.code] for each in self.seen if each.code in xids()}
        return sorted(found.values(), key=lambda each: (each.xid_class != "node", each.code))

    @property
    def category(self) -> ImpactCategory:
        names = {each.name for each in self.alerts}
        codes = {each.code for each in self.seen}
        return category(codes, names, self.failed_checks, missing=self.missing > 0)

    @property
    def has_fault(self) -> bool:
        """True if an Xid, a failed check, a missing GPU, an alert or the advice indicates a fault of the machine."""
        of_machine = any(each.xid_class == "node" for each in self.known_xids)
        seen = of_machine or bool(self.failed_checks) or self.missing > 0 or bool(self.category.alerts)
        return seen or self.advice != "none"

    @property
    def advice(self) -> Advice:
        """The repair that the findings advise, or `none`. After a restart that has not helped, the advice is to replace
        the machine.
        """
        return advice_of(self.findings) or "none"


def gpu_work(pods: Iterable[Json]) -> list[tuple[str, str, str]]:
    """Pods that request GPUs: namespace, name, and the OSMO workflow that each belongs to."""
    return [
        (namespace(pod), name(pod), labels(pod).get(WORKFLOW_LABEL, ""))
        for pod in pods
        if any(
            key.startswith("nvidia.com/")
            for container in at(pod, "spec.containers", [])
            for key in at(container, "resources.limits", {})
        )
    ]
