"""Checks of acceptance on the nodes of a pool, and the promises of the pool's settings. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from parts.dra.names import DRIVER as CLAIM_DRIVER
from physical_ai.catalog import machine
from physical_ai.catalog.acceptance import LEVELS, AcceptanceLevel, Check, check_images, checks
from physical_ai.catalog.vendors import NVIDIA
from physical_ai.settings.facts import gpu
from physical_ai.settings.facts.fabric import uses_fabric
from physical_ai.settings.facts.pools import gpu_vendor, gpus_per_node
from physical_ai.settings.models.node_pools import DriverSource, Pool
from physical_ai.settings.models.tree import Settings


@dataclass(frozen=True)
class PoolCheck:
    """A check on the nodes of one pool."""

    check: Check
    skipped: str = ""
    """Reason why the check does not run on these nodes; empty where it does."""


def pool_checks(pool: Pool, level: AcceptanceLevel) -> list[PoolCheck]:
    """The checks of a level in their order, and of the lower levels except for those that a higher one includes."""
    levels = LEVELS[: LEVELS.index(level) + 1]
    wanted = [check for check in checks().values() if check.level in levels]
    included = {check.replaces for check in wanted}
    return [PoolCheck(check, not_for(check, pool)) for check in wanted if check.name not in included]


def not_for(check: Check, pool: Pool) -> str:
    """Reason why a check does not apply to a pool; empty where it does."""
    if other := _of_others(check, pool):
        return other
    size = machine(pool.sku).gpu
    unfit = {
        "all": "",
        "graphics": "" if size is not None and size.ray_tracing else "the pool's GPUs have no ray tracing",
        "passthrough": "DCGM's diagnostic does not support a vGPU guest" if gpu.is_vgpu(pool) else "",
        "peers": "the node has one GPU" if gpus_per_node(pool) < 2 else "",
        "fabric": "" if uses_fabric(pool) else "the pool has no fabric",
    }[check.pools]
    if unfit:
        return unfit
    if check.gpus == "all" and gpu.sharing_kind(pool) != "none":
        return "the pool shares its GPUs, so that no Pod can have them alone"
    return ""


def _of_others(check: Check, pool: Pool) -> str:
    """Reason why a check does not apply to another vendor's GPUs or to claims; empty where it does."""
    if gpu_vendor(pool) is not NVIDIA:
        return f"the check is a program for NVIDIA's GPUs, and the pool has {gpu_vendor(pool).name}'s"
    if check.output == "graphics-absent" and pool.uses_claims:
        return "a claim gives a container all of the driver, whatever its environment requests"
    if check.pools == "fabric" and pool.uses_claims:
        return "its Pods request GPUs and adapters as resources, and the pool offers its GPUs by claims"
    return ""


def gpu_request(check: Check, pool: Pool) -> dict[str, int]:
    """The GPUs that the check's Pod requests: one, as the pool offers it, or all of the node. Devices of claims are
    counted by the name of their driver. A share is never requested twice: device plugins can be set to refuse that."""
    offered = {CLAIM_DRIVER: gpus_per_node(pool)} if pool.uses_claims else gpu.gpu_resources(pool)
    if check.gpus == "all" or (check.gpus == "every" and gpu.sharing_kind(pool) == "none"):
        return offered
    return {next(iter(offered)): 1}


def image_of(settings: Settings, check: Check) -> str | None:
    """The image of a check: the stack's own before the catalogue's; None where it has to name one."""
    own = settings.health.acceptance.images.get(check.image)
    return own or check_images()[check.image].at(settings.grid_driver.image_registry)


def no_image(check: Check) -> str:
    """Reason why a check without an image is not run. It does not count against the node: it is skipped, and counts as
    not run.
    """
    name = check.image
    return f"not run: no image of {name} is published; name yours in health.acceptance.images.{name}"


@dataclass(frozen=True)
class Promise:
    """Promises of the settings about a pool's nodes; None where there is none."""

    driver: str | None
    modules: Literal["open", "proprietary"] | None
    mig: Literal["Enabled", "Disabled"]
    licensed: bool
    persistence: bool
    resources: dict[str, int]
    """GPUs that a node offers, by resource name."""


def promise(settings: Settings, pool: Pool) -> Promise:
    """Required state of a pool's nodes. The image of an AKS driver brings its own version and persistence."""
    modules = gpu.module_type(settings, pool)
    return Promise(
        driver=gpu.driver_version(settings, pool),
        modules=None if modules in (None, "auto") else "open" if modules == "open" else "proprietary",
        mig="Enabled" if gpu.has_host_mig(pool) or pool.sharing.mig is not None else "Disabled",
        licensed=gpu.is_vgpu(pool) and settings.grid_driver.licence == "required",
        persistence=pool.driver.source is not DriverSource.AKS,
        resources=gpu.offered(settings, pool),
    )
