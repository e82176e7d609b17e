"""Hardware of the GPU nodes that tests simulate."""

from __future__ import annotations

from simulator.gpu.hardware import MIG_OFF, Hardware


def h100(gpus: int = 1) -> Hardware:
    """Complete H100 GPUs, passed through, as in Standard_NC40ads_H100_v5."""
    return Hardware("NVIDIA-H100-NVL", 95830, mig=(MIG_OFF,) * gpus)


def rtx_pro_6000(gpus: int = 1) -> Hardware:
    """vGPUs of an RTX PRO 6000 Blackwell Server Edition. The host has turned MIG on, and the guest sees one instance of
    each GPU.
    """
    return Hardware(
        "NVIDIA-RTX-Pro-6000-Blackwell-DC-4-96Q", 98304, mig=(("4g.96gb",),) * gpus, pci_device="2bb5", vgpu=True
    )
