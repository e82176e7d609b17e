"""Capacity reservations of GPU pools, and the right of the cluster to take machines from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import compute

from components.azure.roles import assign_role
from physical_ai.catalog.aks import Role
from physical_ai.settings import Pool
from physical_ai.settings.facts.naming import Names


@dataclass(frozen=True)
class CapacityReservationsArgs:
    """Inputs of `CapacityReservations`. `pools` are all GPU pools; those without a reservation are left out."""

    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    subscription_id: str
    principal_id: pulumi.Input[str]
    """Object id of the control plane's identity."""
    pools: Mapping[str, Pool]


@dataclass(frozen=True)
class PoolReservation:
    """Reservation of one pool."""

    group_id: pulumi.Input[str]
    after: list[pulumi.Resource]
    """Reservations and role assignment that must exist before the pool."""


class CapacityReservations(pulumi.ComponentResource):
    """Groups with a reservation of each pool's VM size in each of its zones, and the cluster's role on each group.

    Names contain size and zones, none of which can change: for a changed pool, Azure reserves the new machines before
    the old ones are given back.

    Attributes:
        of_pool: Reservations by name of the pool.
    """

    of_pool: dict[str, PoolReservation]

    def __init__(self, name: str, args: CapacityReservationsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:CapacityReservations", name, {}, opts)
        self._name, self._args = name, args
        self._roles: dict[str, pulumi.Resource] = {}
        self.of_pool = {}
        for pool_name, pool in args.pools.items():
            reservation = pool.capacity.reservation
            if reservation is None:
                continue
            if reservation.group is not None:
                self.of_pool[pool_name] = PoolReservation(reservation.group, [self._role(pool_name, reservation.group)])
            elif reservation.machines is not None:
                self.of_pool[pool_name] = self._reserved(pool_name, pool, reservation.machines)
        self.register_outputs({"pools": list(self.of_pool)})

    def _reserved(self, pool_name: str, pool: Pool, machines: int) -> PoolReservation:
        args, place = self._args, "".join(pool.zones) or "region"
        group = compute.CapacityReservationGroup(
            f"{self._name}-{pool_name}-{place}",
            capacity_reservation_group_name=f"{args.names.reservations(pool_name)}-{place}",
            zones=list(pool.zones) or None,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self),
        )
        reserved = [
            compute.CapacityReservation(
                f"{self._name}-{pool_name}-{pool.sku}-{zone or 'region'}",
                capacity_reservation_group_name=group.name,
                capacity_reservation_name=f"{pool.sku}-{zone or 'region'}",
                sku=compute.SkuArgs(name=pool.sku, capacity=machines),
                zones=[zone] if zone is not None else None,
                resource_group_name=args.resource_group_name,
                location=args.location,
                tags=args.tags,
                opts=pulumi.ResourceOptions(parent=self),
            )
            for zone in (pool.zones or (None,))
        ]
        return PoolReservation(group.id, [*reserved, self._role(pool_name, group.id)])

    def _role(self, pool_name: str, group_id: pulumi.Input[str]) -> pulumi.Resource:
        """Role of the control plane on a group. A group of several pools has one assignment, since ARM refuses a second
        one.
        """
        key = group_id.lower() if isinstance(group_id, str) else pool_name
        if key not in self._roles:
            self._roles[key] = assign_role(
                f"{self._name}-{pool_name}-deploy",
                role=Role.CONTRIBUTOR,
                scope=group_id,
                principal_id=self._args.principal_id,
                principal_type="ServicePrincipal",
                subscription_id=self._args.subscription_id,
                opts=pulumi.ResourceOptions(parent=self),
            )
        return self._roles[key]
