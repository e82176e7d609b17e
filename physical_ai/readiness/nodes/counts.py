"""Counts of a node's GPUs and their comparison: by VM size, on the PCI bus, in the driver, and as offered by the node.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from physical_ai.catalog import vm_sizes
from physical_ai.catalog.vendors import NVIDIA
from physical_ai.kubernetes.objects import annotations_of, at, labels, name
from physical_ai.nested import is_mapping, mappings, parsed
from physical_ai.readiness.ports import KEY, LABEL, SEEN

SIZE_LABEL = "node.kubernetes.io/instance-type"
Relation = Literal["off-bus", "not-driven"]


@dataclass(frozen=True)
class Counts:
    """Numbers of GPUs of one machine; None for a number that is not known."""

    size: int | None
    bus: int | None
    driver: int | None
    """GPUs that the driver sees now; 0 without a driver."""

    @property
    def missing(self) -> int:
        """Number of GPUs that the VM size has and the PCI bus lacks."""
        return max((self.size or 0) - self.bus, 0) if self.bus is not None else 0

    @property
    def relation(self) -> tuple[Relation, str] | None:
        """Name of the problem with the counts, and a sentence about it; None if the counts fit, or if too little is
        known.
        """
        if self.size is None or self.bus is None:
            return None
        if self.missing:
            return "off-bus", f"GPUs of the size: {self.size}, on the PCI bus of the machine: {self.bus}."
        # With no GPU at all, the driver itself does not work, which says nothing about a single card.
        if self.driver and self.driver < self.size:
            counted = f"GPUs of the size: {self.size}, on the PCI bus: {self.bus}, of the driver: {self.driver}."
            return "not-driven", f"{counted} It could not use the others, as with a bad card."
        return None


def counts(facts: Mapping[str, Any], size: str = "") -> Counts:
    """Counts in the record of a machine. `size` is the VM size of its node, for a record that does not name the
    size.
    """
    found = vm_sizes().get(str(facts.get("size", "") or size))
    gpu = found.gpu if found is not None else None
    # The agent lists only NVIDIA's devices.
    of_size = gpu.count if gpu is not None and gpu.vendor is NVIDIA else None
    bus = None
    if "pci" in facts:
        bus = sum(str(each.get("class", "0x0302"))[:4] == "0x03" for each in mappings(facts["pci"]))
    driver = None
    if "gpus" in facts:
        # GPUs of earlier boots stay in the record, with the time when they were last seen.
        latest = str(facts.get("recordedAt", ""))
        driver = sum(not latest or str(each.get("lastSeen", latest)) == latest for each in mappings(facts["gpus"]))
    return Counts(of_size, bus, driver)


def facts_of(node: Mapping[str, Any], records: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Newest record of a node's machine; empty if no record exists."""
    mine = [each for each in records if labels(each).get(LABEL) == name(node)[:63]]
    for record in sorted(mine, key=lambda each: annotations_of(each).get(SEEN, ""), reverse=True):
        facts = parsed(at(record, "data", {}).get(KEY))
        # An earlier machine may have had the same node name.
        if is_mapping(facts) and facts.get("nodeUid", at(node, "metadata.uid")) == at(node, "metadata.uid"):
            return facts
    return {}
