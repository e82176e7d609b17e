"""Rules about the GRID driver: its installer is known, nodes can reach it, and it fits the pool's GPU.

Rules about the vGPU branches of Azure's hosts are among the version rules: `physical_ai.catalog.compat.vgpu`.
"""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import nearest, vgpu_model
from physical_ai.catalog.gpu_lookup import builds
from physical_ai.findings import Severity
from physical_ai.planning.grid_driver import grid_installer, known_build
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, finding, warning
from physical_ai.settings.rules.modules import check_modules

_GRID: Path = ("gridDriver",)
_VERSION: Path = (*_GRID, "version")
_MODULES: Path = (*_GRID, "moduleType")
_OFFLINE: Path = (*_GRID, "offline")
DOCKER_HUB = "docker.io"
ANONYMOUS_PULLS = 100
"""Pulls that Docker Hub allows from one address in six hours. All nodes of a cluster may have the same address."""


def check_grid(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about the GRID driver; without a GRID pool, only about `upgradePolicy` of other pools and
    about `gridDriver.moduleParameters`.
    """
    for name, pool in settings.pools.items():
        policy: Path = ("pools", name, "driver", "upgradePolicy")
        source: Path = ("pools", name, "driver", "source")
        if not pool.driver.is_grid and pool.driver.upgrade_policy and trust(policy, source):
            problem = f"With driver source '{pool.driver.source.value}' upgradePolicy has no effect."
            yield error(policy, problem, "Leave it out.", others=(source,), rule=rules.GRID_POLICY)
    pools = {n: p for n, p in gpu_facts.grid_pools(settings).items() if trust(("pools", n), _GRID)}
    yield from check_modules((*_GRID, "moduleParameters"), settings.grid_driver.module_parameters)
    if not pools:
        return
    checked: set[str] = set()
    for name, pool in pools.items():
        version = pool.driver.version or settings.grid_driver.version
        setting: Path = ("pools", name, "driver", "version") if pool.driver.version else _VERSION
        # A build that several pools use is reported once.
        if version not in checked:
            checked.add(version)
            yield from _build(settings, version, setting)
        if gpu_facts.knows_gpu(pool):
            yield from _modules(settings, name, pool)
    yield from _checksums(settings)
    yield from _offline(settings)
    yield from _image(settings)
    yield from _markers(settings)


def _build(settings: Settings, version: str, here: Path) -> Iterator[SettingFinding]:
    own, known = settings.grid_driver.installers.get(version), known_build(version)
    installer = grid_installer(settings, version)
    entry: Path = (*_GRID, "installers", version)
    if known is None and own is None:
        near = nearest(version, [b for b in builds("grid") if b[:3] == version[:3]], 0.0)
        near = near or nearest(version, builds("grid"), 0.0)
        kind = "a datacenter driver" if version in builds("datacenter") else "not a known build for Azure"
        fix = f"Did you mean '{near}'?  Known: {', '.join(builds('grid'))}."
        if version not in builds("datacenter"):
            fix += f"  For another one write its sha256 and url under gridDriver.installers.{version}."
        problem = f"{version} is {kind}; a vGPU needs Azure's own driver."
        yield error(here, problem, fix, others=(_VERSION,), rule=rules.DRIVER_KIND)
        return
    others: tuple[Path, ...] = (entry,) if own is not None else ()
    if not installer.sha256:
        problem = f"The checksum of GRID driver {version} is unknown, and a file without a checksum is not run as root."
        fix = f'gridDriver.installers: {{"{version}": {{sha256: …}}}}, from a source you trust; or use {_safe()}.'
        yield error(here, problem, fix, others=others, rule=rules.GRID_CHECKSUM)
    if not installer.urls:
        problem = f"The address of the installer of GRID driver {version} is unknown."
        if settings.grid_driver.offline:
            problem = f"Nodes are offline, and no mirror has the installer of GRID driver {version}."
            others = (*others, _OFFLINE)
        fix = f'gridDriver.installers: {{"{version}": {{url: https://…}}}}'
        fix += ", or gridDriver.mirror." if known is not None and known.url else "."
        yield error(here, problem, fix, others=others, rule=rules.GRID_ADDRESS)


def _safe() -> str:
    return " or ".join(name for name, build in builds("grid").items() if build.sha256)


def _modules(settings: Settings, name: str, pool: Pool) -> Iterator[SettingFinding]:
    model = vgpu_model(gpu_facts.gpu_model(pool) or "")
    flavour = gpu_facts.grid_modules(settings, pool)
    if model is None or flavour in model.modules:
        return
    own: Path = ("pools", name, "driver", "moduleType")
    here = own if pool.driver.module_type is not None else _MODULES
    problem = "Blackwell GPUs run with the open kernel modules only; the installer falls back to them."
    fix = "moduleType: open, or omit it."
    yield warning(here, problem, fix, others=(_MODULES,), rule=rules.OPEN_MODULES)


def _checksums(settings: Settings) -> Iterator[SettingFinding]:
    for version, own in settings.grid_driver.installers.items():
        known = known_build(version)
        if known is None or not known.sha256 or own.sha256 in (None, known.sha256):
            continue
        problem = f"The catalogue has another checksum of GRID driver {version}: {known.sha256}"
        problem += f" ({known.sha256_source})."
        fix = "Omit sha256, unless the file of your url is another one."
        setting: Path = (*_GRID, "installers", version, "sha256")
        yield finding(
            Severity.WARNING if own.url is not None else Severity.ERROR, setting, problem, fix, rule=rules.GRID_CHECKSUM
        )


def _offline(settings: Settings) -> Iterator[SettingFinding]:
    grid, here = settings.grid_driver, (*_GRID, "packages")
    if grid.packages and not grid.offline:
        problem = "Nodes that are not offline install headers and compilers from the archive; packages have no effect."
        fix = "offline: true, or omit packages."
        yield warning(here, problem, fix, others=(_OFFLINE,), rule=rules.GRID_OFFLINE)
    elif grid.offline and not any(item.kernel for item in grid.packages):
        problem = "Nodes are offline and no package has kernel headers: only images that include them build modules."
        fix = "Add linux-headers of the node image's kernel to packages: docs/grid-driver.md."
        yield warning(_OFFLINE, problem, fix, others=(here,), rule=rules.GRID_OFFLINE)


def _image(settings: Settings) -> Iterator[SettingFinding]:
    """Findings about the agent's image, which comes from Docker Hub unless another registry is set."""
    grid, here = settings.grid_driver, (*_GRID, "imageRegistry")
    if grid.image_registry != DOCKER_HUB:
        return
    nodes = sum(pool.scale.most for pool in gpu_facts.grid_pools(settings).values())
    if grid.offline:
        problem = "Nodes are offline, and the agent's image comes from Docker Hub."
    elif nodes > ANONYMOUS_PULLS and not grid.image_pull_secret:
        problem = f"Up to {nodes} GRID nodes pull the agent's image from one address, and Docker Hub allows"
        problem += f" {ANONYMOUS_PULLS} anonymous pulls in six hours: nodes may wait for their driver."
    else:
        return
    fix = "imageRegistry: a registry that the nodes reach, with library/ubuntu (docs/grid-driver.md)."
    yield warning(here, problem, fix, others=(_OFFLINE,) if grid.offline else (), rule=rules.GRID_IMAGE)


def _markers(settings: Settings) -> Iterator[SettingFinding]:
    if not settings.grid_driver.legacy_validation_markers:
        return
    setting: Path = (*_GRID, "legacyValidationMarkers")
    problem = "The marker remains when the driver is removed, and the bind mount presents validator and toolkit a host"
    problem += " without device nodes."
    warning = settings.environment != "prod" or settings.record
    yield finding(
        Severity.WARNING if warning else Severity.ERROR,
        setting,
        problem,
        "legacyValidationMarkers: false",
        rule=rules.GRID_MARKERS,
    )
