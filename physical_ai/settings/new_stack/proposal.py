"""Proposal for a stack without a file: the values of its layers, and the sizes and zones of its region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path as FilePath
from typing import Any, Literal

from physical_ai.catalog import judge, price, region, regions, vm_size, vm_sizes
from physical_ai.settings.facts.addresses import PRIVATE
from physical_ai.settings.facts.pools import CPU_POOL, SYSTEM_POOL
from physical_ai.settings.faults import Fault, SettingsError, fault
from physical_ai.settings.guards import is_list, is_map
from physical_ai.settings.layers.merge import Layer, Merged, merge
from physical_ai.settings.layers.names import (
    PLACE,
    STACKS,
    StackName,
    environment_names,
    existing,
    has_region,
    layer_files,
    name_faults,
    stack_label,
)
from physical_ai.settings.layers.overlay import read_file
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.loading import load_settings
from physical_ai.settings.rules.network import POD_BLOCK

FIRST_SPACE, LAST_SPACE = 40, 223
"""Second octets of the blocks 10.x.0.0/16 that a new stack gets first as its address space, from `FIRST_SPACE` to
`LAST_SPACE`. The ranges of Pods and Services lie above these blocks.
"""
SYSTEM_PREFIX, POOL_PREFIX = 24, 26
"""Prefix lengths of the proposed subnets. Each subnet is in a /24 block of its own, so that it can grow."""


_BY_HAND = "For a cluster that exists already, copy the example of docs/existing-clusters.md: its name is free."


@dataclass(frozen=True)
class Candidate:
    """A VM size that a GPU pool of a new stack can have, because the region lists the size."""

    size: str
    evidence: Literal["documented", "believed", "price", "seen"]
    usd_per_hour: float | None
    driver_sources: tuple[str, ...]
    same_gpu: bool
    """True where the size has the same GPU model as the layers' size."""


@dataclass(frozen=True)
class PoolProposal:
    """Values of the layers for one node pool of a new stack, and the VM sizes that the region lists for the pool."""

    name: str
    path: Path
    """Path of the pool's settings: `("systemPool",)`, `("pools", "h100gpu")`."""
    size: str
    driver: str | None
    """Driver source; None for a pool without GPUs."""
    disk_type: str
    disk_gib: int | None
    os_sku: str
    zones: tuple[str, ...]
    spot: bool
    candidates: tuple[Candidate, ...]
    """Sizes that the region lists for a GPU pool, sorted: first those with the same GPU, then by price."""

    @property
    def has_gpu(self) -> bool:
        return self.path[0] == "pools"


@dataclass(frozen=True)
class Replaced:
    """A pool of the environment that a layer of the region replaces by another pool, or removes."""

    pool: str
    by: str | None
    """Name of the pool that replaces this pool; None if the layer only removes this pool."""
    layer: str
    """Name of the layer's file."""
    reason: str
    """Reason that the catalogue knows, as a sentence; empty where it knows none."""


@dataclass(frozen=True)
class Proposal:
    """Values of the layers and the catalogue from which a new stack is made."""

    name: StackName
    pools: tuple[PoolProposal, ...]
    address_space: IPv4Network
    """Address space that no other stack uses."""
    protect: bool
    has_ranges: bool
    """True where a layer already sets public ranges for the API server."""
    elsewhere: Mapping[str, IPv4Network]
    """Ranges that the layers use for Pods and Services; the address space must not overlap them."""
    utc_offset: str
    """UTC offset of the region's standard time, for maintenance windows."""
    region_zones: tuple[str, ...]
    region_layer: bool
    """True where the region already has a layer."""
    replaced: tuple[Replaced, ...]
    """Pools that the region's layer replaces by other pools, or removes."""
    root: FilePath

    def pool(self, name: str) -> PoolProposal | None:
        return next((pool for pool in self.pools if pool.name == name), None)


def _new_name(given: str, root: FilePath) -> str:
    """Hint for a refused stack name: a valid example, the environments, and the command that lists the regions."""
    environments = environment_names(root)
    environment = given if given in environments else "dev"
    place = given if given in regions() else "eastus2"
    return f"Such as '{environment}-{place}'.  Environments: {', '.join(environments)}.  Regions: physai regions"


def _name_faults(name: StackName, root: FilePath) -> list[Fault]:
    """Faults of a new stack's name; a single one if both parts are unknown. A region without a layer is no fault."""
    faults = [fault for fault in name_faults(name, root) if "has no layer" not in fault.problem]
    if len(faults) < 2:
        return faults
    problem = f"There is neither an environment '{name.environment}' nor a region '{name.region}'."
    return [fault(stack_label(str(name), root), PLACE, problem, f"{_new_name('', root)}  {_BY_HAND}")]


def propose(stack: str, root: FilePath = STACKS) -> Proposal:
    """Proposal for a new stack with this name.

    Raises SettingsError if the name is not well-formed, its environment has no layer, the catalogue does not know the
    region, the stack already has a file, or a layer is broken.
    """
    name = StackName.parse(stack, _new_name(stack, root))
    if stack in existing(root):
        problem, fix = "The stack already exists.", f"Change its file; see also: physai explain {stack}"
        raise SettingsError([fault(stack_label(stack, root), "(file)", problem, fix)])
    faults = _name_faults(name, root)
    layers: list[Layer] = []
    for label, file in layer_files(name, root).items():
        if file.is_file():
            document = read_file(file, label)
            faults += document.faults
            layers.append(Layer(label, document.data, lines=document.lines))
    if faults:
        raise SettingsError(faults)
    merged = merge(layers, Layer(stack_label(stack, root), {}))
    if merged.faults:
        raise SettingsError(merged.faults)
    data = merged.data
    place = region(name.region)
    sections: dict[str, Path] = {SYSTEM_POOL: ("systemPool",), CPU_POOL: ("cpuPool",)}
    sections |= {pool: ("pools", pool) for pool in _map(data, "pools")}
    pools = (_pool(pool, path, _map(data, *path), name.region) for pool, path in sections.items())
    access = _map(data, "cluster", "apiAccess")
    return Proposal(
        name,
        tuple(pools),
        _free_space(root),
        data.get("protect") is True,
        bool(access.get("authorizedIpRanges")),
        _elsewhere(_map(data, "network")),
        place.utc_offset,
        place.zones,
        has_region(name.region, root),
        tuple(_replaced(layers, merged, name.region)),
        root,
    )


def _replaced(layers: Sequence[Layer], merged: Merged, region_name: str) -> Iterator[Replaced]:
    """Pools that the region's layer replaces or removes from the layers below it, each with the reason."""
    below = merge([layer for layer in layers if FilePath(layer.label).parent.name != "region"], merged.last).data
    by = {old: new for new, (old, _) in merged.replaced.items()}
    for name, pool in _map(below, "pools").items():
        if name not in _map(merged.data, "pools"):
            verdicts = judge(str(_map(pool).get("sku", "")), region_name)
            reasons = [each.problem for each in verdicts if "-region" in each.rule]
            layer = merged.source(("pools", name)).label
            yield Replaced(name, by.get(name), layer, reasons[0] if reasons else "")


def subnets(space: IPv4Network, pools: Sequence[str]) -> tuple[IPv4Network, dict[str, IPv4Network]]:
    """The system subnet, and one subnet for each GPU pool.

    Raises ValueError where the address space is too small for them.
    """
    blocks = list(space.subnets(new_prefix=SYSTEM_PREFIX)) if space.prefixlen <= SYSTEM_PREFIX else []
    if len(blocks) <= len(pools):
        raise ValueError(f"{space} is too small: {len(pools) + 1} subnets take a /{POD_BLOCK} each")
    return blocks[0], {
        name: next(block.subnets(new_prefix=POOL_PREFIX)) for name, block in zip(pools, blocks[1:], strict=False)
    }


def space_problem(space: IPv4Network, proposal: Proposal) -> str | None:
    """Problem with an address space for a new stack; None if the stack can have the address space."""
    if not any(space.subnet_of(private) for private in PRIVATE):
        return f"{space} is not private: choose a range in {', '.join(map(str, PRIVATE))}"
    for key, other in proposal.elsewhere.items():
        if space.overlaps(other):
            return f"{space} overlaps network.{key} {other}; {proposal.address_space} is free"
    for stack, other in _spaces(proposal.root).items():
        if space.overlaps(other):
            return (
                f"{space} overlaps {other} of {stack}: the two could never be peered; {proposal.address_space} is free"
            )
    try:
        subnets(space, [pool.name for pool in proposal.pools if pool.has_gpu])
    except ValueError as error:
        return str(error)
    return None


def _elsewhere(network: Mapping[str, Any]) -> dict[str, IPv4Network]:
    """Ranges of Pods and Services in the layers, by setting; an invalid range is left to the validation."""
    found: dict[str, IPv4Network] = {}
    for key in ("podCidr", "serviceCidr"):
        try:
            found[key] = IPv4Network(str(network.get(key)))
        except ValueError:
            continue
    return found


def _pool(name: str, path: Path, data: Mapping[str, Any], region_name: str) -> PoolProposal:
    disk, zones = _map(data, "osDisk"), data.get("zones")
    size, driver = str(data.get("sku", "")), _map(data, "driver").get("source")
    gib = disk.get("sizeGb")
    return PoolProposal(
        name,
        path,
        size,
        str(driver) if driver is not None else None,
        str(disk.get("type", "Managed")),
        gib if isinstance(gib, int) else None,
        str(data.get("osSku", "Ubuntu")),
        tuple(str(zone) for zone in zones) if is_list(zones) else (),
        data.get("priority") == "Spot",
        tuple(_candidates(size, region_name)) if path[0] == "pools" else (),
    )


def _candidates(wanted: str, region_name: str) -> list[Candidate]:
    gpu = vm_size(wanted).gpu if wanted in vm_sizes() else None
    found: list[Candidate] = []
    for name, listing in region(region_name).sizes.items():
        size = vm_size(name)
        if size.gpu is None or size.is_retired:
            continue
        row, same = price(name, region_name), gpu is not None and size.gpu.model == gpu.model
        usd = row.usd_per_hour if row else None
        found.append(Candidate(name, listing.evidence, usd, size.driver_sources, same))
    return sorted(found, key=lambda each: (each.size != wanted, not each.same_gpu, each.usd_per_hour or float("inf")))


def _free_space(root: FilePath) -> IPv4Network:
    taken = _spaces(root).values()
    seconds = [*range(FIRST_SPACE, LAST_SPACE + 1), *range(FIRST_SPACE)]
    blocks = [*(IPv4Network(f"10.{second}.0.0/16") for second in seconds), IPv4Network("192.168.0.0/16")]
    return next((block for block in blocks if not any(block.overlaps(other) for other in taken)), blocks[-1])


def _spaces(root: FilePath) -> dict[str, IPv4Network]:
    """Address spaces of the other stacks; a stack that does not load is left out."""
    found: dict[str, IPv4Network] = {}
    for stack in existing(root):
        try:
            network = load_settings(stack, root).azure_network
        except SettingsError:
            continue
        if network is not None:
            found[stack] = network.address_space
    return found


def _map(data: Any, *keys: str | int) -> dict[str, Any]:
    for key in keys:
        data = data.get(str(key)) if is_map(data) else None
    return data if is_map(data) else {}
