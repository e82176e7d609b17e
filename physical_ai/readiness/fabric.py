"""InfiniBand adapters that a node offers, and the cause where some are missing. Pure functions of the Node object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parts.network_operator.names import DRIVER_WAIT_LABEL, NIC_LABEL
from physical_ai.kubernetes.objects import at, labels
from physical_ai.readiness.model import Expected, Json
from physical_ai.readiness.objects import allocatable


def adapters(expected: Expected, node: Json) -> dict[str, int]:
    """Number of adapters that the node offers for each RDMA resource in `expected.fabric`; 0 for a resource that it
    lacks.
    """
    given: Mapping[str, Any] = at(node, "status.allocatable", {})
    return {resource: int(given.get(resource, 0)) for resource in expected.fabric}


def lacks_fabric(expected: Expected, node: Json) -> bool:
    return adapters(expected, node) != dict(expected.fabric)


def fabric_cause(expected: Expected, node: Json) -> tuple[str, dict[str, str]] | None:
    """Id of the cause why a node lacks InfiniBand adapters, and the facts that the cause's text mentions; None where
    the node has all adapters.

    Also None where the node lacks GPUs: missing GPUs are diagnosed first, because the GPU driver waits for the driver
    of the adapters.
    """
    given, gpus = labels(node), allocatable(node)
    if any(gpus.get(resource, 0) != count for resource, count in expected.resources.items()):
        return None
    if not lacks_fabric(expected, node):
        return None
    if given.get(NIC_LABEL) != "true":
        return "nic-unlabeled", {}
    waits = given.get(DRIVER_WAIT_LABEL)
    if waits != "false":
        return "nic-driver", {"value": f"the label is {waits}" if waits else "the label is missing"}
    return "adapters-missing", {"offered": listed(adapters(expected, node)), "wanted": listed(expected.fabric)}


def listed(counts: Mapping[str, int]) -> str:
    """Resources with their counts, as text for a sentence."""
    return ", ".join(f"{count} × {resource}" for resource, count in sorted(counts.items()))
