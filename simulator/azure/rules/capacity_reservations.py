"""Rules on capacity reservation groups, their reservations, and node pools that take machines from them."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.azure import capacity, clusters, ids, reserved
from simulator.azure.bodies import get
from simulator.azure.errors import Refusal
from simulator.azure.offers import location
from simulator.azure.own_facts import NOT_RESERVABLE
from simulator.azure.rules.base import Delete, Pool, Put, on_delete, on_pool, on_put, refuse
from simulator.azure.rules.quota import shortages, usage

DEPLOY = "Microsoft.Compute/capacityReservationGroups/deploy/action"
_TARGET = f"agentPoolProfile.{reserved.PROPERTY}"


@on_put("CapacityReservationGroup", "crg-zones")
def group(put: Put) -> Iterator[Refusal]:
    if put.old is not None and (put.old.body.get("zones") or []) != (put.body.get("zones") or []):
        message = "Zones of a capacity reservation group can be assigned only during its creation."
        yield refuse(put, "crg-zones", message, "zones")


@on_put("CapacityReservation", "crg-fixed", "crg-size", "crg-zone", "crg-one")
def reservation(put: Put) -> Iterator[Refusal]:
    size, zones = str(get(put.body, "sku.name")), tuple(put.body.get("zones") or ())
    if put.old is not None and (size, zones) != (reserved.size_of(put.old), reserved.zones_of(put.old)):
        message = "Size and zone of a capacity reservation cannot be changed. Create a new reservation."
        yield refuse(put, "crg-fixed", message, "sku.name")
    if size in NOT_RESERVABLE:
        message = f"The VM size {size} is not supported for capacity reservations."
        yield refuse(put, "crg-size", message, "sku.name")
    group_id = ids.parent(put.id)
    found = put.azure.get(group_id, "CapacityReservationGroup")
    allowed: list[str] = (found.body.get("zones") or []) if found is not None else []
    if len(zones) != (1 if allowed else 0) or not set(zones) <= set(allowed):
        message = f"Zones {list(zones)} of the reservation: the group is for {allowed or 'no zones'}; name one of them."
        yield refuse(put, "crg-zone", message, "zones")
    others = [each for each in reserved.members(group_id, put.azure) if not ids.same(each.id, put.id)]
    if any((reserved.size_of(each), reserved.zones_of(each)) == (size, zones) for each in others):
        message = f"The group {ids.name(group_id)} has a reservation of {size} for this location already."
        yield refuse(put, "crg-one", message, "sku.name")


@on_put("CapacityReservation", "crg-quota", "crg-capacity")
def machines(put: Put) -> Iterator[Refusal]:
    """Refusals of a reservation for which the subscription has no quota, or Azure no machines."""
    size, number = str(get(put.body, "sku.name")), int(get(put.body, "sku.capacity") or 0)
    group_id, azure = ids.key(ids.parent(put.id)), put.azure
    kept, busy = reserved.reserved(size, azure, put.id), reserved.used(size, azure)
    more = max(kept[group_id] + number, busy[group_id]) - max(kept[group_id], busy[group_id])
    wanted = usage({"vmSize": size}, more, azure.offers)
    for _, message in shortages(put.id, wanted, location(str(put.body.get("location", ""))), azure):
        yield refuse(put, "crg-quota", message, "sku.capacity")
    most = azure.capacity.get(size)
    others = sum(max(kept[each], busy[each]) for each in (kept.keys() | busy.keys()) - {group_id})
    if most is not None and max(kept[group_id] + number, busy[group_id]) > most - others:
        place = "zone" if put.body.get("zones") else "region"
        yield refuse(put, "crg-capacity", capacity.MESSAGE.format(place=place), "sku.capacity")


@on_delete("CapacityReservation", "crg-delete-used")
def delete_reservation(delete: Delete) -> Iterator[Refusal]:
    pools = [
        ids.name(pool.id)
        for pool in reserved.pools_in(ids.parent(delete.id), delete.azure)
        if get(pool.body, "properties.vmSize") == reserved.size_of(delete.resource)
    ]
    if pools:
        message = f"Machines of {', '.join(pools)} are associated with the reservation. Dissociate them first."
        yield refuse(delete, "crg-delete-used", message)


@on_delete("CapacityReservationGroup", "crg-delete-group")
def delete_group(delete: Delete) -> Iterator[Refusal]:
    inside = [*reserved.members(delete.id, delete.azure), *reserved.pools_in(delete.id, delete.azure)]
    if inside:
        message = f"The group still has {', '.join(ids.name(each.id) for each in inside)}. Delete them first."
        yield refuse(delete, "crg-delete-group", message)


@on_pool("pool-crg-missing", "pool-crg-match", "pool-crg-perm", "pool-crg-identity")
def pool(pool: Pool) -> Iterator[Refusal]:
    given = pool.sent.get(reserved.PROPERTY)
    if not given or pool.is_spot:  # Spot is refused by spot-no-crg
        return
    found = pool.azure.get(given, "CapacityReservationGroup")
    if found is None:
        yield refuse(pool, "pool-crg-missing", f"The capacity reservation group {given} was not found.", _TARGET)
        return
    size, zones = str(pool.spec.get("vmSize")), tuple(pool.spec.get("availabilityZones") or ())
    here = {
        reserved.zones_of(each) for each in reserved.members(found.id, pool.azure) if reserved.size_of(each) == size
    }
    missing = [zone for zone in ({(each,) for each in zones} or {()}) if zone not in here]
    if missing:
        where = f"zone {', '.join(sorted(each for zone in missing for each in zone))}" if zones else "no zone"
        message = f"The capacity reservation group {ids.name(found.id)} has no reservation of {size} in {where}."
        yield refuse(pool, "pool-crg-match", message, _TARGET)
    identity = pool.azure.get(clusters.control_plane_identity(pool.cluster), "UserAssignedIdentity")
    if identity is None:
        message = "A capacity reservation group needs a cluster with a user-assigned identity."
        yield refuse(pool, "pool-crg-identity", message, _TARGET)
        return
    principal = str(identity.outputs.get("principalId"))
    if not pool.azure.allowed(principal, DEPLOY, found.id):
        message = f"The client '{principal}' with object id '{principal}' does not have permission to perform action"
        message += f" '{DEPLOY}' on the linked scope(s) '{found.id}'. A fresh role assignment needs minutes to work."
        yield refuse(pool, "pool-crg-perm", message, _TARGET)
