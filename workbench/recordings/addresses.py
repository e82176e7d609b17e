"""Consistent replacement of the IPv4 addresses in a recording: addresses of one network get replacements in one
network. Pure functions.

The last eight bits of a private address stay the same. An earlier bit stays the same only if two addresses of the
recording differ in this bit; otherwise it becomes zero. Different addresses get different replacements, and a second
replacement changes nothing. So the earlier bits say which addresses share a network, but no more: in a recording of
fewer addresses, the same address may have others.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

V4 = re.compile(r"(?<![\w.-])(\d{1,3}(?:\.\d{1,3}){3})(?:/(\d{1,2}))?(?![\w-]|\.\d)")
_RANGE = re.compile(r"(?<![\w.-])\d{1,3}(?:\.\d{1,3}){3}-\d{1,3}(?:\.\d{1,3}){3}(?![\w/-]|\.\d)")
"""First and last address of a range, such as `10.1.2.3-10.1.2.9` in a pool of MetalLB. `V4` matches neither of them,
because a dash may also belong to a version.
"""
_IN_NAME = re.compile(r"(?<=[A-Za-z]-)(\d{1,3}([.-])\d{1,3}(?:\2\d{1,3}){2})(?![\w-]|\.\d)")
"""An IPv4 address in a name, such as `ip-10-1-2-3`. Version numbers match the pattern, too, so a match is replaced only
if the recording also contains it as an address.
"""
KEPT = frozenset({"0.0.0.0", "255.255.255.255", "168.63.129.16", "169.254.169.254"})  # noqa: S104 - no bind
"""Addresses with the same meaning in every network, which are not replaced: Azure's own ones, and wildcards."""
PRIVATE = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")))
_ALIKE = tuple(map(ipaddress.IPv4Network, ("127.0.0.0/8", "169.254.0.0/16", "192.0.2.0/24", "198.51.100.0/24",
                                           "203.0.113.0/24", "224.0.0.0/4")))  # fmt: skip
HOST_BITS = 24
"""Number of leading bits of a private address that the replacement may change; the last 8 bits stay the same."""
PUBLIC = ipaddress.IPv4Network("198.18.0.0/15")
"""Network for benchmarks that no real host uses (RFC 2544). Replacements of public addresses are taken from it, and an
address that is already in it is kept.
"""
WIDEST_PUBLIC = 12
"""Largest prefix length, in bits, with which a public network is not replaced. So large a network identifies nobody."""


class Addresses:
    """IPv4 addresses and networks of a recording, each with its replacement."""

    def __init__(self, found: Iterable[tuple[str, int]]) -> None:
        """Chooses the replacements. `found` has each address of the recording with its prefix length, which is 32 for a
        single address.
        """
        nodes = sorted({(int(ipaddress.IPv4Address(text)), bits) for text, bits in found})
        self._of: dict[tuple[int, int], int] = {}
        for network in PRIVATE:
            inside = [each for each in nodes if ipaddress.IPv4Address(each[0]) in network]
            self._of |= _packed(inside, int(network.network_address), network.prefixlen)
        public = [each for each in nodes if each not in self._of and _is_hidden(*each)]
        taken = {address for address, _ in nodes if ipaddress.IPv4Address(address) in PUBLIC}
        following = int(PUBLIC.network_address)
        for address, bits in public:
            size = 1 << (32 - bits)
            following = -(-(following + 1) // size) * size
            while any(each in range(following, following + size) for each in taken) and size == 1:
                following += size
            self._of[address, bits] = following
            following += size - 1

    @property
    def replaced(self) -> int:
        """Number of addresses and networks that get a replacement other than themselves."""
        return sum(1 for (address, _), given in self._of.items() if address != given)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Addresses:
        """The addresses in these texts, each with the replacement that it has where no other address is known."""
        return cls(each for text in texts for each in addresses_in(text))

    def text(self, text: str) -> str:
        """The text with each address replaced."""
        return _IN_NAME.sub(self._in_name, replaced_in(text, self._shown))

    def _in_name(self, found: re.Match[str]) -> str:
        try:
            given = self._of.get((int(ipaddress.IPv4Address(found[1].replace("-", "."))), 32))
        except ValueError:
            return found[0]
        return found[0] if given is None else str(ipaddress.IPv4Address(given)).replace(".", found[2])

    def _shown(self, found: re.Match[str]) -> str:
        key = parsed(found)
        if key is None:
            return found[0]
        address, bits = int(ipaddress.IPv4Address(key[0])), key[1]
        given = self._of.get((address, bits))
        if given is None:
            return found[0]
        return f"{ipaddress.IPv4Address(given)}{f'/{found[2]}' if found[2] else ''}"


def addresses_in(text: str) -> Iterator[tuple[str, int]]:
    """Addresses and networks in a text, each with its prefix length, also the first and last address of a range.

    >>> list(addresses_in("10.1.2.0/24, 10.1.2.3-10.1.2.9"))
    [('10.1.2.0', 24), ('10.1.2.3', 32), ('10.1.2.9', 32)]
    """
    ends = (each for found in _RANGE.findall(text) for each in found.split("-"))
    for part in (text, *ends):
        yield from (key for found in V4.finditer(part) if (key := parsed(found)) is not None)


def replaced_in(text: str, given: Callable[[re.Match[str]], str]) -> str:
    """The text with what `given` returns for the match of each address, also for the ends of a range."""
    text = _RANGE.sub(lambda found: "-".join(V4.sub(given, each) for each in found[0].split("-")), text)
    return V4.sub(given, text)


def parsed(found: re.Match[str]) -> tuple[str, int] | None:
    """Address and prefix length in a match of `V4`; None if one of the numbers is too large for an address."""
    bits = int(found[2]) if found[2] else 32
    if bits > 32 or any(int(each) > 255 for each in found[1].split(".")):
        return None
    text = ".".join(str(int(each)) for each in found[1].split("."))
    return text, bits


def _is_hidden(address: int, bits: int) -> bool:
    known = ipaddress.IPv4Address(address)
    if str(known) in KEPT or known in PUBLIC or address >> 24 == 0:
        return False
    return bits > WIDEST_PUBLIC and not any(known in each for each in (*_ALIKE, *PRIVATE))


def _packed(nodes: list[tuple[int, int]], base: int, depth: int) -> Mapping[tuple[int, int], int]:
    """Replacements for the addresses in one private network, by address and prefix length. `base`: the network's
    address; `depth`: its prefix length.

    A bit between `depth` and `HOST_BITS` becomes zero, unless two of the addresses that agree in the bits before it
    differ in this bit.
    """
    found: dict[tuple[int, int], int] = {}
    stack = [(nodes, base, depth)]
    while stack:
        group, prefix, bit = stack.pop()
        longer = [each for each in group if each[1] > bit]
        found |= {each: prefix for each in group if each[1] <= bit}
        if not longer or bit == 32:
            continue
        mask = 1 << (31 - bit)
        if bit >= HOST_BITS:
            stack += [
                ([each for each in longer if (each[0] & mask) == half], prefix | half, bit + 1) for half in (0, mask)
            ]
            continue
        low, high = [each for each in longer if not each[0] & mask], [each for each in longer if each[0] & mask]
        if low and high:
            stack += [(low, prefix, bit + 1), (high, prefix | mask, bit + 1)]
        else:
            stack.append((low or high, prefix, bit + 1))
    return found
