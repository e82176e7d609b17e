"""Impact of a preview on running work, which is read from a cluster or a recording, or is not known."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from physical_ai.catalog.hardware import machine
from physical_ai.catalog.lookup import UnknownName
from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE
from physical_ai.catalog.own_names import DRIVER_LABEL
from physical_ai.catalog.system_namespaces import SYSTEM_NAMESPACES
from physical_ai.kubernetes.objects import at
from physical_ai.planning import namespaces
from physical_ai.readiness.upgrade_budgets import is_forced
from workbench.cli.preview.change_list import planned
from workbench.cli.preview.model import Preview
from workbench.impact import Budgets, Impact, Situation, judge, read_situation
from workbench.impact.pools import PoolFacts
from workbench.impact.telling import Seen
from workbench.impact.usual import usual_nodes, usual_work

if TYPE_CHECKING:
    from physical_ai.readiness.reader import Get
    from workbench.cli.requested_stack import RequestedStack

FRESH_HOURS = 1.0
"""Age of a recording in hours from which on its work is said to be old."""
NOTHING = Situation((), {})


def judged(
    requested: RequestedStack,
    preview: Preview,
    *,
    kubeconfig: Path | None = None,
    context: str | None = None,
    recording: Path | None = None,
    simulated: bool = False,
    usual: bool = False,
) -> tuple[Impact, Seen]:
    """Impact of a preview on running work, and the source of the facts about the work.

    The work is read from the cluster of `kubeconfig`, from `recording`, or with `simulated` from the stack's
    simulation. With `usual`, the usual load in the pools' settings takes the place of running work. If a cluster cannot
    be read, no error is raised; the impact then says that the running work is not known.
    """
    pools = pool_facts(preview.deployed.pools, preview.nodes)
    if usual:
        return _usual(requested, preview, pools)
    found, seen = _situation(requested, kubeconfig, context, recording, simulated=simulated and preview.deployed.exists)
    now = seen.at or datetime.datetime.now(datetime.UTC)
    # Azure's facts count more; the cluster's own are of pools that Azure does not list, as in an existing cluster.
    forced = is_forced(requested.loaded.settings.cluster.upgrades.forced_until, now)
    budgets = Budgets(found.refusing, forced)
    return judge(planned(preview.run), found.work, {**found.pools, **pools}, now, budgets), seen


def _usual(requested: RequestedStack, preview: Preview, facts: Mapping[str, PoolFacts]) -> tuple[Impact, Seen]:
    pools, now = requested.loaded.settings.pools, datetime.datetime.now(datetime.UTC)
    if all(pool.usual_load is None for pool in pools.values()):
        return judge(planned(preview.run), [], facts, now), Seen(known=False)
    work = usual_work(pools, facts, now)
    seen = Seen(known=True, source="the usual load of pools (pools.<pool>.usualLoad)")
    return judge(planned(preview.run), work, usual_nodes(pools, facts), now), seen


def is_judged(preview: Preview) -> bool:
    """True if a preview changes resources that exist. Only such a preview can affect running work."""
    return preview.deployed.exists and bool(planned(preview.run))


def pool_facts(pools: Sequence[Mapping[str, Any]], nodes: Mapping[str, int]) -> dict[str, PoolFacts]:
    """Facts about pools that are in the form of Azure Resource Manager. `nodes`: present number of
    nodes of each pool.
    """
    return {str(pool["name"]): _facts(str(pool["name"]), pool, nodes) for pool in pools}


def _facts(name: str, pool: Mapping[str, Any], nodes: Mapping[str, int]) -> PoolFacts:
    labels: dict[str, str] = dict(pool.get("nodeLabels") or {})
    try:
        gpu = machine(str(pool.get("vmSize"))).gpu
    except UnknownName:
        gpu = None
    count = nodes.get(name, int(pool.get("count") or 0))
    return PoolFacts(
        name=name,
        nodes=count,
        gpus=gpu.count if gpu else 0,
        model=gpu.model if gpu else "",
        driver=labels.get(DRIVER_LABEL, ""),
        spot=pool.get("scaleSetPriority") == "Spot",
        reservation=str(pool.get("capacityReservationGroupID") or ""),
        surge=_surge(str(at(pool, "upgradeSettings.maxSurge", "0")), count),
        vendor=gpu.vendor.name if gpu else "",
        labels=labels,
    )


def _surge(text: str, nodes: int) -> int:
    """Number of extra nodes that an upgrade creates. `text`: a number, or a percentage of `nodes` that is rounded up,
    as AKS does.
    """
    number = text.rstrip("%")
    if not number.isdigit():
        return 0
    return -(-int(number) * nodes // 100) if text.endswith("%") else int(number)


def _situation(
    requested: RequestedStack, kubeconfig: Path | None, context: str | None, recording: Path | None, *, simulated: bool
) -> tuple[Situation, Seen]:
    from physical_ai.readiness import Unreachable, Unusable
    from simulator.errors import SimulationError
    from workbench.cli.cluster_gates import cluster_of
    from workbench.cli.recorded import opened

    settings, stack = requested.loaded.settings, requested.input.stack
    if recording is not None:
        recorded = opened(recording, stack, kubeconfig=kubeconfig, context=context)
        found, seen = _read(requested, recorded.target(requested.loaded).get, f"recording {recording}", recorded.now)
        age = aged(recorded.now, datetime.datetime.now(datetime.UTC))
        return found, replace(seen, doubts=(*age, *seen.doubts))
    if kubeconfig is None and not simulated:
        return NOTHING, Seen(known=False)
    try:
        target = cluster_of(stack, kubeconfig, settings, context)
        return _read(requested, target.get, f"cluster {target.name}", datetime.datetime.now(datetime.UTC))
    except (Unreachable, Unusable, SimulationError) as problem:
        return NOTHING, Seen(known=False, source=f"no cluster: {problem}")


def _read(requested: RequestedStack, get: Get, source: str, time: datetime.datetime) -> tuple[Situation, Seen]:
    created = namespaces.created(requested.loaded.settings, requested.loaded.plan)
    platform = {*SYSTEM_NAMESPACES, *created} - {WORKFLOWS_NAMESPACE}
    found = read_situation(get, platform)
    return found, Seen(known=True, source=source, at=time, doubts=found.doubts)


def aged(recorded: datetime.datetime, now: datetime.datetime) -> list[str]:
    """Sentence about a recording that is old enough for its work to have changed, and what may have; else empty."""
    hours = (now - recorded).total_seconds() / 3600
    if hours < FRESH_HOURS:
        return []
    age = f"{hours / 24:.0f} days" if hours >= 48 else f"{hours:.0f} hours"
    return [
        f"the recording is {age} old: work has ended and begun since, nodes have come and gone, and GPU-hours are as of"
        " its time. Record again, or read the cluster with --kubeconfig"
    ]
