"""Rows of the catalogue: VM sizes, servers, regions, prices, Kubernetes minors. Each has a source and a date."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from physical_ai.catalog.local_disks import LocalDisks
from physical_ai.catalog.row import Offered, Row, Text
from physical_ai.catalog.vendors import GpuVendor, vendor_of

DriverSourceName = Literal["operator", "grid", "aks", "host"]
"""Program or person that installs the GPU driver. `host`: the person who sets up a server; VM sizes never have it."""
OsSkuName = Literal["Ubuntu", "Ubuntu2204", "AzureLinux"]
ZoneName = Literal["1", "2", "3"]


class Gpu(Row):
    """The GPUs of one VM size."""

    model: Text
    """Marketing name, such as `H100 NVL`."""
    product: Text
    """Product name that GPU feature discovery is expected to report as `nvidia.com/gpu.product`, or AMD's node
    labeller as `amd.com/gpu.product-name`.
    """
    count: Annotated[int, Field(ge=1)]
    """Number of GPUs in the SKU API, which counts a fraction of a card as 1. A node offers the same number of GPUs in
    Kubernetes.
    """
    memory_gib: Annotated[int, Field(ge=1)]
    """Memory of each GPU, in GB as the vendor states it."""
    share: Annotated[str, StringConstraints(pattern=r"^1(/[2-9])?$")]
    """Fraction of a physical card that one GPU of the VM size has: `1`, `1/2`, `1/4`."""
    virtual: bool
    """True for an SR-IOV vGPU, which needs a GRID driver."""
    host_mig: bool = False
    """True where the host has partitioned the card by MIG: the guest sees MIG enabled, and can't change the layout."""
    ray_tracing: bool = False
    """True for a GPU with ray-tracing cores, which rendering needs."""
    pci: Annotated[str, StringConstraints(pattern=r"^(10de|1002):[0-9a-f]{4}$")]
    """PCI vendor and device ids, as in pci.ids."""

    @property
    def vendor(self) -> GpuVendor:
        """Manufacturer of the GPU, with the resource names of its device plugin."""
        return vendor_of(self.pci)


class Machine(Row):
    """Hardware of a pool's nodes, as the GPU software sees it: a VM size of Azure, or a server."""

    name: Text
    vcpus: Annotated[int, Field(ge=1)]
    """Logical CPUs, as Kubernetes counts them."""
    memory_gib: Annotated[int, Field(ge=1)]
    gpu: Gpu | None = None
    driver_sources: tuple[DriverSourceName, ...] = ()
    """Possible installers of the NVIDIA driver; empty without a GPU."""
    mig: bool = False
    """True where the user of the machine can partition its GPUs by MIG."""
    infiniband: bool = False
    unverified: tuple[Text, ...] = ()
    """Fields of this row for which no source was read."""
    source: Text
    date: datetime.date


class VmSize(Machine):
    """A VM size of Azure: the facts on which a node pool depends."""

    name: Annotated[str, StringConstraints(pattern=r"^Standard_\w+$")]
    series: Text
    family: Text
    """Quota family: `name.value` of a usage in Microsoft.Compute."""
    disks: LocalDisks
    lifecycle: Literal["ga", "retired-preview"] = "ga"
    successor: str | None = None
    """Name of the VM size to use instead of this one, for a retired size; None for other sizes."""
    os_skus: tuple[OsSkuName, ...]
    low_priority: bool = True
    """Capability LowPriorityCapable: True where the size can be Spot."""
    burstable: bool = False

    @property
    def is_retired(self) -> bool:
        return self.lifecycle != "ga"


class RegionSize(Row):
    """Entry about a VM size in a region's list of sizes: the zones that offer the size, and the evidence for the
    entry.
    """

    zones: tuple[ZoneName, ...] | None
    """Zones that offer the size; empty if no zone offers it; None if the zones are unknown because they differ by
    subscription.
    """
    seen_zones: tuple[ZoneName, ...] = ()
    """Zones that one subscription saw: only a hint, since zone numbers differ by subscription."""
    evidence: Literal["documented", "believed", "price", "seen"]
    source: Text
    date: datetime.date


class Region(Row):
    """An Azure region and the VM sizes that it lists."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z]+[0-9]*$")]
    display: Text
    latitude: float
    longitude: float
    utc_offset: Annotated[str, StringConstraints(pattern=r"^[+-]\d{2}:\d{2}$")]
    """Offset of the region's standard time from UTC."""
    zones: tuple[ZoneName, ...]
    nat_standard_v2: Offered
    """Availability of NAT gateways with the zone-redundant SKU StandardV2."""
    managed_grafana: Offered = "unknown"
    """Availability of Managed Grafana."""
    postgres: Offered = "unknown"
    """Availability of PostgreSQL Flexible Server."""
    managed_redis: Offered = "unknown"
    """Availability of Managed Redis."""
    sizes: dict[str, RegionSize]
    source: Text
    date: datetime.date


class PriceRow(Row):
    """On-demand list price of a size in a region."""

    size: str
    region: str
    usd_per_hour: Annotated[float, Field(gt=0)]
    source: Text
    date: datetime.date


class KubernetesMinor(Row):
    """A Kubernetes minor as AKS offers it."""

    minor: Annotated[str, StringConstraints(pattern=r"^1\.\d{2}$")]
    ga: datetime.date | None
    end_of_life: datetime.date | None
    long_term_end_of_life: datetime.date | None = None
    """End of life with the support plan AKSLongTermSupport; None without such a plan."""
    ubuntu: Literal["22.04", "24.04"]
    """Ubuntu release that osSku `Ubuntu` means on this minor."""
    ubuntu2204: bool
    """True where osSku `Ubuntu2204` works on this minor."""
    source: Text
    date: datetime.date
