"""Faults that a node still has after an event that can end faults: the end of a job, a restart of the node, or the
deletion of a Pod.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from simulator.faults.catalogue import faults
from simulator.faults.record import Injected

Happened = Literal["job", "reboot", "pod"]
PLUGIN = "nvidia-device-plugin"
"""Name of the container that lists the working GPUs when it starts."""


def after(
    items: Iterable[Injected], happened: Happened, containers: Iterable[str] = (), boot: str = ""
) -> tuple[Injected, ...]:
    """Faults that the node still has after the event `happened`.

    Args:
        containers: Names of the deleted Pod's containers, if `happened` is `pod`.
        boot: The node's new boot id, if `happened` is `reboot`.
    """
    own = frozenset(containers)
    left = (each if boot and each.boot == boot else _after(each, happened, own) for each in items)
    return tuple(each for each in left if each is not None)


def _after(item: Injected, happened: Happened, containers: frozenset[str]) -> Injected | None:
    row = faults()[item.fault]
    if happened == "pod":
        fails = "pod" in row.ends and not containers.isdisjoint(row.effects.broken)
        starts = PLUGIN in containers and ("plugin" in row.ends or item.over)
        return None if fails or starts else item
    if happened in row.ends:
        return None
    return replace(item, over=True) if happened in row.over else item


def ends_with_jobs(items: Iterable[Injected]) -> bool:
    """True if the end of a job's Pod ends any of the faults `items` or its cause."""
    rows = (faults()[each.fault] for each in items if not each.over)
    return any("job" in row.ends | row.over for row in rows)
