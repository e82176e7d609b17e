"""Pure functions that derive facts from the settings of pools whose GPUs Pods get by resource claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from parts.dra.devices import ClaimDevice, claim_devices
from parts.dra.model import GpuClaim
from parts.dra.names import ANY_GPU_CLASS
from physical_ai.catalog import machine
from physical_ai.settings.facts.gpu import knows_gpu
from physical_ai.settings.facts.osmo import family
from physical_ai.settings.facts.pools import driver_facts
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

CLASS_DOMAIN = "gpu.physical-ai"
ANY = "any"
"""Key in a quota's settings for claims that name no kind of GPU. These claims use the DeviceClass of the chart."""
GB = 10**9


def claim_pools(settings: Settings) -> dict[str, Pool]:
    """Pools whose GPUs Pods get by resource claims."""
    return {name: pool for name, pool in settings.pools.items() if pool.uses_claims}


def device_of(pool: Pool) -> ClaimDevice | None:
    """A GPU of the pool as the DRA driver describes it; None if the catalogue does not know the GPU."""
    gpu = machine(pool.sku).gpu if knows_gpu(pool) else None
    return claim_devices().get(gpu.model) if gpu is not None else None


def claim_gpus(settings: Settings) -> dict[str, ClaimDevice]:
    """Kinds of GPU that claims can name, each as the DRA driver describes it. Keys are the names that OSMO's platforms
    use, such as `h100`.
    """
    found: dict[str, ClaimDevice] = {}
    for pool in claim_pools(settings).values():
        gpu, device = machine(pool.sku).gpu if knows_gpu(pool) else None, device_of(pool)
        if gpu is not None and device is not None:
            found.setdefault(family(gpu), device)
    return found


def device_class(gpu: str) -> str:
    """Name of the DeviceClass for a kind of GPU.

    >>> device_class("h100")
    'h100.gpu.physical-ai'
    """
    return ANY_GPU_CLASS if gpu == ANY else f"{gpu}.{CLASS_DOMAIN}"


def all_claims(settings: Settings) -> dict[str, GpuClaim]:
    """Claims that each namespace gets, by name: one for a whole GPU of each kind, and the claims of the settings."""
    whole = {gpu: GpuClaim(gpu=gpu) for gpu in claim_gpus(settings)}
    return {**whole, **settings.dra.claims}


def fits(claim: GpuClaim, gpu: str, device: ClaimDevice) -> bool:
    """True if GPUs of the kind `gpu`, which the DRA driver describes as `device`, meet all conditions of `claim`."""
    return (
        claim.gpu in (None, gpu)
        and claim.architecture in (None, device.architecture)
        and (claim.memory_gb is None or device.memory_mib * 2**20 >= claim.memory_gb * GB)
    )


def gpus_for(settings: Settings, claim: GpuClaim) -> dict[str, ClaimDevice]:
    """The kinds of GPU in the stack that a claim can get."""
    return {gpu: device for gpu, device in claim_gpus(settings).items() if fits(claim, gpu, device)}


def driver_roots(settings: Settings) -> Mapping[str, str]:
    """Folder of the NVIDIA driver on the nodes of each pool."""
    return {name: driver_facts(pool).root for name, pool in claim_pools(settings).items()}


def slices_time(settings: Settings) -> bool:
    """True if a claim sets a time slice. The DRA driver then needs a feature gate."""
    return any(claim.time_slice is not None for claim in settings.dra.claims.values())


Sharing = Literal["timeSlicing", "mps", "mig"]


def plugin_sharing(pool: Pool) -> list[Sharing]:
    """Kinds of GPU sharing in the pool's settings; only the device plugin reads these settings."""
    kinds: dict[Sharing, object] = {
        "timeSlicing": pool.sharing.time_slicing,
        "mps": pool.sharing.mps,
        "mig": pool.sharing.mig,
    }
    return [kind for kind, value in kinds.items() if value is not None]
