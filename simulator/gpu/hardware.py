"""The GPUs of a simulated node, and the machine that they are in."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from physical_ai.catalog.hardware import Server
from physical_ai.catalog.rows import Machine
from physical_ai.catalog.vendors import NVIDIA
from simulator.cluster.machines import machine_of

MIG_OFF = None
"""Value of `Hardware.mig` for a GPU whose MIG mode is off. `()` means that MIG mode is on and there is no instance."""

Mig = tuple[str, ...] | None


@dataclass(frozen=True)
class Hardware:
    """Hardware that the drivers and the kubelet of a node will find."""

    product: str
    """Product name in GFD's label: `NVIDIA-H100-NVL`. The product name of a vGPU contains the vGPU profile."""
    memory_mib: int
    mig: tuple[Mig, ...] = (MIG_OFF,)
    """MIG state of each GPU: the profiles of its MIG instances, or MIG_OFF."""
    pci_device: str = "2321"
    pci_class: str = "0302"
    mig_capable: bool = True
    vgpu: bool = False
    """True for a vGPU guest: it needs the GRID driver, and its host controls MIG."""
    complete: bool = True
    """True if the VM has all memory of its GPUs. NVML reports the utilization of a GPU only if this is True."""
    vgpu_signature: str = ""
    """Version of the host driver, if GFD can read it from the vGPU's PCI capability; otherwise empty."""
    secure_boot: bool = False
    adapters: int = 0
    """Number of InfiniBand adapters; Azure's sizes have one for each GPU."""
    rails: int = 0
    """Number of NVIDIA's Ethernet adapters for the network between GPUs; only servers have them."""
    containerd_config: int = 2
    """Schema version of the node image's config.toml; AKS ships 2 (NVIDIA/gpu-operator#2646)."""

    @property
    def gpus(self) -> int:
        return len(self.mig)


PER_CARD = {"1": "4g.96gb", "1/2": "2g.48gb", "1/4": "1g.24gb"}
"""MIG instance that the guest of an RTX PRO 6000 vGPU sees, by the part of the card that the VM has."""


def of_size(size: Machine) -> Hardware | None:
    """GPU hardware of a server, or of a VM size as the VM's guest sees it; None if `size` has no NVIDIA GPU."""
    gpu = size.gpu
    if gpu is None or gpu.vendor is not NVIDIA:
        return None
    profile = f"-{gpu.memory_gib}Q" if gpu.virtual else ""
    mig: Mig = (PER_CARD[gpu.share],) if gpu.host_mig else MIG_OFF
    return Hardware(
        f"{gpu.product}{profile}",
        gpu.memory_gib * 1024,
        mig=(mig,) * gpu.count,
        pci_device=gpu.pci.rpartition(":")[2],
        mig_capable=size.mig or gpu.host_mig,
        vgpu=gpu.virtual,
        complete=gpu.share == "1",
        adapters=gpu.count if size.infiniband else 0,
        rails=size.rails if isinstance(size, Server) else 0,
    )


def of_node(node: Mapping[str, Any]) -> Hardware | None:
    """GPU hardware of the node's VM size or server; None if it has no NVIDIA GPU, or if the node's machine is
    unknown.
    """
    machine = machine_of(node)
    return of_size(machine) if machine is not None else None


INSTANCES = {
    "all-1g.10gb": ("1g.10gb",) * 7,
    "all-1g.12gb": ("1g.12gb",) * 7,
    "all-2g.24gb": ("2g.24gb",) * 3,
    "all-3g.47gb": ("3g.47gb",) * 2,
    "all-7g.94gb": ("7g.94gb",),
}
"""Profiles of the MIG instances that the MIG manager creates on each GPU, by name of its configuration. All are
configurations of an H100 NVL, except `all-1g.10gb`, which is of an H100 with 80 GB.
"""


def instances(layout: Any) -> Mig:
    """MIG instances that a layout in mig-parted's format creates on each GPU; `()` if the layout does not apply to all
    GPUs.
    """
    for entry in layout or ():
        if entry.get("devices") == "all":
            wanted: Mapping[str, int] = entry.get("mig-devices") or {}
            enabled = entry.get("mig-enabled") is True
            return tuple(name for name, count in wanted.items() for _ in range(count)) if enabled else MIG_OFF
    return ()


def repartitioned(given: Hardware, config: str, layouts: Mapping[str, Any] | None = None) -> tuple[Mig, ...] | None:
    """MIG instances of each GPU after the MIG manager has applied the configuration `config`; None if the MIG manager
    cannot apply it.

    The guest of a vGPU cannot change its partitioning, not even turn MIG off. `layouts`: the user's own layouts, which
    replace the MIG manager's default layouts.
    """
    own = {**INSTANCES, "all-disabled": MIG_OFF}
    wanted: Mig = instances(layouts.get(config)) if layouts else own.get(config, ())
    if wanted == () or (wanted is not None and not given.mig_capable):
        return None
    result = (wanted,) * given.gpus
    return None if given.vgpu and result != given.mig else result


@cache
def card_digest(node: str, index: int) -> str:
    """Digest from which the UUIDs of a node's GPUs and MIG instances are made. `index` numbers the node's GPUs first,
    and its MIG instances after them.
    """
    return str(uuid.UUID(hashlib.md5(f"{node}/{index}".encode(), usedforsecurity=False).hexdigest()))
