"""Record of a node's faults in an annotation of the Node, which survives restarts of the control plane."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import Any

from simulator.cluster.names import SIMULATOR
from simulator.cluster.objects import annotations_of
from simulator.faults.catalogue import Effects, faults

ANNOTATION = f"{SIMULATOR}faults"


@dataclass(frozen=True)
class Injected:
    """A fault that a node has now."""

    fault: str
    gpu: int
    """Number of the GPU that has the fault; 0 for a fault of the node."""
    since: float
    """Start of the fault in seconds since the epoch, by a real clock."""
    over: bool = False
    """True if the fault's cause has ended; the GPU stays out of service until the device plugin starts again."""
    boot: str = ""
    """Boot id of the node when the fault was injected. A different id later means a reboot, which can end the fault."""


@dataclass(frozen=True)
class NodeFaults:
    """The combined effects of all faults of a node."""

    items: tuple[Injected, ...] = ()
    broken: Mapping[str, str] = field(default_factory=dict[str, str])
    driver_lost: bool = False
    unlicensed: bool = False
    not_ready: str = ""
    unhealthy: frozenset[int] = frozenset()
    """Indexes of the GPUs that the device plugin no longer offers."""

    def of_gpu(self, gpu: int) -> list[tuple[Effects, float]]:
        """Effects of the active faults on one GPU, each with its start time.

        A fault of the node affects all of its GPUs.
        """
        known = faults()
        return [
            (known[each.fault].effects, each.since)
            for each in self.items
            if not each.over and (known[each.fault].where == "node" or each.gpu == gpu)
        ]

    def port_gains(self, now: float) -> dict[str, float]:
        """Increases of the first InfiniBand port's counters because of the node's faults: from the start of each fault
        until `now` (seconds since the epoch).
        """
        gained = dict[str, float]()
        for each in self.items:
            for counter, rate in faults()[each.fault].effects.port_rates.items():
                gained[counter] = gained.get(counter, 0) + round(rate * max(now - each.since, 0))
        return gained


NO_FAULTS = NodeFaults()


def injected(node: Mapping[str, Any]) -> tuple[Injected, ...]:
    """The faults in a Node's annotation, without those that this version does not know."""
    return _read(annotations_of(node).get(ANNOTATION, ""))


def node_faults(node: Mapping[str, Any]) -> NodeFaults:
    """The combined effects of all faults of a Node."""
    return together(injected(node))


def annotation(items: Iterable[Injected]) -> str | None:
    """Value of the annotation that records the faults `items`; None, which removes the annotation, if there are no
    faults.
    """
    documents = [asdict(each) for each in items]
    return json.dumps(documents) if documents else None


@lru_cache(maxsize=4096)
def _read(text: str) -> tuple[Injected, ...]:
    if not text:
        return ()
    try:
        documents: list[dict[str, Any]] = json.loads(text)
        found = tuple(
            Injected(str(d["fault"]), int(d["gpu"]), float(d["since"]), d.get("over") is True, str(d.get("boot", "")))
            for d in documents
        )
    except (ValueError, KeyError, TypeError):
        return ()
    return tuple(each for each in found if each.fault in faults())


@lru_cache(maxsize=4096)
def together(items: tuple[Injected, ...]) -> NodeFaults:
    if not items:
        return NO_FAULTS
    every = [(each, faults()[each.fault].effects) for each in items]
    effects = [(each, effect) for each, effect in every if not each.over]
    return NodeFaults(
        items=items,
        broken={name: text for _, effect in effects for name, text in effect.broken.items()},
        driver_lost=any(effect.driver_lost for _, effect in effects),
        unlicensed=any(effect.unlicensed for _, effect in effects),
        not_ready=next((effect.not_ready for _, effect in effects if effect.not_ready), ""),
        unhealthy=frozenset(each.gpu for each, effect in every if effect.unhealthy),
    )
