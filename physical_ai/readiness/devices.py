"""Devices that Pods get by resource claims: which devices exist, who holds them, and on which nodes. Pure
functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parts.dra.names import DRIVER
from physical_ai.nested import at
from physical_ai.readiness.model import Json

SLICES = "/apis/resource.k8s.io/v1/resourceslices"
CLAIMS = "/apis/resource.k8s.io/v1/resourceclaims"


@dataclass(frozen=True)
class Device:
    """A GPU in a ResourceSlice."""

    pool: str
    name: str
    node: str
    attributes: Mapping[str, Any]
    memory: str

    @property
    def text(self) -> str:
        """Description of the GPU for people: `NVIDIA H100 NVL (Hopper, 95830Mi)`."""
        product, architecture = (
            str(at(self.attributes, f"{key}.string", "?")) for key in ("productName", "architecture")
        )
        return f"{product} ({architecture}, {self.memory or '?'})"


def devices(slices: Iterable[Json]) -> list[Device]:
    """Whole GPUs of NVIDIA's DRA driver, from the newest generation of slices of each pool."""
    ours = [each for each in slices if at(each, "spec.driver") == DRIVER]
    newest: dict[str, int] = {}
    for each in ours:
        pool, generation = str(at(each, "spec.pool.name", "")), int(at(each, "spec.pool.generation", 0))
        newest[pool] = max(newest.get(pool, 0), generation)
    current = (
        each for each in ours if at(each, "spec.pool.generation", 0) == newest[str(at(each, "spec.pool.name", ""))]
    )
    return [device for each in current for device in _of_slice(each)]


def _of_slice(given: Json) -> Iterator[Device]:
    pool, node = str(at(given, "spec.pool.name", "")), str(at(given, "spec.nodeName", ""))
    found: Sequence[Json] = at(given, "spec.devices", [])
    for each in found:
        attributes: Mapping[str, Any] = each.get("attributes") or {}
        if at(attributes, "type.string") == "gpu":
            yield Device(pool, str(each["name"]), node, attributes, str(at(each, "capacity.memory.value", "")))


def with_devices(nodes: Iterable[Json], slices: Iterable[Json]) -> list[Json]:
    """Returns the nodes with the number of their GPUs in `slices` added to capacity and allocatable resources, under
    the name of the DRA driver.
    """
    counts = Counter(device.node for device in devices(slices))
    return [_offering(node, counts[str(at(node, "metadata.name", ""))]) for node in nodes]


def _offering(node: Json, count: int) -> Json:
    if not count:
        return node
    status: Mapping[str, Any] = at(node, "status", {})
    more: dict[str, Any] = {}
    for key in ("capacity", "allocatable"):
        held: Mapping[str, Any] = at(status, key, {})
        more[key] = {**held, DRIVER: str(count)}
    return {**node, "status": {**status, **more}}


def holders(claims: Iterable[Json]) -> dict[tuple[str, str], str]:
    """NAMESPACE/NAME of the claim that holds each allocated GPU, by the pool and the name of the device."""
    found: dict[tuple[str, str], str] = {}
    for claim in claims:
        results: Sequence[Json] = at(claim, "status.allocation.devices.results", [])
        for each in results:
            if each.get("driver") == DRIVER:
                owner = f"{at(claim, 'metadata.namespace', '')}/{at(claim, 'metadata.name', '')}"
                found[str(each.get("pool")), str(each.get("device"))] = owner
    return found
