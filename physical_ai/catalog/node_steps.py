"""Usual time of each step from a Pod that waits for a GPU to the Pod that runs on a new node.

>>> node_step("driver", "aks").minutes
(0.5, 2.0)
>>> node_step("toolkit", "amd") is None
True
"""

from __future__ import annotations

import datetime
from functools import lru_cache
from typing import Literal, get_args

from physical_ai.catalog.load import DATA, CatalogError, read_rows, row
from physical_ai.catalog.row import Minutes, Row, Text

FILE = "node_steps.yaml"
DriverKind = Literal["operator", "precompiled", "grid", "aks", "host", "amd"]
"""Installer of a node's driver. `precompiled`: the GPU Operator, with a driver that is built for the kernel; `amd`:
AMD's operator.
"""
EMPTY_POOL = "empty-pool"
"""Step that creates a pool without nodes; it is no step of a node."""


UNTIL_GPUS = ("labels", "driver", "toolkit", "plugin")
"""Steps of a node that has joined, until it offers its GPUs. A node whose GPUs are divided has the step `mig` too."""


class NodeStep(Row):
    """One step of a new node, with its usual time."""

    step: Text
    title: Text
    drivers: tuple[DriverKind, ...] = ()
    """Installers of the driver for which the row counts; empty for all."""
    minutes: Minutes
    published: bool
    """True if the source has published the time; False if the time is an estimate of this project."""
    source: Text
    date: datetime.date

    def fits(self, step: str, driver: str) -> bool:
        return self.step == step and (not self.drivers or driver in self.drivers)


def node_step(step: str, driver: str) -> NodeStep | None:
    """The row of a step for nodes with an installer of the driver; None if these nodes do not go through the step."""
    return next((each for each in _rows() if each.fits(step, driver)), None)


def node_step_names() -> tuple[str, ...]:
    """Names of the steps of a node, in their order."""
    return tuple(dict.fromkeys(each.step for each in _rows() if each.step != EMPTY_POOL))


@lru_cache(maxsize=1)
def _rows() -> tuple[NodeStep, ...]:
    rows = tuple(row(NodeStep, each, f"{FILE}: {each.get('step')}") for each in read_rows(DATA / FILE))
    if wrong := [each.step for each in rows if each.minutes[0] > each.minutes[1]]:
        raise CatalogError(f"{FILE}: slower than the slowest: {', '.join(wrong)}")
    seen: set[tuple[str, str]] = set()
    for each in rows:
        for driver in each.drivers or get_args(DriverKind):
            if (each.step, driver) in seen:
                raise CatalogError(f"{FILE}: {each.step} has two rows for {driver}")
            seen.add((each.step, driver))
    return rows
