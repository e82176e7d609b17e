"""The GPUs of a simulated node, and the host they sit in."""

from __future__ import annotations

from dataclasses import dataclass

MIG_OFF = None
"""A GPU whose MIG mode is off; `()` is MIG mode on without any instance."""

Mig = tuple[str, ...] | None


@dataclass(frozen=True)
class Hardware:
    """What the drivers and the kubelet of a node will find."""

    product: str
    """As GFD labels it: `NVIDIA-H100-NVL`. Of a vGPU it carries the profile."""
    memory_mib: int
    mig: tuple[Mig, ...] = (MIG_OFF,)
    """Profiles of the MIG instances of each GPU."""
    pci_device: str = "2321"
    pci_class: str = "0302"
    mig_capable: bool = True
    vgpu: bool = False
    """A vGPU guest: wants the GRID driver, and its host decides about MIG."""
    vgpu_signature: str = ""
    """Host driver version, where the PCI capability shows a vGPU to GFD."""
    secure_boot: bool = False
    containerd_config: int = 2
    """Schema version of the node image's config.toml; AKS ships 2 (NVIDIA/gpu-operator#2646)."""

    @property
    def gpus(self) -> int:
        return len(self.mig)


def h100(gpus: int = 1) -> Hardware:
    """Passed through whole, as on Standard_NC40ads_H100_v5."""
    return Hardware("NVIDIA-H100-NVL", 95830, mig=(MIG_OFF,) * gpus)


def rtx_pro_6000(gpus: int = 1) -> Hardware:
    """vGPUs of RTX PRO 6000 Blackwell Server Edition: the host has turned MIG on, the guest sees one instance each."""
    return Hardware(
        "NVIDIA-RTX-Pro-6000-Blackwell-DC-4-96Q", 98304, mig=(("4g.96gb",),) * gpus, pci_device="2bb5", vgpu=True
    )


INSTANCES = {
    "all-1g.10gb": ("1g.10gb",) * 7,
    "all-1g.12gb": ("1g.12gb",) * 7,
    "all-2g.24gb": ("2g.24gb",) * 3,
    "all-3g.47gb": ("3g.47gb",) * 2,
    "all-7g.94gb": ("7g.94gb",),
}
"""Instances on each GPU for the MIG manager's configurations of an H100 NVL (and 1g.10gb of an 80 GB one)."""


def repartitioned(given: Hardware, config: str) -> tuple[Mig, ...] | None:
    """The GPUs after the MIG manager has applied `nvidia.com/mig.config`; None where it can't.

    The guest of a vGPU cannot change its geometry, not even switch MIG off.
    """
    wanted: Mig = MIG_OFF if config == "all-disabled" else INSTANCES.get(config, ())
    if wanted == () or (wanted is not None and not given.mig_capable):
        return None
    result = (wanted,) * given.gpus
    return None if given.vgpu and result != given.mig else result
