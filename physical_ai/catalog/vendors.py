"""Vendors of GPUs, and their names in Kubernetes. The vendor of a GPU model follows from its PCI vendor id.

>>> vendor_of("1002:74b5").resource
'amd.com/gpu'
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuVendor:
    """A vendor of GPUs whose device plugin offers them in Kubernetes."""

    name: str
    pci: str
    """Vendor id, as in pci.ids."""
    resource: str
    """Resource that a node offers for each whole GPU; also the key of the taint of pools with the vendor's GPUs."""

    @property
    def domain(self) -> str:
        """Prefix of the names of all the vendor's resources: `nvidia.com/`."""
        return self.resource.partition("/")[0] + "/"


NVIDIA = GpuVendor("NVIDIA", "10de", "nvidia.com/gpu")
AMD = GpuVendor("AMD", "1002", "amd.com/gpu")
"""Vendor AMD (ROCm/k8s-device-plugin README; ROCm/gpu-operator
helm-charts-k8s/templates/gpu-nfd-default-rule.yaml).
"""
VENDORS = (NVIDIA, AMD)
GPU_DOMAINS = tuple(vendor.domain for vendor in VENDORS)
"""Prefixes of the names of GPU resources."""


def vendor_of(pci: str) -> GpuVendor:
    """Vendor of a PCI device given as `vendor:device`. Raises ValueError for an unknown vendor."""
    for vendor in VENDORS:
        if pci.startswith(f"{vendor.pci}:"):
            return vendor
    raise ValueError(f"{pci} is of none of {', '.join(each.name for each in VENDORS)}")
