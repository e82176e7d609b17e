"""Documents for the GRID driver agent about each of its pools.

The functions are pure: they turn settings into documents.

The keys are those of `Wanted` in agents/grid_driver/grid_agent/wanted.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog import DriverBuild, driver_branches, machine
from physical_ai.catalog.gpu_lookup import branch_number, builds
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings


@dataclass(frozen=True)
class Installer:
    """Installer file of a GRID build. Unknown fields are empty."""

    sha256: str
    urls: tuple[str, ...]
    """Addresses of the installer, in the order in which they are tried."""


@dataclass(frozen=True)
class GridPlan:
    """Values from which the Kubernetes objects of the GRID driver agent are made."""

    wanted: Mapping[str, Mapping[str, Any]]
    """Wanted driver state of each GRID pool, by pool."""
    tolerations: tuple[Mapping[str, str], ...]
    """Tolerations for every taint of the GRID pools, Spot's included."""
    image_registry: str
    image_pull_secret: str | None = None
    on_delete: bool = False
    """True if a node keeps its agent, and with it its driver, until somebody deletes the agent's Pod."""

    @property
    def versions(self) -> str:
        """Driver builds as text for people: one build if all pools have the same, otherwise `pool=build` for each."""
        found = {name: str(wanted["version"]) for name, wanted in self.wanted.items()}
        same = set(found.values())
        return same.pop() if len(same) == 1 else ",".join(f"{name}={version}" for name, version in found.items())

    @property
    def document(self) -> str:
        """Content of `wanted.json`: the wanted state of all pools or, where they differ, of each pool under
        `pools`.
        """
        same = {_json(wanted) for wanted in self.wanted.values()}
        return same.pop() if len(same) == 1 else _json({"pools": self.wanted})


def grid_plan(settings: Settings) -> GridPlan | None:
    """Plan of a stack; None without a GRID pool. The plan does not depend on the number of nodes."""
    pools = gpu_facts.grid_pools(settings)
    if not pools:
        return None
    return GridPlan(
        {name: wanted(settings, pool) for name, pool in sorted(pools.items())},
        tuple(gpu_facts.tolerations_of(settings, pools.values())),
        settings.grid_driver.image_registry,
        settings.grid_driver.image_pull_secret,
        settings.grid_driver.update_strategy == "OnDelete",
    )


def wanted(settings: Settings, pool: Pool) -> dict[str, Any]:
    """Wanted driver state of the nodes of one GRID pool, for the agent."""
    grid, gpu = settings.grid_driver, machine(pool.sku).gpu
    version = pool.driver.version or grid.version
    installer = grid_installer(settings, version)
    branch = driver_branches().get(("grid", branch_number(version)))
    return {
        "version": version,
        "sha256": installer.sha256,
        "urls": list(installer.urls),
        "moduleType": gpu_facts.grid_modules(settings, pool),
        "moduleParameters": module_parameters(settings, pool),
        "dkms": grid.dkms,
        "packageSource": "offline" if grid.offline else "apt",
        "packages": [item.model_dump(exclude_none=True, by_alias=True) for item in grid.packages],
        "upgrade": pool.driver.upgrade_policy or grid.upgrade_policy,
        "licence": grid.licence,
        "devices": [gpu.pci] if gpu is not None and gpu.pci else [],
        "refusedKernels": list(branch.broken_kernels) if branch is not None else [],
        "legacyValidationMarkers": grid.legacy_validation_markers,
        "present": grid.present,
    }


def grid_installer(settings: Settings, version: str) -> Installer:
    """Checksum and addresses of a GRID build. The settings' checksum and address take precedence over the catalogue's;
    the address on a mirror, if the settings have one, comes first.

    With the setting `offline`, the catalogue's address is left out.
    """
    grid = settings.grid_driver
    own, known = grid.installers.get(version), known_build(version)
    sha256 = (own.sha256 if own else None) or (known.sha256 if known else "")
    own_url, known_url = own.url if own else None, known.url if known else None
    upstream = own_url or (None if grid.offline else known_url)
    name = (own_url or known_url or "").rpartition("/")[2]
    mirrored = f"{grid.mirror.rstrip('/')}/{name}" if grid.mirror and name else None
    return Installer(sha256, tuple(dict.fromkeys(url for url in (mirrored, upstream) if url)))


def known_build(version: str) -> DriverBuild | None:
    """Row of the catalogue about the GRID build `version`; None if the catalogue does not have the build."""
    return builds("grid").get(version)


def module_parameters(settings: Settings, pool: Pool) -> dict[str, dict[str, str]]:
    """Kernel-module parameters of a pool, by module, named as in the kernel (`nvidia_uvm`). Parameters in the pool's
    settings take precedence over parameters for all GRID pools.
    """
    merged: dict[str, dict[str, str]] = {}
    for source in (settings.grid_driver.module_parameters, pool.driver.module_parameters):
        for module, parameters in source.items():
            merged.setdefault(module.replace("-", "_"), {}).update(parameters)
    return {module: dict(sorted(own.items())) for module, own in sorted(merged.items()) if own}


def _json(data: Any) -> str:
    return json.dumps(data, sort_keys=True, ensure_ascii=False)
