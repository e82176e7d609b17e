"""Objects that give Pods an additional interface: addresses by nv-ipam, and networks by the Network Operator."""

from __future__ import annotations

import json
from typing import Any

from parts.network_operator.model import NetworkOperator
from parts.network_operator.network_model import PodNetwork
from physical_ai.settings.facts.pools import pool_selector
from physical_ai.settings.models.tree import Settings


def address_pools(settings: Settings, operator: NetworkOperator) -> dict[str, dict[str, Any]]:
    """Specs of IPPools, by name. Only nodes of the named pools get a block of the subnet."""
    return {name: _addresses(settings, network) for name, network in operator.networks.items()}


def macvlan_networks(operator: NetworkOperator) -> dict[str, dict[str, Any]]:
    """Specs of MacvlanNetworks, by name; the operator makes a NetworkAttachmentDefinition from each."""
    return {name: _network(name, network) for name, network in operator.networks.items()}


def pools_of(settings: Settings, network: PodNetwork) -> list[str]:
    """Names of the GPU pools whose nodes have the network's interface; pools that the stack does not have are left
    out.
    """
    return [name for name in network.pools or settings.pools if name in settings.pools]


def _addresses(settings: Settings, network: PodNetwork) -> dict[str, Any]:
    terms = [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]} for key, value in selector.items()]}
        for selector in (pool_selector(name, settings.pools[name]) for name in pools_of(settings, network))
    ]
    return {
        "subnet": str(network.subnet),
        "perNodeBlockSize": network.addresses_per_node,
        **({"gateway": str(network.gateway)} if network.gateway is not None else {}),
        # Without a selector every node of the cluster would take a block, the system pool's nodes as well.
        "nodeSelector": {"nodeSelectorTerms": terms},
    }


def _network(name: str, network: PodNetwork) -> dict[str, Any]:
    # Without spaces: the operator removes all of them before it writes the text into the CNI's configuration.
    ipam = json.dumps({"type": "nv-ipam", "poolName": name}, separators=(",", ":"))
    return {
        "networkNamespace": network.namespace,
        "master": network.interface,
        "mode": network.mode,
        **({"mtu": network.mtu} if network.mtu is not None else {}),
        "ipam": ipam,
    }
