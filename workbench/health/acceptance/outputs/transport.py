"""Reader of the lines in which NCCL reports its network with NCCL_DEBUG=INFO (NVIDIA/nccl src/transport/net_ib,
net.cc).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_NETWORK = re.compile(r"NCCL INFO (?:Using network (\S.*?)|Assigned NET plugin (\S.*?) to comm)[ \t\r]*$", re.MULTILINE)
"""Line with the network that NCCL uses. The name of a network plugin may have blanks, such as `AWS Libfabric`."""
_ADAPTERS = re.compile(
    r"^(?:\[[^\]\n]*\](?:<\w+>)?:?[ \t]*)?(\S+?):\d+:\d+ \[\d+\] NCCL INFO NET/IB : Using (.*)$", re.MULTILINE
)
"""Line with a host's adapters. Before the host, mpirun or NCCL may print a text in brackets, such as a timestamp."""
_ADAPTER = re.compile(r"\[\d+\] ?([^\s:{}\[\],]+):\d+(?::\d*)*/IB\b")
"""One adapter in a line that `_ADAPTERS` finds, such as `[0]mlx5_0:1/IB`. NCCL 2.20 lists ports that it uses as a
single adapter in braces: `[0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB}`. Later versions add the rail and the plane after the
port.
"""
_CHANNEL = re.compile(r"\bvia NET/[^/\n]+/\d+(?:\(\d+\))?(/GDRDMA)?")
_LOCKED = re.compile(r"ibv_\w+ failed with error Cannot allocate memory")
SOCKET = "Socket"
"""NCCL's name for TCP as a network."""


@dataclass(frozen=True)
class Transport:
    """Network and adapters that the ranks of a run have reported."""

    networks: frozenset[str] = frozenset()
    """Networks that the ranks use: `IB`, `Socket`, or the name of a plugin."""
    adapters: Mapping[str, int] = field(default_factory=dict[str, int])
    """Number of InfiniBand adapters by host, as NCCL's built-in transport reports them. A network plugin
    reports none.
    """
    direct: bool | None = None
    """True if adapters access the GPUs' memory directly on all channels between hosts, False if on some or none; None
    if no channel was reported.
    """
    locked: bool = False
    """True if an adapter could not lock memory, because the container's limit is too low."""


def read_transport(text: str) -> Transport:
    """Network and adapters from the log of a run; empty if NCCL_DEBUG was not INFO."""
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
