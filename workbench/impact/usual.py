"""Usual work of a stack's pools, from their settings: what a change is judged by where no cluster is read.

Each workflow is taken in the middle of its run, which is the mean over all times at which a change can come.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import replace

from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.usual_load import UsualLoad
from workbench.impact.pools import PoolFacts
from workbench.impact.work import Work


def usual_work(pools: Mapping[str, Pool], facts: Mapping[str, PoolFacts], now: datetime.datetime) -> list[Work]:
    """Workflows on the pools that have `usualLoad`, and still exist before the change."""
    return [
        work
        for name, pool in pools.items()
        if pool.usual_load is not None and name in facts
        for work in _of_pool(facts[name], pool.usual_load, now)
    ]


def usual_nodes(pools: Mapping[str, Pool], facts: Mapping[str, PoolFacts]) -> dict[str, PoolFacts]:
    """Facts with the usual number of nodes, where the settings have one."""
    loads = {name: pool.usual_load for name, pool in pools.items()}
    return {
        name: replace(each, nodes=load.nodes) if (load := loads.get(name)) is not None else each
        for name, each in facts.items()
    }


def _of_pool(pool: PoolFacts, load: UsualLoad, now: datetime.datetime) -> Iterator[Work]:
    """The workflows of one pool. A workflow that holds more GPUs than a node has becomes a gang of Pods."""
    checkpoint = load.checkpoint_minutes
    for index in range(round(load.nodes * pool.gpus * load.busy) // load.task_gpus):
        on_node = min(load.task_gpus, pool.gpus)
        for member in range(-(-load.task_gpus // on_node)):
            yield Work(
                namespace="",
                name=f"usual-{pool.name}-{index}-{member}",
                owner=f"workflow {index + 1} as usual on {pool.name}",
                gang=f"usual-{pool.name}-{index}",
                task=f"member {member}",
                node=f"{pool.name}-usual",
                pool=pool.name,
                gpus=min(on_node, load.task_gpus - member * on_node),
                started=now - datetime.timedelta(hours=load.task_hours / 2),
                checkpoint=None if checkpoint is None else datetime.timedelta(minutes=checkpoint),
                labels={FINISH_FIRST_LABEL: "true"},
            )
