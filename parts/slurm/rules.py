"""Rules about a Slurm cluster: each GPU has one scheduler, and Slurm can use the nodes of its pools."""

from __future__ import annotations

from collections.abc import Iterator

from parts.slurm.names import TAINT, TAINT_KEY, WORKER_BUDGET
from physical_ai.catalog import nearest
from physical_ai.catalog.vendors import NVIDIA
from physical_ai.settings.facts.gpu import knows_gpu
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import gpu_vendor
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

SLURM: Path = ("slurm",)
POOLS: Path = ("slurm", "pools")
ONE_SCHEDULER = Rule("slurm-one-scheduler", "SlinkyProject/slurm-operator docs, usage/workload-isolation")
WHOLE_GPUS = Rule("slurm-whole-gpus", "Slurm docs, gres.conf: AutoDetect finds whole GPUs")
DETECTED = Rule("slurm-detected-gpus", "Slurm docs, gres.conf: AutoDetect=nvidia")
BUDGET = Rule("slurm-upgrade-budget", "SlinkyProject/slurm-operator v1.2.1, worker_pdb.go; Azure/AKS#4805")
NODES = Rule("slurm-nodes", "SlinkyProject/slurm-operator docs, concepts/nodeset-controller: scalingMode DaemonSet")


def check_slurm(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about `slurm`."""
    yield from _strays(settings, trust)
    given = settings.slurm
    if given is None or not trust(POOLS):
        return
    if (problem := refused_upgrades(settings)) and trust(("cluster",)):
        yield warning(SLURM, problem, BUDGET_FIX, rule=BUDGET)
    for index, name in enumerate(given.pools):
        setting = (*POOLS, index)
        pool = settings.pools.get(name)
        if name in given.pools[:index]:
            yield error(setting, f"'{name}' is listed twice.", "List each pool once.")
        elif pool is None:
            near = nearest(name, settings.pools)
            known = ", ".join(settings.pools)
            fix = f"Did you mean '{near}'?" if near else f"GPU pools: {known}."
            yield error(setting, f"There is no GPU pool '{name}'.", fix)
        elif trust(("pools", name)):
            yield from _pool(setting, name, pool, settings)


BUDGET_FIX = (
    "For an upgrade, drain the nodes in Slurm, and set cluster.upgrades.forceUntil to a time soon after it begins; or"
    " remove slurm before it."
)


def refused_upgrades(settings: Settings) -> str:
    """Message that AKS refuses upgrades because of Slurm's PodDisruptionBudget. Empty if the stack has no Slurm, if AKS
    starts no upgrades itself, or if the settings force upgrades.
    """
    if settings.slurm is None or settings.cluster.azure_upgrades is None or settings.cluster.azure_upgrades.force_until:
        return ""
    return (
        f"Slurm's operator keeps the disruption budget {WORKER_BUDGET} with maxUnavailable 0, for which AKS refuses"
        " every upgrade of Kubernetes and of node images (UnsatisfiablePDB), also those of a maintenance window."
    )


def _pool(here: Path, name: str, pool: Pool, settings: Settings) -> Iterator[SettingFinding]:
    """Findings about a pool that Slurm is to schedule."""
    at: Path = ("pools", name)
    if TAINT_KEY not in {split_taint(taint)[0] for taint in pool.taints}:
        problem = f"Other Pods could take the GPUs of '{name}': its nodes do not have Slurm's taint."
        yield error((*at, "taints"), problem, f"taints: [{TAINT}]", others=(here,), rule=ONE_SCHEDULER)
    if name in settings.osmo.platforms:
        problem = f"'{name}' is Slurm's, so OSMO has no platform for it."
        fix = f"Remove it here, or '{name}' from slurm.pools."
        yield error(("osmo", "platforms", name), problem, fix, others=(here,), rule=ONE_SCHEDULER)
    if pool.sharing.model_dump(exclude_none=True, exclude_defaults=True):
        problem = f"'{name}' shares its GPUs, and Slurm divides whole ones among jobs."
        yield error((*at, "sharing"), problem, "Remove sharing.", others=(here,), rule=WHOLE_GPUS)
    if knows_gpu(pool) and gpu_vendor(pool) != NVIDIA:
        problem = f"slurmd of the pinned images detects NVIDIA's GPUs; those of '{name}' are not."
        yield error(here, problem, "Give these nodes to Jobs or KAI.", rule=DETECTED)
    if pool.scale.least == 0:
        problem = f"'{name}' may have no node, and Slurm does not ask for one: its jobs would wait indefinitely."
        fix = "scale: {count: 2}, or a min above 0."
        yield error((*at, "scale"), problem, fix, others=(here,), rule=NODES)
    elif pool.scale.is_autoscaled:
        problem = f"Slurm does not ask for nodes of '{name}': the pool stays at its min, {pool.scale.least}."
        yield warning((*at, "scale"), problem, "scale: {count: …}", others=(here,), rule=NODES)


def _strays(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Errors of pools that have Slurm's taint but are not in `slurm.pools`: no Pod would run there."""
    named = settings.slurm.pools if settings.slurm is not None else ()
    for name, pool in settings.pools.items():
        if name in named or not trust(("pools", name, "taints"), POOLS):
            continue
        if TAINT_KEY in {split_taint(taint)[0] for taint in pool.taints}:
            problem = f"'{name}' has Slurm's taint and is not in slurm.pools: nothing would run there."
            fix = f"slurm.pools: [{name}], or remove the taint."
            yield error(("pools", name, "taints"), problem, fix, others=(POOLS,), rule=ONE_SCHEDULER)
