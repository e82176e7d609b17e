"""Order of jobs: by queue from the top of the tree, then by priority and age. Pure functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/scheduler/plugins/proportion/queue_order, plugins/priority,
plugins/elastic and framework/session_plugins.go (JobOrderFn).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cmp_to_key

from simulator.scheduling.kai.fair_share import FairShares
from simulator.scheduling.kai.jobs import Job
from simulator.scheduling.kai.queues import RESOURCES, UNLIMITED, Queue, Share, Shares, exceeds

NOTHING_DUE = 1000
"""Factor for a resource of which a queue's fair share is 0: the ratio between the queue's amount and its fair share is
then replaced by the amount times this factor (noFairShareDrfMultiplier).
"""


def job_order(job: Job) -> tuple[int, int, str, str]:
    """Sort key of the jobs of one queue: jobs with the highest priority come first; among them, jobs below their
    minimum, then the oldest job.
    """
    return -job.priority, job.elasticity, job.created, job.name


class Order:
    """Order in which one round considers the jobs. Each allocation in the round can change the order of the remaining
    jobs.
    """

    def __init__(self, shares: Shares, fair: FairShares, total: Share, asked: Callable[[Job], Share]) -> None:
        self._shares, self._fair, self._total, self._asked = shares, fair, total, asked

    def next(self, jobs: Iterable[Job]) -> Job:
        """The job to schedule next. The queues of all jobs must have no child queues."""
        by_queue: dict[str, list[Job]] = {}
        for job in jobs:
            by_queue.setdefault(job.queue, []).append(job)
        best = {queue: min(found, key=job_order) for queue, found in by_queue.items()}
        return self._best(self._shares.children(""), best)

    def _best(self, queues: Sequence[Queue], jobs: Mapping[str, Job]) -> Job:
        """Job to schedule next among the jobs of `queues` and of their child queues. The best job of each queue decides
        which queue comes first.
        """
        found: list[tuple[Queue, Job]] = []
        for queue in queues:
            if queue.name in jobs:
                found.append((queue, jobs[queue.name]))
            elif below := [each for each in self._shares.children(queue.name) if self._leads_to(each, jobs)]:
                found.append((queue, self._best(below, jobs)))
        return min(found, key=cmp_to_key(lambda left, right: -1 if self._precedes(left, right) else 1))[1]

    def _leads_to(self, queue: Queue, jobs: Mapping[str, Job]) -> bool:
        return any(queue in self._shares.path(each) for each in jobs)

    def _precedes(self, left: tuple[Queue, Job], right: tuple[Queue, Job]) -> bool:
        ranks = self._rank(*left), self._rank(*right)
        if ranks[0] != ranks[1]:
            return ranks[0] < ranks[1]
        due = self._due(left[0]), self._due(right[0])
        if due[0] != due[1]:
            for mine, other, answer in ((*due, True), (*reversed(due), False)):
                if all(mine[key] <= other[key] for key in RESOURCES):
                    return answer
        return (left[0].created, left[0].name) < (right[0].created, right[0].name)

    def _rank(self, queue: Queue, job: Job) -> tuple[bool, bool, int, bool, float, float]:
        """Sort key of queues. A queue below its fair share comes first; then a queue that stays within its quota if it
        gets the job; then the queue with the higher priority; then the queue with the smaller share.
        """
        held, asked = self._shares.allocated(queue.name), self._asked(job)
        after = {key: held[key] + asked[key] for key in RESOURCES}
        due = self._due(queue)
        return (
            all(self._fair[queue.name][key] < held[key] for key in RESOURCES),
            any(exceeds(after[key], queue.quota[key]) for key in RESOURCES),
            -queue.priority,
            any(due[key] == 0 and after[key] > 0 for key in RESOURCES),
            self._dominant(after, due),
            self._dominant(held, due),
        )

    def _due(self, queue: Queue) -> dict[str, float]:
        """Maximum amount of each resource that a queue may get (GetAllocatableShare): the larger of quota and fair
        share, but at most the limit. If the quota is unlimited, the limit; if the limit is unlimited, too, the
        cluster's whole amount.
        """
        found: dict[str, float] = {}
        for key in RESOURCES:
            most = queue.limit[key]
            if queue.quota[key] != UNLIMITED:
                amount = max(queue.quota[key], self._fair[queue.name][key])
                most = amount if most == UNLIMITED else min(most, amount)
            found[key] = self._total[key] if most == UNLIMITED else most
        return found

    def _dominant(self, held: Share, due: Share) -> float:
        """Largest ratio, over all resources, between the amount that a queue holds and its fair share."""
        return max(held[key] / due[key] if due[key] else held[key] * NOTHING_DUE for key in RESOURCES)
