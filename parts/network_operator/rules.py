"""Rules about networks that give Pods an additional interface."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network

from parts.network_operator.model import NetworkOperator
from parts.network_operator.network_model import PodNetwork
from parts.network_operator.networks import pools_of
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

_OPERATOR: Path = ("networkOperator",)
_NETWORKS: Path = (*_OPERATOR, "networks")
POD_NETWORK = Rule(
    "pod-network", "Mellanox/network-operator api/v1alpha1; Mellanox/nvidia-k8s-ipam api/v1alpha1, Validate"
)
POINT_TO_POINT = 31


def check_pod_networks(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about networks of Pods."""
    operator = settings.network_operator
    yield from _named(settings, operator, trust)
    if operator is None or not operator.networks or not trust(_OPERATOR):
        return
    yield from _parts(operator)
    taken = _taken(settings, trust)
    for name, network in operator.networks.items():
        path: Path = (*_NETWORKS, name)
        yield from _pools(path, network, settings)
        yield from _addresses(path, network, settings, trust)
        for where, block in taken:
            if network.subnet.overlaps(block):
                problem = f"{network.subnet} overlaps {block} ({where}): packets would leave by the wrong interface."
                yield error((*path, "subnet"), problem, "A subnet of its own.", rule=POD_NETWORK)
        taken.append((f"networkOperator.networks.{name}.subnet", network.subnet))
    if settings.azure_network is not None:
        problem = (
            "Azure's virtual networks are no layer 2: they deliver nothing to an address that Azure did not give, so"
            " these interfaces reach Pods of the same node only."
        )
        yield warning(_NETWORKS, problem, "Remove them.", rule=POD_NETWORK, stand_in=True)


def _named(settings: Settings, operator: NetworkOperator | None, trust: Trust) -> Iterator[SettingFinding]:
    """Errors of OSMO platforms that name an unknown network, or a network that their pool does not have. The Pod of a
    task would wait for such a network forever.
    """
    known = operator.networks if operator is not None else {}
    for pool, platform in settings.osmo.platforms.items():
        path: Path = ("osmo", "platforms", pool, "networks")
        if not trust(path, _OPERATOR):
            continue
        for network in platform.networks:
            if network not in known:
                problem = f"There is no network {network}: tasks would wait for it forever."
                fix = f"One of {', '.join(sorted(known))}." if known else "Describe it in networkOperator.networks."
                yield error(path, problem, fix, others=(_NETWORKS,), rule=POD_NETWORK)
            elif pool in settings.pools and pool not in pools_of(settings, known[network]):
                problem = f"Nodes of pool {pool} get no addresses of {network}: its pools are others."
                fix = f"pools: [{', '.join([*known[network].pools, pool])}] for {network}."
                yield error(path, problem, fix, others=((*_NETWORKS, network, "pools"),), rule=POD_NETWORK)


def _parts(operator: NetworkOperator) -> Iterator[SettingFinding]:
    for is_there, key, what in (
        (operator.secondary_network, "secondaryNetwork", "Without Multus no Pod gets a further interface"),
        (operator.nv_ipam, "nvIpam", "Without nv-ipam such interfaces get no addresses"),
    ):
        if not is_there:
            path: Path = (*_OPERATOR, key)
            yield error(path, f"{what}.", f"{key}: true", others=(_NETWORKS,), rule=POD_NETWORK)


def _pools(path: Path, network: PodNetwork, settings: Settings) -> Iterator[SettingFinding]:
    for pool in network.pools:
        if pool not in settings.pools:
            fix = f"One of {', '.join(sorted(settings.pools)) or 'the GPU pools, of which there is none'}."
            yield error((*path, "pools"), f"The stack has no GPU pool {pool}.", fix, rule=POD_NETWORK)


def _addresses(path: Path, network: PodNetwork, settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Errors of a network's addresses. nv-ipam divides the subnet into blocks of one size, between the subnet's own
    address and the broadcast address.
    """
    subnet, gateway = network.subnet, network.gateway
    if subnet.prefixlen >= POINT_TO_POINT:
        problem = f"{subnet} has no addresses for Pods besides the subnet's own two."
        yield error((*path, "subnet"), problem, "A larger subnet.", rule=POD_NETWORK)
        return
    blocks = (subnet.num_addresses - 2) // network.addresses_per_node
    pools = pools_of(settings, network)
    if blocks == 0:
        problem = (
            f"{subnet} has {subnet.num_addresses - 2} addresses, and each node takes {network.addresses_per_node}."
        )
        yield error((*path, "addressesPerNode"), problem, "A larger subnet, or fewer.", rule=POD_NETWORK)
    elif trust(*(("pools", name, "scale") for name in pools)):
        nodes = sum(settings.pools[name].scale.most for name in pools)
        if nodes > blocks:
            problem = (
                f"{', '.join(pools)} can have {nodes} nodes, and {subnet} has {blocks} blocks of"
                f" {network.addresses_per_node} addresses: Pods on the other nodes would not start."
            )
            fix = f"addressesPerNode: {(subnet.num_addresses - 2) // nodes}, or a larger subnet."
            yield error((*path, "addressesPerNode"), problem, fix, rule=POD_NETWORK)
    if gateway is not None and (gateway not in subnet or gateway in (subnet[0], subnet[-1])):
        problem = f"{gateway} is not the address of a device in {subnet}."
        yield error((*path, "gateway"), problem, f"An address of {subnet}, or none.", rule=POD_NETWORK)


def _taken(settings: Settings, trust: Trust) -> list[tuple[str, IPv4Network]]:
    network = settings.azure_network
    if network is None or not trust(("network",)):
        return []
    return [
        ("network.addressSpace", network.address_space),
        ("network.podCidr", network.pod_cidr),
        ("network.serviceCidr", network.service_cidr),
    ]
