"""The time to the first GPU of a stack: the paths of each of its pools, and their form as JSON data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from workbench.first_gpu.graph import NOTHING, Measured, deployment, one_more_node
from workbench.first_gpu.model import Path, Range
from workbench.first_gpu.pools import GpuPool
from workbench.first_gpu.shortening import alternatives, gains
from workbench.policies import Resource

DEPLOYMENT, NODE = "deployment", "node"
KINDS = (DEPLOYMENT, NODE)


@dataclass(frozen=True)
class PoolTimes:
    """The two paths of one pool. `deployment`: None if the stack creates no nodes."""

    pool: GpuPool
    deployment: Path | None
    node: Path

    def path(self, kind: str) -> Path | None:
        return self.deployment if kind == DEPLOYMENT else self.node


@dataclass(frozen=True)
class Report:
    """The times of all GPU pools of a stack that can have nodes."""

    pools: tuple[PoolTimes, ...]
    resources: tuple[Resource, ...] = ()
    measured: Measured = NOTHING

    def slowest(self, kind: str) -> PoolTimes | None:
        """The pool whose slow case takes longest. None if no pool has such a path."""
        found = [each for each in self.pools if each.path(kind) is not None]
        return max(found, key=lambda each: _slow(each, kind), default=None)

    def minutes(self, kind: str) -> Range | None:
        """Least and most minutes until every pool has a Pod with a GPU, or another one. None without such a path."""
        found = [path.minutes for each in self.pools if (path := each.path(kind)) is not None]
        return (max(each[0] for each in found), max(each[1] for each in found)) if found else None


def report(resources: Sequence[Resource], pools: Sequence[GpuPool], measured: Measured = NOTHING) -> Report:
    """The times of `pools`. Pools that never have a node are left out."""
    times = (
        PoolTimes(each, deployment(resources, each, measured) if each.resource else None, one_more_node(each, measured))
        for each in pools
        if each.most
    )
    return Report(tuple(times), tuple(resources), measured)


def only(found: Report, pool: str) -> Report:
    """The times of one pool."""
    return replace(found, pools=tuple(each for each in found.pools if each.pool.name == pool))


def document(found: Report) -> dict[str, Any]:
    """The times as JSON data, in minutes rounded to a tenth."""
    return {
        **{kind: _rounded(minutes) if (minutes := found.minutes(kind)) else None for kind in KINDS},
        "measured": found.measured.source or None,
        "pools": [_pool(each, found) for each in found.pools],
    }


def _slow(times: PoolTimes, kind: str) -> float:
    path = times.path(kind)
    return path.minutes[1] if path is not None else 0


def _pool(times: PoolTimes, found: Report) -> dict[str, Any]:
    pool = times.pool
    ways = {NODE: partial(one_more_node, measured=found.measured)}
    if times.deployment is not None:
        ways[DEPLOYMENT] = partial(deployment, found.resources, measured=found.measured)
    return {
        "pool": pool.name,
        "size": pool.size,
        "driver": pool.driver,
        "nodes": pool.nodes,
        **{kind: _path(times.path(kind)) for kind in KINDS},
        "drivers": [
            {
                "driver": each.driver,
                "present": each.present,
                **{kind: _rounded(way(replace(pool, driver=each.driver)).minutes) for kind, way in ways.items()},
            }
            for each in alternatives(pool, ways[NODE])
        ],
    }


def _path(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    return {
        "minutes": _rounded(path.minutes),
        "steps": list(_steps(path)),
        "gains": [
            {"step": each.step.key, "minutes": round(each.minutes, 1), "advice": each.advice} for each in gains(path)
        ],
    }


def _steps(path: Path) -> Iterator[Mapping[str, Any]]:
    for each in path.slow:
        placed = path.placed(each.key)
        yield {
            "step": each.key,
            "title": each.title,
            "start": round(placed.start, 1),
            "end": round(placed.end, 1),
            "minutes": _rounded(each.minutes),
            "known": each.known,
            "source": each.source,
        }


def _rounded(minutes: Range) -> list[float]:
    return [round(each, 1) for each in minutes]
