"""Usual work of a stack's pools, as their settings describe it. The impact of a change on this work is judged if no
cluster is read.

Each workflow is assumed to have run for half of its duration, the average at the moment of a change.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from dataclasses import replace

from physical_ai.settings.facts.gpu import FINISH_FIRST_LABEL
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.usual_load import UsualLoad
from workbench.impact.pools import PoolFacts
from workbench.impact.work import LEAD_LABEL, Work


def usual_work(pools: Mapping[str, Pool], facts: Mapping[str, PoolFacts], now: datetime.datetime) -> list[Work]:
    """Workflows on pools that have the setting `usualLoad` and exist before the change."""
    return [
        work
        for name, pool in pools.items()
        if pool.usual_load is not None and name in facts
        for work in _of_pool(facts[name], pool.usual_load, now)
    ]


def usual_nodes(pools: Mapping[str, Pool], facts: Mapping[str, PoolFacts]) -> dict[str, PoolFacts]:
    """Facts of the pools, with the usual number of nodes for pools that have the setting `usualLoad`."""
    loads = {name: pool.usual_load for name, pool in pools.items()}
    return {
        name: replace(each, nodes=load.nodes) if (load := loads.get(name)) is not None else each
        for name, each in facts.items()
    }


def _of_pool(pool: PoolFacts, load: UsualLoad, now: datetime.datetime) -> Iterator[Work]:
    """The workflows of one pool. A workflow that needs more GPUs than one node has is a gang of several Pods."""
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
                labels={FINISH_FIRST_LABEL: "true", LEAD_LABEL: str(not member).lower()},
            )
