"""Expected useful share of a pool's GPU time, in closed form. Pure functions; times are in hours, rates per hour.

Two questions are separate. How many jobs have nodes: each node is there independently of the others, so the number
of nodes is binomial, whatever repairs take. What a job with nodes achieves: interruptions come at a constant rate, and
each throws the job back to its last checkpoint (Daly, A higher order estimate of the optimum checkpoint interval for
restart dumps, 2006).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

LIMIT = 600.0
"""Largest number of interruptions that one stretch without a checkpoint may meet on average. Beyond it nothing is ever
finished, and the exponential function would overflow.
"""


@dataclass(frozen=True)
class Fleet:
    """A pool, the work that it usually has, and what happens to both.

    Attributes:
        nodes: Number of nodes.
        gpus: Number of GPUs of a node.
        jobs: Number of jobs that should run at the same time.
        job_gpus: GPUs of a job, on all its nodes.
        task_hours: Useful hours of a job.
        checkpoint: Hours of work between two checkpoints; None if none are written.
        stall: Hours for which a checkpoint stops the job.
        faults: Faults of a node, after which it is repaired.
        crashes: Ends of work per node, after which the node goes on.
        evictions: Evictions of a node by Azure.
        detection: From a fault or crash until the job has ended.
        restart: From the time when the job has nodes again until it goes on from its last checkpoint.
        start: From the time when a new job has nodes until it does useful work.
        repair: From the detection of a fault until the node takes work again.
        away: From an eviction until the pool has the node again.
        found: Share of the faults that are found on idle nodes, before work meets them.
    """

    nodes: int
    gpus: int
    jobs: int
    job_gpus: int
    task_hours: float
    checkpoint: float | None
    stall: float
    faults: float
    crashes: float
    evictions: float
    detection: float
    restart: float
    start: float
    repair: float
    away: float
    found: float = 0.0

    @property
    def job_nodes(self) -> int:
        """Number of nodes on which a job has GPUs."""
        return -(-self.job_gpus // self.gpus)

    @property
    def wanted(self) -> float:
        """Share of the pool's GPU time that work asks for."""
        return self.jobs * self.job_gpus / (self.nodes * self.gpus)

    @property
    def met_faults(self) -> float:
        """Faults of a node that end work."""
        return self.faults * (1 - self.found)

    @property
    def ends(self) -> float:
        """Rate at which a job is interrupted, by faults, crashes and evictions on any of its nodes."""
        return self.job_nodes * (self.met_faults + self.crashes + self.evictions)

    @property
    def present(self) -> float:
        """Share of the time for which a node is neither in repair nor evicted."""
        return 1 / (1 + self.faults * self.repair + self.evictions * self.away)

    def places(self, nodes: int) -> int:
        """Number of jobs that so many nodes have GPUs for."""
        if self.job_gpus <= self.gpus:
            return nodes * (self.gpus // self.job_gpus)
        return nodes // self.job_nodes


@dataclass(frozen=True)
class Share:
    """Parts of a pool's GPU time by their use, as shares that add up to 1."""

    useful: float
    not_wanted: float
    """Nobody asks for the GPUs: idle nodes, and spare ones."""
    faults: float
    """Work lost to faults of nodes, with detection and restart."""
    crashes: float
    evictions: float
    repairs: float
    """Jobs that wait, because nodes are in repair."""
    capacity: float
    """Jobs that wait, because evicted nodes are not back."""
    checkpoints: float
    starts: float

    @property
    def losses(self) -> dict[str, float]:
        """Losses by name, the largest first. Time that nobody asks for is not among them."""
        names = ("faults", "crashes", "evictions", "repairs", "capacity", "checkpoints", "starts")
        found = {name: float(getattr(self, name)) for name in names}
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    @property
    def of_wanted(self) -> float:
        """Useful share of the GPU time that work asks for."""
        return self.useful / (1 - self.not_wanted) if self.not_wanted < 1 else 0.0


@dataclass(frozen=True)
class _Spent:
    """Hours that a job takes from its first node to its end, by what they are spent on."""

    useful: float
    checkpoints: float
    starts: float
    interruptions: float
    total: float


def share(fleet: Fleet) -> Share:
    """Expected use of the pool's GPU time."""
    wanted, served = fleet.wanted, _served(fleet)
    spent = _job(fleet)
    scale = wanted * served / spent.total if math.isfinite(spent.total) else 0.0
    interrupted = wanted * served - scale * (spent.useful + spent.checkpoints + spent.starts)
    faults, crashes, evictions = _causes(fleet, interrupted)
    waits = wanted * max(1 - served, 0.0)
    out = fleet.faults * fleet.repair + fleet.evictions * fleet.away
    repairs = waits * fleet.faults * fleet.repair / out if out else 0.0
    return Share(
        useful=scale * spent.useful,
        not_wanted=1 - wanted,
        faults=faults,
        crashes=crashes,
        evictions=evictions,
        repairs=repairs,
        capacity=max(waits - repairs, 0.0),
        checkpoints=scale * spent.checkpoints,
        starts=scale * spent.starts,
    )


def rework(fleet: Fleet) -> float:
    """Mean hours of work that one interruption of a running job destroys."""
    stretch, rate = _stretch(fleet) + fleet.stall, fleet.ends
    if rate * stretch < 1e-9:
        return stretch / 2
    return 1 / rate - stretch / math.expm1(min(rate * stretch, LIMIT))


def best_interval(fleet: Fleet) -> float:
    """Hours between checkpoints at which the useful share is largest, between one minute and the length of a job. The
    search is over the exact formula; `young` is its first approximation.
    """
    low, high = math.log(1 / 60), math.log(max(fleet.task_hours, 2 / 60))
    golden = (math.sqrt(5) - 1) / 2

    def cost(logarithm: float) -> float:
        # The whole-number effect of a last, shorter stretch is left out: the cost has one minimum without it.
        interval = math.exp(logarithm)
        return math.log(_segment(fleet, interval + fleet.stall)) - logarithm

    for _ in range(60):
        left, right = high - golden * (high - low), low + golden * (high - low)
        if cost(left) < cost(right):
            high = right
        else:
            low = left
    return math.exp((low + high) / 2)


def young(fleet: Fleet) -> float:
    """Young's approximation of the best interval: the root of twice the stall times the mean time between interruptions
    (Young 1974; with availability as the objective: Saxena et al. 2024, arXiv:2410.18124).
    """
    return math.sqrt(2 * fleet.stall / fleet.ends) if fleet.ends else math.inf


def with_checkpoints(fleet: Fleet, hours: float | None) -> Fleet:
    """The same pool with another interval between checkpoints."""
    return replace(fleet, checkpoint=hours)


def _stretch(fleet: Fleet) -> float:
    """Longest work without a checkpoint: the interval, or the whole job."""
    return fleet.task_hours if fleet.checkpoint is None else min(fleet.checkpoint, fleet.task_hours)


def _job(fleet: Fleet) -> _Spent:
    stretch, rate = _stretch(fleet), fleet.ends
    # The end of a job keeps its result, so its last stretch has no checkpoint.
    written = max(math.ceil(fleet.task_hours / stretch - 1e-9) - 1, 0)
    last = fleet.task_hours - written * stretch
    total = _begin(fleet) + written * _segment(fleet, stretch + fleet.stall) + _segment(fleet, last)
    interruptions = rate * total / (1 + rate * _held(fleet))
    return _Spent(fleet.task_hours, written * fleet.stall, fleet.start, interruptions, total)


def _segment(fleet: Fleet, hours: float) -> float:
    """Expected hours for work that has to run for `hours` without an interruption: Daly's formula, where a restart can
    be interrupted, too.
    """
    rate = fleet.ends
    if rate == 0:
        return hours
    if rate * max(hours, fleet.restart) > LIMIT:
        return math.inf
    return math.expm1(rate * hours) * (1 / rate + _held(fleet)) * math.exp(rate * fleet.restart)


def _begin(fleet: Fleet) -> float:
    """Expected hours until a new job does useful work. An interruption is followed by a restart."""
    rate = fleet.ends
    if rate == 0:
        return fleet.start
    after = (1 / rate + _held(fleet)) * math.exp(min(rate * fleet.restart, LIMIT)) - 1 / rate
    return -math.expm1(-rate * fleet.start) * (1 / rate + after)


def _held(fleet: Fleet) -> float:
    """Mean hours for which an interrupted job still holds its nodes. An eviction is noticed at once."""
    return fleet.detection * fleet.job_nodes * (fleet.met_faults + fleet.crashes) / fleet.ends if fleet.ends else 0.0


def _causes(fleet: Fleet, interrupted: float) -> tuple[float, float, float]:
    """The hours that interruptions cost, by faults, crashes and evictions: all lose as much work and restart alike, and
    only an eviction is noticed at once.
    """
    if not fleet.ends:
        return 0.0, 0.0, 0.0
    common = rework(fleet) + fleet.restart
    rates = (fleet.met_faults, fleet.crashes, fleet.evictions)
    weights = [rate * (common + held) for rate, held in zip(rates, (fleet.detection, fleet.detection, 0), strict=True)]
    total = sum(weights)
    first, second, third = (interrupted * each / total if total else 0.0 for each in weights)
    return first, second, third


def _served(fleet: Fleet) -> float:
    """Share of the wanted jobs that have nodes, on average."""
    if not fleet.jobs:
        return 1.0
    missing = 1 - fleet.present
    if missing <= 0:
        return min(fleet.jobs, fleet.places(fleet.nodes)) / fleet.jobs
    ratio = math.log(missing) - math.log1p(-missing)
    spread = 12 * math.sqrt(fleet.nodes * missing * (1 - missing)) + 12
    middle = fleet.nodes * missing
    found = known = 0.0
    for gone in range(max(0, int(middle - spread)), min(fleet.nodes, int(middle + spread)) + 1):
        weight = math.exp(
            math.lgamma(fleet.nodes + 1)
            - math.lgamma(gone + 1)
            - math.lgamma(fleet.nodes - gone + 1)
            + gone * ratio
            + fleet.nodes * math.log1p(-missing)
        )
        known += weight
        found += weight * min(fleet.jobs, fleet.places(fleet.nodes - gone))
    return min(found / known / fleet.jobs, 1.0)
