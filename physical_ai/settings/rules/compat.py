"""Version rules of the catalogue, applied to a stack.

These rules are separate from the rules that make settings invalid. A stack with an unsupported version is valid and may
run in the simulator, such as a stack with `record: true`, which documents a past architecture. Only its deployment to
Azure is refused.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from physical_ai.catalog import node_image
from physical_ai.catalog.compat import GpuStack, judge_stack, judge_upgrade, key_versions
from physical_ai.catalog.postgres import postgres_versions
from physical_ai.findings import Finding, Severity
from physical_ai.planning.gpu_operator import files
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.data_services import managed
from physical_ai.settings.facts.pools import driver_facts
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.paths import parse
from physical_ai.settings.loaded import Loaded
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

_PLACES = {
    "operator": "gpuOperator.version",
    "chart": "gpuOperator.version",
    "kubernetes": "cluster.kubernetesVersion",
    "cdi": "gpuOperator.cdi",
    "nri": "gpuOperator.nri",
}
_RULES = {"containerd-drop-in": "gpuOperator.toolkit.runtimeConfigSource"}
"""Path of the setting that corrects a finding, by the id of the finding's rule. For other rules, the path follows from
the software that the finding is about.
"""
_OF_NODE_IMAGES = ("containerd-untested", "containerd-drop-in", "nri-containerd", "toolkit-schema")
"""Rules about the containerd of AKS's node images.

They are skipped for an existing cluster, where `physai check` reads containerd's version on the nodes instead.
"""

_NOTICE = datetime.timedelta(days=180)
"""Time before the end of Azure's support for a PostgreSQL version from which on a warning is shown: a major upgrade
needs planning.
"""


@dataclass(frozen=True, kw_only=True)
class VersionFinding(Finding):
    """A finding about versions. `where` is the path of the setting to change; if each pool has its own setting, the
    path for the first pool.
    """

    subject: str
    """Software that the rule is about: operator, kubernetes, containerd, toolkit, driver …"""
    pools: tuple[str, ...] = ()
    """Names of the pools that the finding applies to; empty for a finding about the cluster or an upgrade."""


def gpu_stacks(settings: Settings) -> dict[str, GpuStack]:
    """Versions that are combined on the nodes of each GPU pool, by pool."""
    return {name: _gpu_stack(settings, pool) for name, pool in gpu_facts.nvidia_pools(settings).items()}


def judge(settings: Settings, today: datetime.date, running: str | None = None) -> list[VersionFinding]:
    """Findings about a stack's versions at a date, each once, the most severe first.

    Without GPU pools, only the operator and the cluster are checked.

    `running` is the GPU Operator release in the cluster, to check an upgrade.
    """
    upgrade = judge_upgrade(running, settings.gpu_operator.version) if running is not None else []
    found: dict[Finding, list[str]] = {}
    for name, stack in gpu_stacks(settings).items():
        for finding in _judged(settings, stack, today):
            found.setdefault(finding, []).append(name)
    alone = [] if gpu_facts.nvidia_pools(settings) else _judged(settings, _gpu_stack(settings, None), today)
    judged = [_at(finding, _PLACES.get(finding.where, "cpuPool.osSku")) for finding in (*upgrade, *alone)]
    judged += [_at(finding, _setting(settings, pools[0], finding), *pools) for finding, pools in found.items()]
    judged += _database(settings, today)
    return sorted(judged, key=lambda finding: finding.severity.rank, reverse=True)


def _database(settings: Settings, today: datetime.date) -> list[VersionFinding]:
    """Finding about a managed database whose version Azure no longer supports, or only for a short time."""
    given = managed(settings)
    known = postgres_versions().get(given.postgres.version) if given is not None else None
    if known is None or known.end > today + _NOTICE:
        return []
    past = known.end < today
    problem = f"Azure's standard support of PostgreSQL {known.version} {'ended' if past else 'ends'} on {known.end}"
    problem += ": it makes no new server of it, and charges for one that exists." if past else "."
    fix = f"Raise it, to {list(postgres_versions())[-1]} at most; it cannot be lowered again."
    where, rule = "dataServices.postgres.version", "postgres-support"
    return [VersionFinding(Severity.WARNING, rule, where, problem, fix, known.source, subject="postgresql")]


def of_charts(loaded: Loaded) -> list[VersionFinding]:
    """Findings about charts whose list of value keys was read from another version than the pinned one. The GPU
    Operator's chart is left out, because `judge` reports it.
    """
    others = (chart for chart in loaded.plan.charts if chart.name != files.CHART)
    return [_at(finding, finding.where) for finding in key_versions(others)]


def _judged(settings: Settings, stack: GpuStack, today: datetime.date) -> list[Finding]:
    found = judge_stack(stack, today)
    return found if creates_cluster(settings) else [each for each in found if each.rule not in _OF_NODE_IMAGES]


def _at(finding: Finding, setting: str, *pools: str) -> VersionFinding:
    return VersionFinding(
        finding.severity,
        finding.rule,
        setting,
        finding.problem,
        finding.fix,
        finding.source,
        subject=finding.where,
        pools=pools,
    )


def refusals(loaded: Loaded, today: datetime.date) -> list[Fault]:
    """Reasons not to deploy a stack at the date `today`: the version rules that the stack violates, with source and
    fix.
    """
    return [_refusal(loaded, item) for item in judge(loaded.settings, today) if item.is_error]


def _refusal(loaded: Loaded, item: VersionFinding) -> Fault:
    pools = f"; pools {', '.join(item.pools)}" if item.pools else ""
    problem = f"{item.problem} ({item.rule}{pools}; {item.source})"
    return loaded.merged.fault(parse(item.where), problem, item.fix)


def _gpu_stack(settings: Settings, pool: Pool | None) -> GpuStack:
    """Versions on the nodes of a GPU pool: operator, Kubernetes, node image, toolkit, driver. For `pool` None: on the
    nodes of the CPU pool, without a driver.
    """
    operator = settings.gpu_operator
    return GpuStack(
        operator=operator.version,
        kubernetes=settings.cluster.kubernetes_version,
        image=node_image((pool or settings.cpu_pool).os_sku, settings.cluster.pools_version),
        toolkit=operator.toolkit.version,
        runtime_config_source=operator.toolkit.runtime_config_source,
        cdi=operator.cdi,
        nri=operator.nri,
        driver=gpu_facts.driver_version(settings, pool) if pool else None,
        driver_kind=driver_facts(pool).kind if pool else "datacenter",
        driver_owner=operator.driver_owner,
        precompiled=pool is not None and gpu_facts.is_precompiled(settings, pool),
        gpu=gpu_facts.gpu_model(pool) if pool else None,
        mig=pool is not None and (pool.sharing.mig is not None or gpu_facts.has_host_mig(pool)),
        long_term=settings.cluster.long_term,
        production=settings.environment == "prod" and not settings.record,
    )


def _setting(settings: Settings, name: str, finding: Finding) -> str:
    """Path of the setting that corrects a finding about a pool."""
    if finding.rule in _RULES:
        return _RULES[finding.rule]
    if finding.where == "driver":
        pool = settings.pools[name]
        if pool.driver.version is not None:
            return f"pools.{name}.driver.version"
        return f"{driver_facts(pool).defaults or 'gpuOperator.driver'}.version"
    if finding.where == "toolkit":
        return "gpuOperator.toolkit.version" if settings.gpu_operator.toolkit.version else _PLACES["operator"]
    return _PLACES.get(finding.where, f"pools.{name}.osSku")
