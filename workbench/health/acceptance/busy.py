"""GPUs and network adapters that a node offers to a check, and the Pods and claims that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from parts.dra.names import DRIVER
from parts.network_operator.names import RESOURCE_PREFIX
from parts.slurm.names import NAMESPACE as SLURM
from parts.slurm.names import OUT_LABEL
from physical_ai.catalog.vendors import GPU_DOMAINS
from physical_ai.kubernetes.fit import FINAL, requests
from physical_ai.kubernetes.objects import Json, at, name, namespace
from physical_ai.kubernetes.quantities import quantity
from physical_ai.readiness.client import Send
from physical_ai.readiness.devices import CLAIMS, SLICES, devices, holders, with_devices
from physical_ai.readiness.slurmd import slurm_nodes
from physical_ai.settings.models.node_pools import Pool
from workbench.health.acceptance.record import Verdict


def pods_on(send: Send, node: str) -> list[Json]:
    """The Pods on a node."""
    found: list[Json] = send("GET", "/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"})["items"]
    return found


def slurm_holds(node: str, pods: list[Json]) -> str:
    """Message that Slurm uses the node, with the command that takes the node from Slurm without ending a job. Empty if
    Slurm does not use the node.
    """
    found = slurm_nodes(pods).get(node)
    if found is None:
        return ""
    jobs = "jobs run on it" if found.is_busy else "no job runs on it now"
    label = f"kubectl label node {node} {OUT_LABEL}"
    return (
        f"its GPUs are Slurm's ({SLURM}/{found.pod}; {jobs}): `{label}=accept` drains it in Slurm and "
        f"frees them once its jobs have ended; `{label}-` returns it to Slurm"
    )


def offering(send: Send, node: Json, pool: Pool) -> Json:
    """The node as the API server returns it now. For a pool that uses claims, its claimable devices are added to the
    node's resources.
    """
    fresh: Json = send("GET", f"/api/v1/nodes/{name(node)}", {})
    return dict(with_devices([fresh], send("GET", SLICES, {})["items"])[0]) if pool.uses_claims else fresh


def devices_in_use(send: Send, node: str) -> dict[str, dict[str, int]]:
    """Number of a node's devices that each ResourceClaim holds: driver of the devices → claim (`namespace/name`) →
    number.
    """
    held = holders(send("GET", CLAIMS, {})["items"])
    there = devices(send("GET", SLICES, {})["items"])
    mine = [held[each.pool, each.name] for each in there if each.node == node and (each.pool, each.name) in held]
    return {DRIVER: dict(Counter(mine))}


def gpus_in_use(pods: list[Json]) -> dict[str, dict[str, int]]:
    """Number of GPUs or adapters that each Pod (`namespace/name`) holds, by resource name."""
    found: dict[str, dict[str, int]] = {}
    for pod in pods:
        if at(pod, "status.phase") in FINAL:
            continue
        for resource, count in requests(pod).items():
            if resource.startswith(GPU_DOMAINS) and count:
                found.setdefault(resource, {})[f"{namespace(pod)}/{name(pod)}"] = count
    return found


def offered(node: Json) -> dict[str, int]:
    """Number of GPUs and network adapters that a node offers now, by resource name. If the node comes from `offering`,
    its claimable devices are included under their driver's name.
    """
    given: dict[str, str] = at(node, "status.allocatable", {})
    kinds = ("nvidia.com/", DRIVER, f"{RESOURCE_PREFIX}/")
    return {key: int(quantity(value) or 0) for key, value in given.items() if key.startswith(kinds)}


def blocking_reason(
    send: Send, node: str, wanted: Mapping[str, int], there: Mapping[str, int]
) -> tuple[Verdict, str] | None:
    """Verdict on a check that cannot get its resources, and the reason; None if it can get them. Such a check's Job
    would wait forever.

    Args:
        wanted: Number of resources that the check needs, by resource name.
        there: Number of resources that the node offers, by resource name.
    """
    pods = pods_on(send, node)
    claimed = devices_in_use(send, node) if DRIVER in wanted else {}
    used, slurm = {**gpus_in_use(pods), **claimed}, slurm_holds(node, pods)
    for resource, count in wanted.items():
        given, holders = there.get(resource, 0), used.get(resource, {})
        if given < count:
            return "failed", f"the node offers {given} x {resource}, and the check needs {count}"
        if given - sum(holders.values()) < count:
            names = ", ".join(sorted(holders))
            return "no-verdict", slurm or f"its GPUs are in use by {names}; check it again when it is idle"
    return None
