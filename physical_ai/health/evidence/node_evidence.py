"""What is known of one GPU machine, put together. Pure.

Nothing in it is a secret, and of the work only names: what users' programs print or hold is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from physical_ai.catalog import vm_sizes
from physical_ai.catalog.impact import ImpactCategory, category
from physical_ai.catalog.osmo import WORKFLOW_LABEL
from physical_ai.catalog.telemetry_rows import Xid, xids
from physical_ai.catalog.vendors import NVIDIA
from physical_ai.health.acceptance.record import NodeResult
from physical_ai.health.evidence.record import Machine
from physical_ai.health.replacement.record import Record
from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.readiness.nodes.signs import Alert, Seen

Advice = Literal["reboot", "replace", "none"]


@dataclass(frozen=True)
class NodeEvidence:
    """One machine. `node` is None where it has left the cluster."""

    name: str
    machine: Machine | None
    node: Json | None
    acceptance: NodeResult | None
    alerts: Sequence[Alert]
    seen: Sequence[Seen]
    conditions: Sequence[Json]
    """Those that are not as they should be."""
    events: Sequence[Json]
    work: Sequence[tuple[str, str, str]]
    """Namespace, name and workflow of Pods with GPUs on it."""
    repairs: Sequence[Record]
    now: str

    @property
    def failed_checks(self) -> list[str]:
        if self.acceptance is None:
            return []
        return [each.check for each in self.acceptance.checks if each.verdict not in ("passed", "skipped")]

    @property
    def missing(self) -> int:
        """GPUs that the machine's size has and its PCI bus does not; 0 where that is not known."""
        if self.machine is None or "pci" not in self.machine.facts:
            return 0
        size = vm_sizes().get(str(self.machine.facts.get("size", "")))
        there = [each for each in self.machine.facts["pci"] if str(each.get("class", "0x0302"))[:4] == "0x03"]
        known = size.gpu if size is not None else None
        # The agent lists NVIDIA's devices alone.
        return max(known.count - len(there), 0) if known is not None and known.vendor is NVIDIA else 0

    @property
    def known_xids(self) -> list[Xid]:
        """The Xids that were seen and the catalogue knows, those of the machine first."""
        found = {each.code: xids()[each.code] for each in self.seen if each.code in xids()}
        return sorted(found.values(), key=lambda each: (each.xid_class != "node", each.code))

    @property
    def category(self) -> ImpactCategory:
        names = {each.name for each in self.alerts}
        codes = {each.code for each in self.seen}
        return category(codes, names, self.failed_checks, missing=self.missing > 0)

    @property
    def has_fault(self) -> bool:
        """Whether anything speaks for a fault of the machine."""
        of_machine = any(each.xid_class == "node" for each in self.known_xids)
        return of_machine or bool(self.failed_checks) or self.missing > 0 or bool(self.category.alerts)

    @property
    def advice(self) -> Advice:
        """What repairs the machine. After a restart that did not help, another machine."""
        remedies = {each.remedy for each in self.known_xids if each.xid_class == "node"} - {"none"}
        if self.missing:  # as after Xid 79, which DCGM does not see
            remedies.add("reboot")
        restarted = any(each.has_ended and each.action == "reboot" for each in self.repairs)
        if "replace" in remedies or (remedies and restarted):
            return "replace"
        if remedies:
            return "reboot"
        return "replace" if self.has_fault and not self.known_xids else "none"


def gpu_work(pods: Iterable[Json]) -> list[tuple[str, str, str]]:
    """Pods that hold GPUs: namespace, name, and the OSMO workflow they belong to."""
    return [
        (namespace(pod), name(pod), labels(pod).get(WORKFLOW_LABEL, ""))
        for pod in pods
        if any(
            key.startswith("nvidia.com/")
            for container in at(pod, "spec.containers", [])
            for key in at(container, "resources.limits", {})
        )
    ]
