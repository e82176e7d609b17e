"""GPUs that a change takes away for a time, and whether they come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from physical_ai.catalog.own_names import PLATFORM_LABEL
from workbench.impact.changes import Change
from workbench.impact.pools import PoolFacts
from workbench.impact.scopes import concerns_pool
from workbench.impact.ways import Way, removed_nodes


@dataclass(frozen=True)
class Outage:
    """GPUs of a pool that are missing for a time, or for good.

    Attributes:
        minutes: Least and most minutes of the outage. If `one_by_one`, least and most minutes for a single node.
        one_by_one: True if the change affects one node after the other, so that the others keep their GPUs.
        returns: Prospect that the GPUs come back: `certain`, `likely`, `doubtful` or `never`.
        why: Reason for `returns`.
    """

    pool: str
    model: str
    nodes: int
    gpus: int
    minutes: tuple[float, float]
    one_by_one: bool
    returns: str
    why: str

    @property
    def total(self) -> tuple[float, float]:
        """Least and most minutes until the last GPU is back."""
        factor = self.nodes if self.one_by_one else 1
        return self.minutes[0] * factor, self.minutes[1] * factor


def outages(hits: Sequence[tuple[Change, Way]], pools: Mapping[str, PoolFacts]) -> tuple[Outage, ...]:
    """The worst outage of each pool that has nodes with GPUs. An outage after which the GPUs may not come back is worse
    than any other; otherwise the longest outage counts.
    """
    found: dict[str, Outage] = {}
    for change, way in hits:
        if not way.back:
            continue
        for pool in pools.values():
            if not (pool.nodes and pool.gpus and concerns_pool(way.scope, change, pool)):
                continue
            nodes = removed_nodes(change, pool.nodes) if way.fewer else pool.nodes
            outage = _outage(pool, way, nodes, _stand_ins(pool, pools))
            known = found.get(pool.name)
            if known is None or _rank(outage) > _rank(known):
                found[pool.name] = outage
    return tuple(found[name] for name in sorted(found))


def _rank(outage: Outage) -> tuple[bool, bool, float]:
    return outage.returns == "never", outage.returns == "doubtful", outage.total[1]


def _stand_ins(pool: PoolFacts, pools: Mapping[str, PoolFacts]) -> list[str]:
    """On-demand pools that serve the same platform as a Spot pool."""
    platform = pool.labels.get(PLATFORM_LABEL)
    if platform is None or not pool.spot:
        return []
    return [each.name for each in pools.values() if each.labels.get(PLATFORM_LABEL) == platform and not each.spot]


def _outage(pool: PoolFacts, way: Way, nodes: int, stand_ins: Sequence[str]) -> Outage:
    returns, why = _returns(pool, way, stand_ins)
    return Outage(
        pool.name,
        pool.model,
        nodes,
        nodes * pool.gpus,
        way.minutes,
        way.order == "one-by-one",
        returns,
        why,
    )


def _returns(pool: PoolFacts, way: Way, stand_ins: Sequence[str]) -> tuple[str, str]:
    if way.back == "never":
        return "never", way.says
    if way.back == "same-nodes":
        extra = f"an upgrade with maxSurge needs quota and capacity for {pool.surge} more" if pool.surge else ""
        return ("likely", extra) if extra else ("certain", "the machines are kept")
    if pool.reservation:
        return "certain", f"the capacity reservation {pool.reservation.rpartition('/')[2]} keeps the machines"
    if stand_ins:
        return "likely", f"Azure may give released Spot machines to others; {', '.join(stand_ins)} stands in on demand"
    if pool.spot:
        return "doubtful", "Azure may give released Spot machines to others"
    return "doubtful", "Azure may give released machines to others; quota keeps none, a capacity reservation does"
