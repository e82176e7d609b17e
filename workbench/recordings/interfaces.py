"""Consistent replacement of the IPv6 and MAC addresses in a recording. Pure functions."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

V6 = re.compile(r"(?<![\w:.])[0-9a-fA-F:]{2,45}(?![\w:]|\.\d)")
MAC = re.compile(r"(?<![\w:-])[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}(?![\w:-])")
DOCUMENTED = ipaddress.IPv6Network("2001:db8::/32")
"""Network for documentation that no real host uses (RFC 3849). Replacements are taken from it, and an address that is
already in it is kept.
"""
OWN_MAC = "02:00:00"
"""First three bytes of each replacement of a MAC address. They mark the replacement as a locally administered
address.
"""


class Interfaces:
    """IPv6 addresses and MAC addresses of a recording, each with its replacement."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._addresses: dict[int, str] = {}
        self._macs: dict[str, str] = {}
        addresses: dict[int, None] = {}
        macs: dict[str, None] = {}
        for text in texts:
            addresses |= dict.fromkeys(each for found in V6.finditer(text) if (each := _parsed(found[0])) is not None)
            macs |= dict.fromkeys(_plain(each[0]) for each in MAC.finditer(text))
        base = int(DOCUMENTED.network_address)
        taken = {each for each in addresses if ipaddress.IPv6Address(each) in DOCUMENTED}
        number = 0
        for each in addresses:
            if each in taken:
                continue
            given = None
            while given is None or given in taken:
                number += 1
                given = base + (number << 80 if each & ((1 << 64) - 1) == 0 and number < 1 << 16 else number)
            self._addresses[each] = str(ipaddress.IPv6Address(given))
        own = _plain(OWN_MAC)
        number = 0
        for each in macs:
            if not each.startswith(own):
                number += 1
                while f"{own}{number:06x}" in macs:
                    number += 1
                self._macs[each] = f"{own}{number:06x}"

    @property
    def replaced(self) -> int:
        """Number of IPv6 and MAC addresses that have got a replacement."""
        return len(self._addresses) + len(self._macs)

    def text(self, text: str) -> str:
        """The text with each address replaced."""
        if text.count(":") < 2 and text.count("-") < 5:
            return text
        return V6.sub(self._shown, MAC.sub(self._mac, text))

    def _mac(self, found: re.Match[str]) -> str:
        given = self._macs.get(_plain(found[0]))
        return found[0] if given is None else found[1].join(given[each : each + 2] for each in range(0, 12, 2))

    def _shown(self, found: re.Match[str]) -> str:
        address = _parsed(found[0])
        return found[0] if address is None else self._addresses.get(address, found[0])


def may_have(text: str) -> bool:
    """True for a text that may contain an IPv6 or MAC address."""
    return (text.count(":") >= 2 and V6.search(text) is not None) or MAC.search(text) is not None


def _plain(mac: str) -> str:
    return mac.replace(":", "").replace("-", "").lower()


def _parsed(text: str) -> int | None:
    """The IPv6 address in a text, as a number; None if the text is no IPv6 address, or is `::` or `::1`."""
    if text.count(":") < 2:
        return None
    try:
        known = ipaddress.IPv6Address(text)
    except ValueError:
        return None
    return None if known.is_unspecified or known.is_loopback else int(known)
