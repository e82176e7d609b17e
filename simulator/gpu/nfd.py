"""Node Feature Discovery: the labels that an NFD worker sets on its node, limited to the labels that the GPU stack
reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from simulator.cluster.objects import at
from simulator.gpu.hardware import Hardware
from simulator.gpu.names import NFD

VENDOR = "10de"
ADAPTER = {"class": "0207", "vendor": "15b3", "device": "101e"}
"""An InfiniBand adapter of an ND size: a virtual function of a ConnectX-7."""
RAIL = {"class": "0200", "vendor": "15b3", "device": "1021"}
"""A ConnectX-7 that is an Ethernet adapter (pci.ids, 15b3:1021)."""
FIELDS = ("vendor",)
"""PCI fields in NFD's labels by default: `deviceLabelFields` in the values of the operator's chart."""


def os_release(image: str) -> dict[str, str]:
    """`ID` and `VERSION_ID` of /etc/os-release, from the kubelet's `osImage`."""
    match = re.search(r"\d+\.\d+", image)
    version = match[0] if match else ""
    name = "azurelinux" if "Azure Linux" in image else image.partition(" ")[0].lower()
    return {"ID": name, "VERSION_ID": version}


def labels(node: Mapping[str, Any], hardware: Hardware | None, fields: Sequence[str] = FIELDS) -> dict[str, str]:
    """Labels that an NFD worker sets on the node. `hardware` is None for a node without a GPU.

    `fields`: value of `worker.config.sources.pci.deviceLabelFields`. If it has more fields than the vendor, the PCI
    label gets another name, and the operator finds no GPU (NVIDIA/gpu-operator#1469).
    """
    info: Mapping[str, Any] = at(node, "status.nodeInfo", {})
    kernel = str(info.get("kernelVersion", ""))
    system = os_release(str(info.get("osImage", "")))
    major, _, minor = system["VERSION_ID"].partition(".")
    parts = [*kernel.split("-", 1)[0].split("."), "", "", ""][:3]
    result = {
        f"{NFD}kernel-version.full": kernel,
        f"{NFD}kernel-version.major": parts[0],
        f"{NFD}kernel-version.minor": parts[1],
        f"{NFD}kernel-version.revision": parts[2],
        f"{NFD}system-os_release.ID": system["ID"],
        f"{NFD}system-os_release.VERSION_ID": system["VERSION_ID"],
        f"{NFD}system-os_release.VERSION_ID.major": major,
        f"{NFD}system-os_release.VERSION_ID.minor": minor,
    }
    if hardware is not None:
        known = {"class": hardware.pci_class, "vendor": VENDOR, "device": hardware.pci_device}
        result[f"{NFD}pci-{'_'.join(known[field] for field in fields)}.present"] = "true"
        for there, card in ((hardware.adapters, ADAPTER), (hardware.rails, RAIL)):
            if there:
                result[f"{NFD}pci-{'_'.join(card[field] for field in fields)}.present"] = "true"
    return result
