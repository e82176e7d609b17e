"""Events of a pool in time: one clock for each node and cause, and jobs that wait for nodes in order."""

from __future__ import annotations

import heapq
import random
from collections import deque
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

from workbench.goodput.model import Fleet
from workbench.goodput.simulation.accounts import Job, Totals, settle

UP, SICK, OUT = "up", "sick", "out"
HOURS = 365 * 24.0
SPREAD = 0.8
"""Standard deviation of the logarithm of a repair's duration: most are short, and few are long."""
SAMPLES = 24
"""Number of equal parts of the time, whose differences give the interval of the result."""
Event = tuple[float, int, str, int, int]
"""Time, number of the event, kind, node or job, and its turn when the event was made."""


@dataclass
class Node:
    """A node: its state, how often it has changed, its free places for jobs, and the jobs on it."""

    state: str
    turn: int
    free: int
    jobs: set[int]


class Year:
    """A pool over `hours` hours. The same `seed` gives the same events, also after an interruption."""

    def __init__(self, fleet: Fleet, seed: int, hours: float = HOURS) -> None:
        self.fleet, self.seed, self.hours = fleet, seed, hours
        self.now = 0.0
        self.totals = Totals()
        self.samples: list[float] = []
        self._random = random.Random(seed)  # noqa: S311 - the same seed has to give the same events
        self._events: list[Event] = []
        self._made = 0
        self._places = max(fleet.places(1), 1)
        self._nodes = [Node(UP, 0, self._places, set()) for _ in range(fleet.nodes)]
        self._free = deque(range(fleet.nodes))
        self._jobs = [Job() for _ in range(fleet.jobs)]
        self._queue = deque(range(fleet.jobs))
        for index in range(fleet.nodes):
            self._set_clocks(index)
        for part in range(1, SAMPLES + 1):
            self._at(hours * part / SAMPLES, "sample", 0, 0)
        self._place()

    @property
    def ended(self) -> bool:
        return self.now >= self.hours

    @property
    def useful(self) -> float:
        """Useful share of the pool's GPU time up to now."""
        given = self.fleet.nodes * self.fleet.gpus * self.now
        return self.totals.hours["useful"] * self.fleet.job_gpus / given if given else 0.0

    @property
    def spread(self) -> float:
        """Standard error of the useful share, from the differences between the parts of the time."""
        ends = [0.0, *self.samples]
        part = self.fleet.nodes * self.fleet.gpus * self.hours / SAMPLES
        shares = [(b - a) * self.fleet.job_gpus / part for a, b in pairwise(ends)]
        if len(shares) < 2:
            return 0.0
        mean = sum(shares) / len(shares)
        return (sum((each - mean) ** 2 for each in shares) / (len(shares) - 1) / len(shares)) ** 0.5

    def run(self, events: int = 1_000_000_000) -> bool:
        """Goes on for at most so many events. Returns True if the end is reached."""
        while self._events and events > 0 and not self.ended:
            when, _, kind, index, turn = heapq.heappop(self._events)
            self.now = when
            events -= 1
            if kind == "sample":
                self._sample()
            elif kind == "release":
                self._release(index, turn)
            elif self._nodes[index].turn == turn:
                self._of_node(kind, index)
        return self.ended

    def document(self) -> dict[str, Any]:
        """State of the simulation as JSON data, from which `resumed` continues it."""
        version, numbers, gauss = self._random.getstate()
        return {
            "fleet": asdict(self.fleet),
            "seed": self.seed,
            "hours": self.hours,
            "now": self.now,
            "totals": asdict(self.totals),
            "samples": self.samples,
            "random": [version, list(numbers), gauss],
            "events": [list(each) for each in self._events],
            "made": self._made,
            "nodes": [[each.state, each.turn, each.free, sorted(each.jobs)] for each in self._nodes],
            "free": list(self._free),
            "jobs": [asdict(each) for each in self._jobs],
            "queue": list(self._queue),
        }

    @classmethod
    def resumed(cls, given: dict[str, Any]) -> Year:
        """The simulation of a document. Raises KeyError, TypeError or ValueError for a document of another form."""
        year = cls.__new__(cls)
        year.fleet, year.seed, year.hours = Fleet(**given["fleet"]), int(given["seed"]), float(given["hours"])
        year.now, year.samples = float(given["now"]), list(given["samples"])
        year.totals = Totals(**given["totals"])
        version, numbers, gauss = given["random"]
        year._random = random.Random()  # noqa: S311 - as above
        year._random.setstate((version, tuple(numbers), gauss))
        year._events = [(when, made, kind, index, turn) for when, made, kind, index, turn in given["events"]]
        year._made = int(given["made"])
        year._places = max(year.fleet.places(1), 1)
        year._nodes = [Node(state, turn, free, set(jobs)) for state, turn, free, jobs in given["nodes"]]
        year._free, year._queue = deque(given["free"]), deque(given["queue"])
        year._jobs = [Job(**each) for each in given["jobs"]]
        return year

    def _at(self, when: float, kind: str, index: int, turn: int) -> None:
        if when <= self.hours:
            self._made += 1
            heapq.heappush(self._events, (when, self._made, kind, index, turn))

    def _set_clocks(self, index: int) -> None:
        """Draws the next fault and eviction of a node that has come up, and its next crash."""
        turn = self._nodes[index].turn
        fleet = self.fleet
        for kind, rate in (("fault", fleet.faults), ("crash", fleet.crashes), ("eviction", fleet.evictions)):
            if rate > 0:
                self._at(self.now + self._random.expovariate(rate), kind, index, turn)

    def _of_node(self, kind: str, index: int) -> None:
        if kind == "repair":
            self._leave(index, self._duration(self.fleet.repair))
            return
        if kind == "return":
            self._return(index)
            return
        self.totals.count(kind)
        if kind == "fault":
            self._fault(index)
        elif kind == "crash":
            self._interrupt(index, self.fleet.detection)
            self._at(self.now + self._random.expovariate(self.fleet.crashes), "crash", index, self._nodes[index].turn)
        else:
            # The node leaves first: a job that is released must not be placed on it again.
            self._leave(index, self._random.expovariate(1 / self.fleet.away) if self.fleet.away else 0.0)
            self._interrupt(index, 0.0)
        self._place()

    def _fault(self, index: int) -> None:
        if self._random.random() < self.fleet.found:
            self.totals.count("found")
            self._leave(index, self._duration(self.fleet.repair))
            for each in sorted(self._nodes[index].jobs):
                self._move(each)
            return
        node = self._nodes[index]
        node.state, node.turn = SICK, node.turn + 1
        self._at(self.now + self.fleet.detection, "repair", index, node.turn)
        self._interrupt(index, self.fleet.detection)

    def _duration(self, mean: float) -> float:
        """Duration of a repair, with the given mean."""
        return mean * self._random.lognormvariate(-(SPREAD**2) / 2, SPREAD) if mean else 0.0

    def _leave(self, index: int, hours: float) -> None:
        node = self._nodes[index]
        node.state, node.turn = OUT, node.turn + 1
        self._at(self.now + hours, "return", index, node.turn)

    def _return(self, index: int) -> None:
        node = self._nodes[index]
        node.state, node.turn, node.free = UP, node.turn + 1, self._places - len(node.jobs)
        self._set_clocks(index)
        self._free.append(index)
        self._place()

    def _interrupt(self, index: int, held: float) -> None:
        """Ends the attempts of the jobs on a node. They hold their nodes for `held` hours, until that is detected."""
        for each in sorted(self._nodes[index].jobs):
            job = self._jobs[each]
            if job.dead:
                if not held:
                    self._release(each, job.turn)
                continue
            settle(job, self.now, self.fleet, self.totals)
            job.dead, job.again, job.paused, job.turn = True, True, False, job.turn + 1
            if held:
                self._at(self.now + held, "release", each, job.turn)
            else:
                self._release(each, job.turn)

    def _move(self, index: int) -> None:
        """Takes a job from its nodes with all its work: the fault was found while its node was idle."""
        job = self._jobs[index]
        if not job.dead:
            settle(job, self.now, self.fleet, self.totals, keep=True)
            job.dead, job.paused, job.turn = True, True, job.turn + 1
            self._release(index, job.turn)

    def _release(self, index: int, turn: int) -> None:
        job = self._jobs[index]
        if job.turn != turn or not job.dead:
            return
        self.totals.add("detection", self.now - job.since)
        for each in job.nodes:
            node = self._nodes[each]
            node.jobs.discard(index)
            node.free += 1 if self.fleet.job_nodes == 1 else self._places
            if node.state == UP:
                self._free.append(each)
        job.nodes, job.dead, job.since, job.turn = [], False, self.now, job.turn + 1
        self._queue.append(index)
        self._place()

    def _place(self) -> None:
        """Gives nodes to waiting jobs, in the order in which they wait."""
        while self._queue:
            nodes = self._take()
            if not nodes:
                return
            index = self._queue.popleft()
            job = self._jobs[index]
            self.totals.add("waiting", self.now - job.since)
            job.nodes, job.since, job.turn = nodes, self.now, job.turn + 1
            for each in nodes:
                self._nodes[each].jobs.add(index)

    def _take(self) -> list[int]:
        """Nodes with free places for one job; empty if there are not enough."""
        whole, found = self.fleet.job_nodes > 1, list[int]()
        while self._free and len(found) < self.fleet.job_nodes:
            index = self._free.popleft()
            node = self._nodes[index]
            if node.state == UP and index not in found and node.free > 0 and not (whole and node.jobs):
                found.append(index)
        if len(found) < self.fleet.job_nodes:
            self._free.extendleft(reversed(found))
            return []
        for each in found:
            node = self._nodes[each]
            node.free -= self._places if whole else 1
            if node.free > 0:
                self._free.appendleft(each)
        return found

    def _sample(self) -> None:
        """Adds the useful hours up to now to the samples, with the work in progress. At the end of the time, the
        work in progress is added to the totals, too.
        """
        last = self.now >= self.hours
        totals = self.totals if last else Totals()
        for job in self._jobs:
            if job.nodes and not job.dead:
                settle(job if last else replace(job), self.now, self.fleet, totals, keep=True)
            elif last and not job.nodes:
                totals.add("waiting", self.now - job.since)
        self.samples.append(self.totals.hours["useful"] + (0.0 if last else totals.hours["useful"]))
