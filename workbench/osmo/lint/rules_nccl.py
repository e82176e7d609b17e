"""Rules on NCCL variables. The catalogue has the facts about each variable."""

from __future__ import annotations

from physical_ai.catalog.nccl import NCCL_SOURCE
from workbench.osmo.lint.registry import rule

GUIDE = f"NVIDIA NCCL user guide, environment variables; {NCCL_SOURCE}"
NCCL_AUTOMATIC = rule(
    "nccl-automatic",
    "warning",
    "A GPU task leaves to NCCL what NCCL selects itself: NCCL_IB_GID_INDEX, NCCL_CROSS_NIC.",
    reason="A fixed value is right on the node where it was found, and a hang or a slow path on the next one.",
    fix="Remove the variable.",
    source=GUIDE,
)
NCCL_DEBUGGING = rule(
    "nccl-debugging",
    "warning",
    "A GPU task keeps no debugging variable of NCCL: NCCL_DEBUG=INFO, NCCL_P2P_DISABLE, NCCL_ALGO and others.",
    reason="NVIDIA advises against them outside of a search for an error: slow collectives, crashes, hangs.",
    fix="Remove the variable, or NCCL_DEBUG: WARN; see docs/nccl.md for how to debug a hang.",
    source=GUIDE,
)
NCCL_FABRIC = rule(
    "nccl-fabric",
    "warning",
    "Variables of InfiniBand (NCCL_IB_*, NCCL_TOPO_FILE, SHARP) are for platforms whose nodes have it.",
    reason="NC and RTX PRO sizes have none: the variable has no effect, or NCCL follows another machine's topology.",
    fix="Remove the variable; docs/nccl.md has the environment of each kind of pool.",
    source=GUIDE,
)
NCCL_INTERFACE = rule(
    "nccl-interface",
    "warning",
    "NCCL_SOCKET_IFNAME names an interface that a Pod has: eth0.",
    reason="NCCL finds no interface of another name, and the first collective fails.",
    fix="NCCL_SOCKET_IFNAME: eth0",
    source=GUIDE,
)
