"""Ways to a shorter time to the first GPU: what each step of the longest path is worth, and other installers of the
driver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import get_args

from physical_ai.catalog.hardware import machine
from physical_ai.catalog.lookup import UnknownName
from physical_ai.catalog.node_steps import DriverKind
from workbench.first_gpu.graph import LAST
from workbench.first_gpu.model import Path, Range, Step, longest
from workbench.first_gpu.pools import GpuPool

ADVICE = {
    "node": "keep a node: pools.<pool>.scale.min of 1, which costs its price while it waits",
    "driver": "another driver.source, or gpuOperator.driver.precompiled where an image for the kernel exists",
    "mig": "a layout that stays, so that the node is divided once",
    "acceptance": "health.admit: any, and acceptance beside the work",
    "image": "a smaller image, a registry in the region, or an image that the node has already",
}
"""Ways to shorten a step, by the step's key."""


@dataclass(frozen=True)
class Gain:
    """Minutes by which a path is shorter if one of its steps takes no time. Other paths limit it."""

    step: Step
    minutes: float
    """Minutes in the slow case."""

    @property
    def advice(self) -> str:
        return ADVICE.get(self.step.key, "")


@dataclass(frozen=True)
class Alternative:
    """Total minutes with another installer of the driver."""

    driver: DriverKind
    minutes: Range
    present: bool


def gains(path: Path) -> list[Gain]:
    """The steps of the longest path in the slow case with what each is worth, the best first."""
    found = [Gain(each, path.minutes[1] - _without(path, each).minutes[1]) for each in path.slow if each.minutes[1]]
    return sorted((each for each in found if each.minutes > 0), key=lambda each: -each.minutes)


def alternatives(pool: GpuPool, path_of: Callable[[GpuPool], Path]) -> list[Alternative]:
    """The installers of the driver that a pool's VM size supports, and the time with each, the shortest first.

    Args:
        path_of: Function that returns the path of a pool.
    """
    found = [
        Alternative(kind, path_of(replace(pool, driver=kind)).minutes, kind == pool.driver) for kind in _offered(pool)
    ]
    return sorted(found, key=lambda each: (each.minutes[1], each.minutes[0]))


def _offered(pool: GpuPool) -> Iterator[DriverKind]:
    offered: set[str] = {pool.driver}
    with suppress(UnknownName):
        offered |= set(machine(pool.size).driver_sources)
    if pool.driver == "amd":
        offered = {"amd"}
    if "operator" in offered:
        offered.add("precompiled")
    kinds: tuple[DriverKind, ...] = get_args(DriverKind)
    for each in kinds:
        if each in offered:
            yield each


def _without(path: Path, step: Step) -> Path:
    steps = {**path.steps, step.key: replace(step, minutes=(0, 0))}
    return longest(steps.values(), LAST)
