"""Fair share of each queue: its quota, and a part of the remaining resources according to its weight. Pure functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/scheduler/plugins/proportion/resource_division. With a database of
past use, KAI also considers past use; the simulation does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from simulator.scheduling.kai.queues import RESOURCES, UNLIMITED, Queue, Share, Shares

FairShares = dict[str, dict[str, float]]
"""Fair share of each queue in each resource, as an amount in base units."""


def fair_shares(total: Share, shares: Shares) -> FairShares:
    """Fair share of each queue in a cluster's `total`; a queue's share is divided among its child queues."""
    found: FairShares = {}
    _divide_below("", total, shares, found)
    return found


def _divide_below(parent: str, total: Share, shares: Shares, found: FairShares) -> None:
    queues = shares.children(parent)
    for queue in queues:
        found[queue.name] = {}
    for resource in RESOURCES:
        division = _Division(resource, queues, shares)
        division.divide(total[resource])
        for queue in queues:
            found[queue.name][resource] = division.given[queue.name]
    for queue in queues:
        _divide_below(queue.name, found[queue.name], shares, found)


class _Division:
    """Division of one resource among the queues at one level of the queue tree."""

    def __init__(self, resource: str, queues: Sequence[Queue], shares: Shares) -> None:
        self.resource, self.queues = resource, queues
        self.given = dict.fromkeys((queue.name for queue in queues), 0.0)
        asked = {queue.name: shares.requested(queue.name)[resource] for queue in queues}
        self._wanted = {queue.name: _within(asked[queue.name], queue.limit[resource]) for queue in queues}

    def divide(self, total: float) -> None:
        left = total
        for queue in self.queues:
            quota = queue.quota[self.resource]
            amount = min(total if quota == UNLIMITED else quota, self._wanted[queue.name])
            self.given[queue.name] += amount
            left -= amount
        rests: list[list[tuple[float, Queue]]] = []
        for _, level in groupby(sorted(self.queues, key=_by_priority), _by_priority):
            if left > 0:
                left, rest = self._by_weight(left, list(level))
                rests.append(rest)
        for rest in rests:
            left = self._remainders(left, rest)

    def _missing(self, queue: Queue) -> float:
        return max(self._wanted[queue.name] - self.given[queue.name], 0.0)

    def _by_weight(self, left: float, queues: Sequence[Queue]) -> tuple[float, list[tuple[float, Queue]]]:
        """Divides the amount `left` among the queues by weight, in whole units. A queue that wants less than its part
        gets only what it wants; the rest is divided again.

        Returns the amount that no queue got, and the fraction of a unit that each queue has lost by rounding.
        """
        rests: dict[str, tuple[float, Queue]] = {}
        again = True
        while again and left > 0:
            again, round_total = False, left
            hungry = [queue for queue in queues if self._missing(queue) > 0 and queue.weight[self.resource] > 0]
            weights = sum(queue.weight[self.resource] for queue in hungry)
            for queue in hungry:
                part, missing = round_total * queue.weight[self.resource] / weights, self._missing(queue)
                amount = missing if missing <= part else float(math.floor(part))
                rests.pop(queue.name, None)
                if missing > part > amount:
                    rests[queue.name] = (part - amount, queue)
                self.given[queue.name] += amount
                left -= amount
                again = again or missing < part
        return left, list(rests.values())

    def _remainders(self, left: float, rests: Sequence[tuple[float, Queue]]) -> float:
        """Gives one unit each to the queues that have lost most by rounding. Returns the amount that no queue got."""
        for _, queue in sorted(rests, key=lambda rest: (-rest[0], rest[1].created, rest[1].name)):
            amount = min(1.0, max(left, 0.0))
            self.given[queue.name] += amount
            left -= amount
        return left


def _within(amount: float, limit: float) -> float:
    return amount if limit == UNLIMITED else min(limit, amount)


def _by_priority(queue: Queue) -> int:
    return -queue.priority
