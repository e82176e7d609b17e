"""Azure's choice of a route by brute force, for comparison with the program's choice.

Written from the documentation alone (Azure docs, virtual-networks-udr-overview, "How Azure selects a route") and
without a line of the program's code: addresses and prefixes are texts of bits here, and the table is read once for each
length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

PREFERENCE = ("user", "gateway", "azure")


class Row(NamedTuple):
    """A row of a subnet's route table, as the portal shows it."""

    prefix: str
    source: str
    hop: str


def bits(address: str) -> str:
    return "".join(f"{int(part):08b}" for part in address.split("."))


def next_hop(rows: Sequence[Row], address: str) -> Row | None:
    """The row that an address follows; None if it is in no row."""
    wanted = bits(address)
    stays = [row for row in rows if row.source == "azure" and row.hop in ("VnetLocal", "VNetPeering")]
    near = False
    for row in stays:
        network, length = row.prefix.split("/")
        near = near or bits(network)[: int(length)] == wanted[: int(length)]
    for length in range(32, -1, -1):
        for source in PREFERENCE:
            if near and source == "gateway":
                continue
            for row in rows:
                network, own = row.prefix.split("/")
                if row.source == source and int(own) == length and bits(network)[:length] == wanted[:length]:
                    return row
    return None
