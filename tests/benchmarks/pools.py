"""A stack with any number of GPU pools, for the benchmarks that ask how the platform grows."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any

H100 = {"sku": "Standard_NC40ads_H100_v5", "driver": {"source": "operator"}}
RTX = {"sku": "Standard_NC144ds_xl_RTXPRO6000BSE_v6", "driver": {"source": "grid"}}
ADDRESSES = "10.40.0.0/16"
SUBNET_PREFIX = 28


def with_pools(count: int) -> dict[str, Any]:
    """Settings to lay over a dev stack: its own two pools replaced by `count`, half of each GPU, a node in each."""
    subnets = IPv4Network(ADDRESSES).subnets(new_prefix=SUBNET_PREFIX)
    apart = (subnet for subnet in subnets if not subnet.overlaps(IPv4Network("10.40.0.0/24")))
    pools: dict[str, Any] = {"h100gpu": None, "rtxprogpu": None}
    for number in range(count):
        pools[f"gpu{number}"] = {
            **(RTX if number % 2 else H100),
            "priority": "Spot",
            "scale": {"min": 0, "max": 2, "initial": 1},
            "subnet": str(next(apart)),
        }
    return {"network": {"addressSpace": ADDRESSES, "systemSubnet": "10.40.0.0/24"}, "pools": pools}
