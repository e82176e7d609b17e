"""Pools of a stack as the model needs them: from the settings, the catalogue and the rates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, sqrt

from physical_ai.catalog import machine
from physical_ai.catalog.lookup import price
from physical_ai.catalog.timings import GPU_GATE, Timing, timing
from physical_ai.settings.facts.gpu import knows_gpu
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from workbench.goodput.cron import hours_between
from workbench.goodput.model import Fleet
from workbench.goodput.rates import Rate, Rates

NEW_NODE = "new-node"
_STEPS = ("azure-native:containerservice:AgentPool", GPU_GATE)
EXAMPLE = "{nodes: 4, busy: 0.9, taskHours: 6, taskGpus: 2, checkpointMinutes: 30}"
"""Value of the setting usualLoad, for messages."""
USUAL_GPUS = 8
"""GPUs of the nodes that the rates are about."""


@dataclass(frozen=True)
class PoolLoad:
    """A pool and its usual work.

    Attributes:
        checkpoint: Hours between two checkpoints; None if tasks write none.
        usd: List price of a GPU-hour; None if it is not known.
        headroom: True if the autoscaler may add a node beyond the usual ones, so that work does not wait for a repair.
        most: Largest number of nodes that the settings allow.
        diagnosed: Hours between two diagnoses of an idle node; None if there are none.
    """

    name: str
    model: str
    nodes: int
    gpus: int
    jobs: int
    job_gpus: int
    task_hours: float
    checkpoint: float | None
    spot: bool = False
    usd: float | None = None
    headroom: bool = False
    most: int = 0
    diagnosed: float | None = None

    @property
    def wanted(self) -> float:
        """Share of the pool's GPUs that work asks for."""
        return self.jobs * self.job_gpus / (self.nodes * self.gpus)


@dataclass(frozen=True)
class NotCounted:
    """A GPU pool for which nothing can be calculated, and what to write."""

    pool: str
    problem: str


def pool_loads(settings: Settings) -> tuple[list[PoolLoad], list[NotCounted]]:
    """GPU pools with a usual load, and the GPU pools that cannot be calculated."""
    loads: list[PoolLoad] = []
    without: list[NotCounted] = []
    for name, pool in settings.pools.items():
        if not knows_gpu(pool):
            continue
        found = _load(settings, name, pool)
        if isinstance(found, PoolLoad):
            loads.append(found)
        else:
            without.append(NotCounted(name, found))
    return loads, without


def fleet(pool: PoolLoad, values: Mapping[str, float]) -> Fleet:
    """A pool with one value for each rate, by the rate's name."""
    per_node = values["gpu-share"] * pool.gpus / USUAL_GPUS + 1 - values["gpu-share"]
    per_hour = per_node / 1000 / 24
    new = values[NEW_NODE] / 60
    repaired = values["reaction"] + new + values["acceptance"] / 60
    return Fleet(
        nodes=pool.nodes,
        gpus=pool.gpus,
        jobs=pool.jobs,
        job_gpus=pool.job_gpus,
        task_hours=pool.task_hours,
        checkpoint=pool.checkpoint,
        stall=0.0 if pool.checkpoint is None else values["checkpoint-stall"] / 3600,
        faults=values["node-faults"] * per_hour,
        crashes=values["crashes"] * per_hour,
        evictions=values["spot-evictions"] if pool.spot else 0.0,
        detection=values["detection"] / 60,
        restart=values["restart"] / 60,
        start=values["start"] / 60,
        repair=new if pool.headroom else repaired,
        away=values["spot-away"],
        found=_found(pool, values),
    )


def with_new_node(rates: Rates) -> dict[str, Rate]:
    """The rates, and the time of a new node from the catalogue's timings, which recordings of clusters correct."""
    steps = [timing(each) for each in _STEPS]
    low, high = (sum(each.minutes[case] for each in steps) for case in (0, 1))
    return {**rates, NEW_NODE: _new_node(steps, low, high)}


def notes(pool: PoolLoad, rates: Rates) -> list[str]:
    """Assumptions about a pool, and faults of its usual load."""
    found: list[str] = []
    where = f"pools.{pool.name}.usualLoad"
    if pool.checkpoint is None:
        found.append(
            f"{where}.checkpointMinutes is absent: it is assumed that tasks write no checkpoint, and begin again"
        )
    elif pool.checkpoint >= pool.task_hours:
        found.append(
            f"{where}.checkpointMinutes {pool.checkpoint * 60:g} is not shorter than a task of {pool.task_hours:g} h:"
            " no checkpoint is ever written; write a smaller number"
        )
    elif pool.checkpoint * 3600 <= rates["checkpoint-stall"].high:
        found.append(
            f"{where}.checkpointMinutes {pool.checkpoint * 60:g}: writing a checkpoint can take as long"
            f" ({rates['checkpoint-stall'].high:g} seconds); write a larger number"
        )
    if 0 < pool.most < pool.nodes:
        found.append(f"{where}.nodes {pool.nodes} is more than the {pool.most} nodes that the pool may have")
    if pool.headroom:
        found.append(
            f"pools.{pool.name}.scale.max is above the usual nodes: it is assumed that work waits for a new node,"
            " not for a repair"
        )
    if pool.spot:
        found.append("it is assumed that Spot machines are evicted one by one; in a shortage they are evicted together")
    return found


def _load(settings: Settings, name: str, pool: Pool) -> PoolLoad | str:
    load, gpus = pool.usual_load, gpus_per_node(pool)
    where = f"pools.{name}.usualLoad"
    if load is None:
        return f"{where} is absent: what runs on an ordinary day is not known; write for example {EXAMPLE}"
    jobs = round(load.nodes * gpus * load.busy) // load.task_gpus
    if not jobs:
        return (
            f"{where}: taskGpus {load.task_gpus} is more than the busy GPUs of {load.nodes} nodes with {gpus} each;"
            " write more nodes, or fewer GPUs"
        )
    if load.task_gpus <= gpus:
        jobs = min(jobs, load.nodes * (gpus // load.task_gpus))
    else:
        jobs = min(jobs, load.nodes // -(-load.task_gpus // gpus))
    if not jobs:
        return f"{where}: a task of {load.task_gpus} GPUs needs more than {load.nodes} nodes; write more nodes"
    gpu = machine(pool.sku).gpu
    every = settings.health.acceptance.diagnose_idle
    listed = price(pool.sku, settings.region)
    return PoolLoad(
        name=name,
        model=gpu.model if gpu else "",
        nodes=load.nodes,
        gpus=gpus,
        jobs=jobs,
        job_gpus=load.task_gpus,
        task_hours=load.task_hours,
        checkpoint=None if load.checkpoint_minutes is None else load.checkpoint_minutes / 60,
        spot=pool.is_spot,
        usd=None if listed is None else listed.usd_per_hour / gpus,
        headroom=pool.scale.is_autoscaled and pool.scale.most > load.nodes,
        most=pool.scale.most,
        diagnosed=None if every is None else hours_between(every),
    )


def _found(pool: PoolLoad, values: Mapping[str, float]) -> float:
    """Share of the faults that a diagnosis finds: there is a sign, the node is idle at a diagnosis, and the diagnosis
    falls between the sign and the fault, which lie an exponential time apart.
    """
    if pool.diagnosed is None or values["sign-lead"] <= 0:
        return 0.0
    ratio = pool.diagnosed / values["sign-lead"]
    in_time = -(exp(-ratio) - 1) / ratio
    return values["early-signs"] * in_time * (1 - pool.wanted)


def _new_node(steps: Iterable[Timing], low: float, high: float) -> Rate:
    known = list(steps)
    return Rate(
        name=NEW_NODE,
        unit="minutes",
        low=low,
        likely=sqrt(low * high) if low else (low + high) / 2,
        high=high,
        believed=() if all(each.published for each in known) else ("low", "likely", "high"),
        says="another machine from the request to its GPUs",
        source="; ".join(each.source for each in known),
        date=min(each.date for each in known),
    )
