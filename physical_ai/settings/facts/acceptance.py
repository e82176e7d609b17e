"""Acceptance checks on the nodes of a pool, and the state that the pool's settings promise. Pure functions."""

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
    """Reason why the check does not run on these nodes; empty if the check runs."""


def pool_checks(pool: Pool, level: AcceptanceLevel) -> list[PoolCheck]:
    """Checks of the acceptance level `level` and of all lower levels, in order. A check is left out if a check of a
    higher level includes it.
    """
    levels = LEVELS[: LEVELS.index(level) + 1]
    selected = [check for check in checks().values() if check.level in levels]
    included = {check.replaces for check in selected}
    return [PoolCheck(check, not_for(check, pool)) for check in selected if check.name not in included]


def not_for(check: Check, pool: Pool) -> str:
    """Reason why a check does not apply to a pool; empty if the check applies."""
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
    """Reason why a check does not apply to the pool's GPUs: they are not NVIDIA's, or Pods get them by claims, which
    this check does not support. Empty if the check applies.
    """
    if gpu_vendor(pool) is not NVIDIA:
        return f"the check is a program for NVIDIA's GPUs, and the pool has {gpu_vendor(pool).name}'s"
    if check.output == "graphics-absent" and pool.uses_claims:
        return "a claim gives a container all of the driver, whatever its environment requests"
    if check.pools == "fabric" and pool.uses_claims:
        return "its Pods request GPUs and adapters as resources, and the pool offers its GPUs by claims"
    return ""


def gpu_request(check: Check, pool: Pool) -> dict[str, int]:
    """GPUs that the check's Pod requests, as number by resource name: all GPUs of the node, or one.

    If Pods get GPUs by claims, the name is the DRA driver's. Shares of a GPU are requested one at a time, unless the
    check requires all of them, because device plugins can be set to refuse more.
    """
    offered = {CLAIM_DRIVER: gpus_per_node(pool)} if pool.uses_claims else gpu.gpu_resources(pool)
    if check.gpus == "all" or (check.gpus == "every" and gpu.sharing_kind(pool) == "none"):
        return offered
    return {next(iter(offered)): 1}


def image_of(settings: Settings, check: Check) -> str | None:
    """Image of a check, from the stack's settings or else from the catalogue; None if neither names an image."""
    own = settings.health.acceptance.images.get(check.image)
    return own or check_images()[check.image].at(settings.grid_driver.image_registry)


def no_image(check: Check) -> str:
    """Reason why a check without an image is skipped. A skipped check does not count as failed."""
    name = check.image
    return f"not run: no image of {name} is published; name yours in health.acceptance.images.{name}"


@dataclass(frozen=True)
class Promise:
    """The promised state of a pool's nodes. A field is None if the settings promise nothing about it."""

    driver: str | None
    modules: Literal["open", "proprietary"] | None
    mig: Literal["Enabled", "Disabled"]
    licensed: bool
    persistence: bool
    resources: dict[str, int]
    """GPU resources that a node offers, by resource name."""


def promise(settings: Settings, pool: Pool) -> Promise:
    """State that a pool's nodes should have. With AKS's driver, the node image decides on version and persistence."""
    modules = gpu.module_type(settings, pool)
    return Promise(
        driver=gpu.driver_version(settings, pool),
        modules=None if modules in (None, "auto") else "open" if modules == "open" else "proprietary",
        mig="Enabled" if gpu.has_host_mig(pool) or pool.sharing.mig is not None else "Disabled",
        licensed=gpu.is_vgpu(pool) and settings.grid_driver.licence == "required",
        persistence=pool.driver.source is not DriverSource.AKS,
        resources=gpu.offered(settings, pool),
    )
