"""The version rules of the catalogue, asked about a stack.

They stand apart from the other rules: versions out of support are no fault of shape, and a record of the past may
still be looked at in the simulator. Whoever deploys for real asks here first.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from physical_ai.catalog import node_image
from physical_ai.catalog.compat import SEVERITIES, GpuStack, Severity, Verdict, judge_stack, judge_upgrade
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.paths import parse
from physical_ai.settings.loading import Loaded
from physical_ai.settings.models.node_pools import DriverSource, Pool
from physical_ai.settings.models.tree import Settings

_PLACES = {
    "operator": "gpuOperator.version",
    "chart": "gpuOperator.version",
    "kubernetes": "cluster.kubernetesVersion",
    "cdi": "gpuOperator.cdi",
    "nri": "gpuOperator.nri",
}
_RULES = {"containerd-drop-in": "gpuOperator.toolkit.runtimeConfigSource"}
"""Rules whose way out is another setting than their subject's."""


@dataclass(frozen=True)
class Judged:
    """A verdict, the setting to change, and the pools it holds for."""

    verdict: Verdict
    path: str
    """The setting, as `gpuOperator.version`; the first pool's, where each pool has its own."""
    pools: tuple[str, ...]
    """Names; empty for a verdict that is about no pool, such as an upgrade's."""

    @property
    def severity(self) -> Severity:
        return self.verdict.severity


def gpu_stacks(settings: Settings) -> dict[str, GpuStack]:
    """What meets on the nodes of each GPU pool, by pool."""
    return {name: _gpu_stack(settings, pool) for name, pool in settings.pools.items()}


def judge(settings: Settings, today: datetime.date, running: str | None = None) -> list[Judged]:
    """Every verdict on a stack's versions at a date, each once, the gravest first. Without GPU pools the operator and
    the cluster are judged on their own.

    `running` is the GPU Operator release that the cluster has now, where it is an upgrade.
    """
    upgrade = judge_upgrade(running, settings.gpu_operator.version) if running is not None else []
    found: dict[Verdict, list[str]] = {}
    for name, stack in gpu_stacks(settings).items():
        for verdict in judge_stack(stack, today):
            found.setdefault(verdict, []).append(name)
    alone = [] if settings.pools else judge_stack(_gpu_stack(settings, None), today)
    judged = [Judged(verdict, _PLACES.get(verdict.subject, "cpuPool.osSku"), ()) for verdict in (*upgrade, *alone)]
    judged += [Judged(verdict, _place(settings, pools[0], verdict), tuple(pools)) for verdict, pools in found.items()]
    return sorted(judged, key=lambda item: SEVERITIES.index(item.severity), reverse=True)


def refusals(loaded: Loaded, today: datetime.date) -> list[Fault]:
    """Why a stack must not be deployed for real at a date: each version rule it breaks, with its source and way out."""
    return [_refusal(loaded, item) for item in judge(loaded.settings, today) if item.severity == "error"]


def _refusal(loaded: Loaded, item: Judged) -> Fault:
    verdict = item.verdict
    pools = f"; pools {', '.join(item.pools)}" if item.pools else ""
    problem = f"{verdict.message} ({verdict.rule}{pools}; {verdict.source})"
    return loaded.merged.fault(parse(item.path), problem, verdict.fix)


def _gpu_stack(settings: Settings, pool: Pool | None) -> GpuStack:
    """What meets on the nodes of a GPU pool; on those of the cpu pool, without any driver, for None."""
    operator, source = settings.gpu_operator, pool.driver.source if pool else None
    return GpuStack(
        operator=operator.version,
        kubernetes=settings.cluster.kubernetes_version,
        image=node_image((pool or settings.cpu_pool).os_sku, settings.cluster.kubernetes_version),
        toolkit=operator.toolkit.version,
        runtime_config_source=operator.toolkit.runtime_config_source,
        cdi=operator.cdi,
        nri=operator.nri,
        driver=gpu_facts.driver_version(settings, pool) if pool else None,
        driver_kind="grid" if source is DriverSource.GRID else "datacenter",
        driver_owner=operator.driver_owner,
        precompiled=operator.driver.precompiled and source is DriverSource.OPERATOR,
        gpu=gpu_facts.gpu_model(pool) if pool else None,
        mig=pool is not None and (pool.sharing.mig is not None or gpu_facts.has_host_mig(pool)),
    )


def _place(settings: Settings, name: str, verdict: Verdict) -> str:
    """The setting that a verdict on a pool is about."""
    if verdict.rule in _RULES:
        return _RULES[verdict.rule]
    if verdict.subject == "driver":
        pool = settings.pools[name]
        if pool.driver.version is not None:
            return f"pools.{name}.driver.version"
        return "gridDriver.version" if pool.driver.source is DriverSource.GRID else "gpuOperator.driver.version"
    if verdict.subject == "toolkit":
        return "gpuOperator.toolkit.version" if settings.gpu_operator.toolkit.version else _PLACES["operator"]
    return _PLACES.get(verdict.subject, f"pools.{name}.osSku")
