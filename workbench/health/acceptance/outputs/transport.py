"""Reader of the lines in which NCCL reports its network with NCCL_DEBUG=INFO (NVIDIA/nccl src/transport/net_ib,
net.cc).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NETWORK = re.compile(r"NCCL INFO (?:Using network (\S.*?)|Assigned NET plugin (\S.*?) to comm)[ \t\r]*$", re.MULTILINE)
"""A plugin's name may have blanks: `AWS Libfabric`."""
_ADAPTERS = re.compile(
    r"^(?:\[[^\]\n]*\](?:<\w+>)?:?[ \t]*)?(\S+?):\d+:\d+ \[\d+\] NCCL INFO NET/IB : Using (.*)$", re.MULTILINE
)
"""mpirun and NCCL's own timestamps put something in brackets before the host."""
_ADAPTER = re.compile(r"\[\d+\] ?([^\s:{}\[\],]+):\d+(?::\d*)*/IB\b")
"""`[0]mlx5_0:1/IB`; of several ports that are used as one `[0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}` (NCCL 2.20), and
with rail and plane behind the port in later ones."""
_CHANNEL = re.compile(r"\bvia NET/[^/\n]+/\d+(?:\(\d+\))?(/GDRDMA)?")
_LOCKED = re.compile(r"ibv_\w+ failed with error Cannot allocate memory")
SOCKET = "Socket"
"""NCCL's name of TCP."""


@dataclass(frozen=True)
class Transport:
    """Network and adapters that the ranks of a run have reported."""

    networks: frozenset[str] = frozenset()
    """`IB`, `Socket`, or the name of a plugin."""
    adapters: Mapping[str, int] = field(default_factory=dict[str, int])
    """InfiniBand adapters by host, as NCCL's own transport found them; a plugin does not list them."""
    direct: bool | None = None
    """True where adapters reach the GPUs' memory on all channels between hosts; None where no channel was reported."""
    locked: bool = False
    """True where an adapter was refused memory, since the container may not lock so much."""


def read_transport(text: str) -> Transport:
    """Network and adapters reported in the text; empty if NCCL_DEBUG was not INFO."""
    found: dict[str, set[str]] = {}
    for host, adapters in _ADAPTERS.findall(text):
        found.setdefault(host, set()).update(_ADAPTER.findall(adapters))
    channels = _CHANNEL.findall(text)
    return Transport(
        networks=frozenset(first or second for first, second in _NETWORK.findall(text)),
        adapters={host: len(each) for host, each in found.items() if each},
        direct=all(channels) if channels else None,
        locked=_LOCKED.search(text) is not None,
    )
