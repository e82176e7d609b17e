"""Topology files of NCCL, rendered from the catalogue's rows about VM sizes.

>>> topology("Standard_ND96isr_H100_v5").file
'ndv5-topo.xml'
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import cache
from xml.etree import ElementTree

from physical_ai.catalog.load import DATA, read_rows, row
from physical_ai.catalog.lookup import vm_sizes
from physical_ai.catalog.rows import Row, Text

GPU_CLASS, ADAPTER_CLASS, BRIDGE_CLASS = "0x030200", "0x020700", "0x060400"
"""PCI class codes in a topology file: of GPUs (3D controller), of InfiniBand adapters, and of PCI bridges."""


class NumaNode(Row):
    """A NUMA node: one processor with the GPUs and adapters near it; the data file explains the fields."""

    affinity: Text
    pairs: tuple[tuple[Text, Text], ...]


class Topology(Row):
    """NCCL topology of one series of VM sizes."""

    name: Text
    file: Text
    series: tuple[Text, ...]
    cpu: Mapping[str, str]
    link: Mapping[str, str]
    nodes: tuple[NumaNode, ...]
    source: Text
    date: datetime.date
    unverified: tuple[Text, ...] = ()

    def xml(self) -> str:
        """Text of the topology file that NCCL reads. The PCI bridges in the file are invented; no device has their
        addresses.
        """
        system = ElementTree.Element("system", version="1")
        link = {"link_speed": self.link["speed"], "link_width": self.link["width"]}
        none = dict.fromkeys(("vendor", "device", "subsystem_vendor", "subsystem_device"), "0x0000")
        bridges = 0
        for index, node in enumerate(self.nodes):
            cpu = ElementTree.SubElement(system, "cpu", {"numaid": str(index), "affinity": node.affinity, **self.cpu})
            for gpu, adapter in node.pairs:
                bridges += 1
                own = {"busid": f"ffff:ff:{bridges:02x}.0", "class": BRIDGE_CLASS}
                bridge = ElementTree.SubElement(cpu, "pci", {**own, **link, **none})
                for domain, kind in ((gpu, GPU_CLASS), (adapter, ADAPTER_CLASS)):
                    ElementTree.SubElement(bridge, "pci", {"busid": f"{domain}:00:00.0", "class": kind, **link})
        ElementTree.indent(system)
        return ElementTree.tostring(system, encoding="unicode") + "\n"


@cache
def topologies() -> tuple[Topology, ...]:
    file = DATA / "nccl_topology.yaml"
    return tuple(row(Topology, each, f"{file.name}: {each.get('name')}") for each in read_rows(file))


def topology(size: str) -> Topology | None:
    """NCCL topology of a VM size; None if a VM of this size sees the right topology without a file."""
    found = vm_sizes().get(size)
    return next((each for each in topologies() if found is not None and found.series in each.series), None)
