"""Machines in capacity reservations: which are reserved, which are used, and what is left for others. Pure functions.

Read in MicrosoftDocs/azure-compute-docs 05a4485, articles/virtual-machines/capacity-reservation-overview.md
(2026-02-17): a reservation holds machines and quota whether it is used or not; machines beyond it are subject to quota
and to Azure's capacity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.azure import ids
from simulator.azure.bodies import Json, get
from simulator.azure.guids import guid
from simulator.azure.state import AzureState, Resource

PROPERTY = "capacityReservationGroupID"


def group_outputs(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {"capacityReservations": [{"id": each.id} for each in members(resource.id, azure)]}


def reservation_outputs(resource: Resource, outputs: Json, azure: AzureState) -> Json:
    return {"reservationId": guid(resource, "reservation")}


def group_of(spec: Mapping[str, Any]) -> str:
    """Id of the group that a pool's machines are from, in one spelling; empty without a group."""
    given = spec.get(PROPERTY)
    return ids.key(given) if isinstance(given, str) and given else ""


def members(group_id: str, azure: AzureState) -> list[Resource]:
    """Reservations of a group."""
    return list(azure.children(group_id, "CapacityReservation"))


def size_of(reservation: Resource) -> str:
    return str(get(reservation.body, "sku.name"))


def zones_of(reservation: Resource) -> tuple[str, ...]:
    return tuple(reservation.body.get("zones") or ())


def machines_of(reservation: Resource) -> int:
    return int(get(reservation.body, "sku.capacity") or 0)


def pools_in(group_id: str, azure: AzureState) -> list[Resource]:
    """Node pools whose machines are associated with a group."""
    return [pool for pool in azure.of_kind("AgentPool") if group_of(get(pool.body, "properties")) == ids.key(group_id)]


def reserved(size: str, azure: AzureState, without: str = "") -> Counter[str]:
    """Number of reserved machines of a size, by group. `without`: id of a reservation that is left out."""
    found = Counter[str]()
    for each in azure.of_kind("CapacityReservation"):
        if size_of(each) == size and not ids.same(each.id, without):
            found[ids.key(ids.parent(each.id))] += machines_of(each)
    return found


def used(size: str, azure: AzureState, without: str = "") -> Counter[str]:
    """Number of machines of a size that pools have, by group, and without a group under an empty name.

    `without`: id of a pool that is left out.
    """
    found = Counter[str]()
    for pool in azure.of_kind("AgentPool"):
        if get(pool.body, "properties.vmSize") == size and not ids.same(pool.id, without):
            found[group_of(get(pool.body, "properties"))] += len(pool.facts.get("addresses", ()))
    return found


def obtainable(pool_id: str, spec: Mapping[str, Any], most: int, azure: AzureState) -> int:
    """Largest number of machines that a pool can have, of `most` that Azure has in all.

    Unused machines of other groups are not to be had. Machines of the pool's own group are, and beyond these what
    nobody has reserved.
    """
    size, own = str(spec.get("vmSize")), group_of(spec)
    kept, busy = reserved(size, azure), used(size, azure, pool_id)
    others = sum(max(kept[group], busy[group]) for group in (kept.keys() | busy.keys()) - {own})
    free = most - others - busy[own]
    return max(free, kept[own] - busy[own]) if own else free


def beyond(pool_id: str, spec: Mapping[str, Any], nodes: int, azure: AzureState) -> int:
    """Number of a pool's `nodes` machines for which quota is needed: those beyond the reservation, whose machines have
    their quota already.
    """
    size, own = str(spec.get("vmSize")), group_of(spec)
    if not own:
        return nodes
    kept, busy = reserved(size, azure)[own], used(size, azure, pool_id)[own]
    return max(busy + nodes, kept) - max(busy, kept)


def held(place: str, azure: AzureState, without: str = "") -> Iterator[tuple[str, int]]:
    """Sizes of the reserved machines in a region that no pool uses, each with their number.

    `without`: id of a pool or a reservation that is left out.
    """
    found = [each for each in azure.of_kind("CapacityReservation") if each.location == place]
    for size in sorted({size_of(each) for each in found}):
        kept, busy = reserved(size, azure, without), used(size, azure, without)
        yield size, sum(max(number - busy[group], 0) for group, number in kept.items())
