"""Costs of a stack besides its nodes, each as a range per month with source and date."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from parts.in_cluster_data import facts as in_cluster
from physical_ai.catalog.service_prices import ServicePrice, service_prices
from physical_ai.settings import NodePool, Settings
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.data_services import data_facts
from physical_ai.settings.facts.outbound import outbound_facts
from physical_ai.settings.facts.pools import node_pools
from physical_ai.settings.facts.private_network import private_network
from physical_ai.settings.models.node_pools import MANAGED_DISK_GIB
from workbench.costs.amounts import HOURS_A_MONTH, Span, nodes

UNCAPPED_GB_A_DAY = 20
"""Logs, in GB a day, that the high estimate assumes for a workspace without a daily cap."""
DAYS_A_MONTH = 30.4
STORED_GB = (100, 1000)
"""Data, in GB, that the low and the high estimate assume for a storage account. The real amount is not known yet."""
_ADDRESS = "azure-native:network:PublicIPAddress"


@dataclass(frozen=True)
class ServiceCost:
    """Monthly cost of one service: a low and a high figure, each for the minimum, initial and maximum number of
    nodes.
    """

    what: str
    low: Span
    high: Span
    price: ServicePrice
    types: tuple[str, ...] = ()
    """Resource types that cause the cost."""


def service_costs(settings: Settings) -> tuple[ServiceCost, ...]:
    """Costs besides the nodes of a stack that creates its cluster; none for an existing cluster."""
    return tuple(_all(settings)) if creates_cluster(settings) else ()


def total(costs: Iterable[ServiceCost]) -> tuple[Span, Span]:
    """Sum of the low figures and sum of the high figures of `costs`, per month."""
    known = list(costs)
    return Span.total(each.low for each in known), Span.total(each.high for each in known)


def _all(settings: Settings) -> Iterator[ServiceCost]:
    # Cluster management of the Free tier is free (AKS docs, free-standard-pricing-tiers).
    if (tier := settings.cluster.tier) != "Free":
        what = f"control plane, tier {tier}"
        yield _cost(what, f"control-plane-{tier.lower()}", types=("azure-native:containerservice:ManagedCluster",))
    if count := len(outbound_facts(settings).gateways):
        yield _cost(f"NAT gateways: {count}", "nat-gateway", count, types=("azure-native:network:NatGateway",))
        yield _cost(f"public addresses of NAT gateways: {count}", "public-address", count, types=(_ADDRESS,))
    yield from _private(settings)
    yield from _disks(settings)
    yield _logs(settings)
    yield from _data(settings)


def _private(settings: Settings) -> Iterator[ServiceCost]:
    given = private_network(settings)
    if given is None:
        return
    if given.resolver is not None:
        yield _cost("DNS resolver's endpoint", "resolver-endpoint", types=("azure-native:dnsresolver:InboundEndpoint",))
    if given.vpn is not None:
        types = ("azure-native:network:VirtualNetworkGateway", _ADDRESS)
        yield _cost(f"VPN gateway {given.vpn.sku}", f"vpn-{given.vpn.sku}", types=types)


def _disks(settings: Settings) -> Iterator[ServiceCost]:
    for name, pool in node_pools(settings).items():
        if not has_managed_disk(pool):
            continue
        gib = pool.os_disk.size_gb or MANAGED_DISK_GIB
        # Disks are billed by class, a power of two: a size between two classes costs what the larger one does.
        billed = 1 << (gib - 1).bit_length()
        listed = f"premium-disk-{billed}"
        price, per_node = (listed, 1) if listed in service_prices() else ("premium-disk", billed)
        count = nodes(pool.scale)
        what = f"OS disks of {name}: managed, {gib} GiB for each node"
        yield _cost(what, price, per_node, count, types=("azure-native:containerservice:AgentPool",))


def has_managed_disk(pool: NodePool) -> bool:
    """True if each node has an OS disk that is billed separately; an ephemeral disk is part of the VM."""
    return pool.os_disk.type == "Managed"


def _logs(settings: Settings) -> ServiceCost:
    cap = settings.monitoring.daily_quota_gb
    most = UNCAPPED_GB_A_DAY if cap == -1 else cap
    limit = f"no daily cap; up to {most} GB a day assumed" if cap == -1 else f"at most {cap:g} GB a day"
    price = service_prices()["log-data"]
    high = price.high * most * DAYS_A_MONTH
    types = ("azure-native:operationalinsights:Workspace",)
    return ServiceCost(f"Log Analytics: {limit}", Span(0, 0, 0), Span(high, high, high), price, types)


def _data(settings: Settings) -> Iterator[ServiceCost]:
    if (given := settings.data_services) is None:
        return
    if given.is_in_cluster:
        if (own := in_cluster.in_cluster(settings)) is not None:
            volumes = in_cluster.volumes(own)
            gib = sum(each.storage_gb for each in volumes)
            types = ("kubernetes:core/v1:PersistentVolumeClaim",)
            what = f"disks of data services in the cluster: {len(volumes)}, of {gib} GiB together"
            yield _cost(what, "volume", gib, types=types)
        return
    plan = data_facts(settings, given)
    servers = 1 if plan.high_availability == "none" else 2
    standby = "" if servers == 1 else ", with a standby"
    size, gib, types = plan.postgres_size, given.postgres.storage_gb, ("azure-native:dbforpostgresql:Server",)
    letter = size.removeprefix("Standard_")[0]
    what = f"PostgreSQL {size}{standby}"
    yield _cost(what, f"postgres-{letter}", servers * _number(size.removeprefix("Standard_")), types=types)
    yield _cost(f"PostgreSQL storage, {gib} GiB{standby}", "postgres-storage", servers * gib, types=types)
    kind, _, memory = given.redis.size.partition("_")
    replica, copies = (", with a replica", 2) if plan.redis_high_availability else ("", 1)
    redis = ("azure-native:redisenterprise:RedisEnterprise",)
    yield _cost(
        f"Managed Redis {given.redis.size}{replica}", f"redis-{kind}", copies * max(_number(memory), 1), types=redis
    )
    low, high = STORED_GB
    price = service_prices()[f"storage-{plan.redundancy}"]
    stored = ("azure-native:storage:StorageAccount",)
    what = f"storage, {plan.redundancy}: {low} to {high} GB assumed"
    yield ServiceCost(what, _span(price.low * low), _span(price.high * high), price, stored)
    registry = ("azure-native:containerregistry:Registry",)
    yield _cost(f"registry, {plan.registry_sku}", f"registry-{plan.registry_sku}", types=registry)


def _number(size: str) -> int:
    """First number in a size's name: 2 for D2ds_v5, 5 for B5. 1 if the name has no number."""
    digits = "".join(each if each.isdigit() else " " for each in size).split()
    return int(digits[0]) if digits else 1


def _cost(
    what: str, name: str, amount: float = 1, count: Span | None = None, *, types: tuple[str, ...] = ()
) -> ServiceCost:
    price = service_prices()[name]
    hours = HOURS_A_MONTH if price.unit == "hour" else 1
    of = count or _span(1)
    return ServiceCost(what, of.times(price.low * amount * hours), of.times(price.high * amount * hours), price, types)


def _span(value: float) -> Span:
    return Span(value, value, value)
