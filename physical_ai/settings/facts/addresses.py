"""Private address ranges, and how much of the internet a list of networks lets in."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, collapse_addresses, ip_network

from physical_ai.catalog.azure_addresses import AZURE_DNS, INSTANCE_METADATA

PRIVATE = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
SHARED = IPv4Network("100.64.0.0/10")
"""Shared address space of RFC 6598, which AKS docs also recommend for overlay Pods."""
ANY_ADDRESS = "0.0.0.0/0"
METADATA_ADDRESSES = (f"{INSTANCE_METADATA}/32", f"{AZURE_DNS}/32")
"""Addresses at which every process on an Azure machine can get tokens of the machine's identity, and the machine's
configuration.
"""

MOST_REACHING = {4: 2**24, 6: 2**96}
"""Largest number of addresses, by IP version, that one organization's networks can have: a /8 for IPv4 (a registry's
largest block), a /32 for IPv6 (a provider's usual block). A list of networks with more addresses is open to the
internet.
"""

WIDEST_PREFIX = 24
"""Prefix length of the largest network that is likely to belong to an office, a VPN or a runner, and not to a
provider.
"""

Network = IPv4Network | IPv6Network


def opens_to_the_internet(texts: Iterable[str]) -> bool:
    """True where the CIDRs together allow so many addresses that they restrict nothing.

    Texts that are no CIDRs are ignored.
    """
    networks = [network for text in texts if (network := _network(text)) is not None]
    four = collapse_addresses(each for each in networks if isinstance(each, IPv4Network))
    six = collapse_addresses(each for each in networks if isinstance(each, IPv6Network))
    return _count(four) > MOST_REACHING[4] or _count(six) > MOST_REACHING[6]


def wide_networks(texts: Iterable[str]) -> list[IPv4Network]:
    """IPv4 networks of more than 256 addresses that the CIDRs form together; two neighbouring /24 form a /23.

    >>> wide_networks(["20.1.2.0/24", "20.1.3.0/25", "20.1.3.128/25", "20.9.0.0/28"])
    [IPv4Network('20.1.2.0/23')]
    """
    networks = [network for text in texts if isinstance(network := _network(text), IPv4Network)]
    return [each for each in collapse_addresses(networks) if each.prefixlen < WIDEST_PREFIX]


def _count(networks: Iterable[Network]) -> int:
    return sum(each.num_addresses for each in networks)


def _network(text: str) -> Network | None:
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        return None
