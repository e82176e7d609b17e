"""Answers about quotas and VM sizes from a stack's simulated Azure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from physical_ai.subscription.answers import SizeOffer, Usage

if TYPE_CHECKING:
    from simulator.azure.state import AzureState


@dataclass(frozen=True)
class SimulatedCapacity:
    """Answers of the simulated Azure about quotas and VM sizes. The simulated Azure offers the sizes that the catalogue
    lists.
    """

    state: AzureState

    def usages(self, region: str) -> Mapping[str, Usage]:
        from physical_ai.catalog import vm_sizes
        from simulator.azure.rules.quota import LOW_PRIORITY, REGIONAL, used_by_others

        used = used_by_others("", region, self.state)
        names = {REGIONAL, LOW_PRIORITY, *(size.family for size in vm_sizes().values())}
        return {name: Usage(used[name], self.state.limit(name)) for name in names}

    def sizes(self, region: str) -> Mapping[str, SizeOffer]:
        from physical_ai.catalog import regions, vm_sizes
        from simulator.azure.sku_capabilities import capabilities

        place = regions().get(region)
        offers: dict[str, SizeOffer] = {}
        for name, listing in (place.sizes if place is not None else {}).items():
            row = vm_sizes()[name]
            zones = listing.zones if listing.zones is not None else place.zones if place is not None else ()
            gpus = row.gpu.count if row.gpu is not None else None
            found = capabilities().get(name, {})
            offers[name] = SizeOffer(row.family, row.vcpus, gpus, row.low_priority, tuple(zones), capabilities=found)
        return offers


def simulated_capacity(stack: str) -> SimulatedCapacity:
    """Answers about capacity from a stack's simulated Azure. Raises SimulationError if the stack is not simulated."""
    from simulator.errors import SimulationError
    from workbench.cli.simulated_stack import simulation_of

    simulation = simulation_of(stack)
    if not simulation.exists:
        raise SimulationError(f"{stack} has no simulation. Create it with `physai up {stack}`")
    with simulation.azure() as cloud:
        return SimulatedCapacity(cloud.azure())
