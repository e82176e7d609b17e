"""Rules about address ranges: private, inside the virtual network, without overlaps, and large enough."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network

from physical_ai.settings.facts.addresses import PRIVATE, SHARED
from physical_ai.settings.facts.pools import pool_paths, surge_nodes
from physical_ai.settings.facts.private_network import service_subnets
from physical_ai.settings.layers.paths import Path, show
from physical_ai.settings.models.node_pools import NodePool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import SettingFinding, Trust, error

Ranges = dict[Path, IPv4Network]

RESERVED = tuple(IPv4Network(text) for text in ("169.254.0.0/16", "172.30.0.0/16", "172.31.0.0/16", "192.0.2.0/24"))
"""Ranges that AKS reserves (AKS docs, azure-cni-overlay)."""
AZURE_ADDRESSES = 5
"""Number of addresses that Azure reserves in every subnet: the first four and the last."""
SMALLEST_SUBNET = 29
POD_BLOCK = 24
"""Prefix length of the block of the Pod range that each node gets with overlay networking."""

_NETWORK: Path = ("network",)
_SPACE: Path = ("network", "addressSpace")
_SYSTEM: Path = ("network", "systemSubnet")
_PODS: Path = ("network", "podCidr")
_SERVICES: Path = ("network", "serviceCidr")
_DNS: Path = ("network", "dnsServiceIp")


def check_network(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about address ranges."""
    network = settings.network
    subnets: Ranges = {_SYSTEM: network.system_subnet}
    subnets |= {("pools", name, "subnet"): pool.subnet for name, pool in settings.pools.items()}
    subnets |= {subnet.path: subnet.cidr for subnet in service_subnets(settings)}
    subnets = {path: subnet for path, subnet in subnets.items() if trust(path)}
    wide: Ranges = {_SPACE: network.address_space, _PODS: network.pod_cidr, _SERVICES: network.service_cidr}
    wide = {path: block for path, block in wide.items() if trust(path)}
    for path, block in {**wide, **subnets}.items():
        yield from _private(path, block)
    if _SPACE in wide:
        yield from _inside(subnets, network.address_space)
    yield from _subnets_apart(subnets, network.address_space if _SPACE in wide else None)
    yield from _wide_apart(wide)
    if _SERVICES in wide:
        yield from _services(network.service_cidr, network.dns_service_ip if trust(_DNS) else None)
    yield from _subnet_sizes(settings, subnets, trust)
    if _PODS in wide:
        yield from _pod_range(settings, trust)


def _private(path: Path, block: IPv4Network) -> Iterator[SettingFinding]:
    allowed = (*PRIVATE, SHARED) if path == _PODS else PRIVATE
    if not any(block.subnet_of(private) for private in allowed):
        # A reserved range outside RFC 1918 is reported only once, as not private.
        yield error(path, f"{block} is not private.", f"Choose a range in {', '.join(map(str, allowed))}.")
        return
    if path == _SPACE:
        return
    for reserved in RESERVED:
        if block.overlaps(reserved):
            yield error(path, f"{block} overlaps {reserved}, which AKS reserves.", "Choose another range.")


def _inside(subnets: Ranges, space: IPv4Network) -> Iterator[SettingFinding]:
    for path, subnet in subnets.items():
        if subnet.prefixlen > SMALLEST_SUBNET:
            yield error(path, f"{subnet} is too small: Azure's smallest subnet is a /29.", "Use a /29 or larger.")
        elif not subnet.subnet_of(space):
            fix = _suggest(subnet.prefixlen, [space], [other for where, other in subnets.items() if where != path])
            problem = f"{show(path)} {subnet} is outside network.addressSpace {space}."
            yield error(path, problem, fix, others=(_SPACE,))


def _wide_apart(wide: Ranges) -> Iterator[SettingFinding]:
    places = list(wide.items())
    for index, (second, two) in enumerate(places):
        for first, one in places[:index]:
            if two.overlaps(one):
                smaller = max(one.prefixlen, two.prefixlen)
                problem = f"{show(second)} {two} and {show(first)} {one} overlap."
                fix = _suggest(smaller, PRIVATE, [*wide.values(), *RESERVED])
                yield error(second, problem, fix, others=(first,))


def _subnets_apart(blocks: Ranges, space: IPv4Network | None) -> Iterator[SettingFinding]:
    """Errors of overlapping subnets, each reported at the second of the two subnets.

    If the virtual network's address space is known, the error suggests a free block.
    """
    order = {path: index for index, path in enumerate(blocks)}
    widest: tuple[Path, IPv4Network] | None = None
    for path, block in sorted(blocks.items(), key=lambda item: (item[1].network_address, item[1].prefixlen)):
        if widest is not None and widest[1].overlaps(block):
            (first, one), (second, two) = sorted([widest, (path, block)], key=lambda item: order[item[0]])
            taken = [other for where, other in blocks.items() if where != second]
            fix = _suggest(two.prefixlen, [space], taken) if space else "Choose ranges that share no address."
            yield error(second, f"{show(second)} {two} and {show(first)} {one} overlap.", fix, others=(first,))
        if widest is None or block.broadcast_address > widest[1].broadcast_address:
            widest = (path, block)


def _services(services: IPv4Network, dns: IPv4Address | None) -> Iterator[SettingFinding]:
    if services.prefixlen < 12:
        yield error(_SERVICES, f"{services} is too large: AKS accepts at most a /12.", "A /16 has 65,000 Services.")
    if services.prefixlen > 28:
        yield error(_SERVICES, f"{services} is too small for a cluster's Services.", "A /16 has 65,000 Services.")
        return
    if dns is None:
        return
    fix = f"The usual choice is {services.network_address + 10}."
    if dns not in services:
        problem = f"network.dnsServiceIp {dns} is outside network.serviceCidr {services}."
        yield error(_DNS, problem, fix, others=(_SERVICES,))
    elif dns in (services.network_address, services.network_address + 1):
        yield error(_DNS, f"{dns} is in use: the first address of serviceCidr is the API server's Service.", fix)
    elif dns == services.broadcast_address:
        yield error(_DNS, f"{dns} is the last address of serviceCidr, which can't be used.", fix)


def _subnet_sizes(settings: Settings, subnets: Ranges, trust: Trust) -> Iterator[SettingFinding]:
    needs: list[tuple[Path, str, list[NodePool], list[Path]]] = []
    shared = {path: pool for path, pool in pool_paths(settings).items() if path[0] != "pools"}
    whose = "system and cpu pools" if settings.runners is None else "system, cpu and runners' pools"
    needs.append((_SYSTEM, whose, list(shared.values()), list(shared)))
    for name, pool in settings.pools.items():
        needs.append((("pools", name, "subnet"), f"pool {name}", [pool], [("pools", name)]))
    for path, whose, pools, reads in needs:
        if path not in subnets or not trust(*_scales(reads)):
            continue
        nodes = sum(pool.scale.most + surge_nodes(pool) for pool in pools)
        needed = nodes + AZURE_ADDRESSES
        if subnets[path].num_addresses < needed and subnets[path].prefixlen <= SMALLEST_SUBNET:
            prefix = 32 - (needed - 1).bit_length()
            problem = (
                f"Subnet {subnets[path]} has {subnets[path].num_addresses} addresses; {whose} can have {nodes} nodes "
                f"with surge, and with Azure's own {AZURE_ADDRESSES} that takes {needed}."
            )
            yield error(path, problem, f"Use a /{prefix} or larger.", others=tuple((*p, "scale") for p in reads))


def _pod_range(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    every = pool_paths(settings)
    places: list[Path] = list(every)
    if not trust(*_scales(places)):
        return
    nodes = sum(pool.scale.most + surge_nodes(pool) for pool in every.values())
    pods = settings.network.pod_cidr
    blocks = 2 ** max(0, POD_BLOCK - pods.prefixlen) if pods.prefixlen <= POD_BLOCK else 0
    if nodes > blocks:
        prefix = max(0, POD_BLOCK - (nodes - 1).bit_length())
        problem = f"network.podCidr {pods} has {blocks} blocks of /{POD_BLOCK}, one for each node; "
        problem += f"all pools together can have {nodes} nodes with surge."
        fix = f"Use a /{prefix} or larger, or lower scale.max."
        yield error(_PODS, problem, fix, others=tuple((*place, "scale") for place in places))


def _scales(pools: list[Path]) -> list[Path]:
    return [(*pool, key) for pool in pools for key in ("scale", "upgrade", "priority")]


def _suggest(prefix: int, spaces: Sequence[IPv4Network], taken: Sequence[IPv4Network]) -> str:
    """Text with the first free block of this prefix length in the address spaces."""
    free = next((block for space in spaces if (block := free_block(prefix, space, taken))), None)
    if free:
        return f"{free} is free."
    return f"No /{prefix} is free in {', '.join(map(str, spaces))}."


def free_block(prefix: int, space: IPv4Network, taken: Sequence[IPv4Network]) -> IPv4Network | None:
    """First free block of this prefix length in the address space; None if no such block is free.

    The search jumps over taken blocks, because trying each /32 of a /8 would take 16 million steps.
    """
    step = 2 ** (32 - prefix)
    start, end = int(space.network_address), int(space.broadcast_address)
    while start + step - 1 <= end:
        block = IPv4Network((start, prefix))
        in_the_way = [other for other in taken if other.overlaps(block)]
        if not in_the_way:
            return block
        past = max(int(other.broadcast_address) for other in in_the_way) + 1
        start = max(start + step, -(-past // step) * step)
    return None
