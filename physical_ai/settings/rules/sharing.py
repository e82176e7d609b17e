"""Rules about shared GPUs: which methods exclude each other, and how a GPU can be partitioned."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog import MigModel, UnknownName, machine, mig_model, operator_release
from physical_ai.catalog.gpu_lookup import version
from physical_ai.catalog.lookup import nearest
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.pools import gpu_resource
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.gpu import Mig
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules import registry as rules
from physical_ai.settings.rules.finding import SettingFinding, Trust, error, warning

COMPUTE_SLICES, MEMORY_SLICES = 7, 8
"""Numbers of compute and memory slices into which MIG divides a GPU (NVIDIA MIG user guide)."""
FEWEST = 2
"""Smallest number of replicas of a shared GPU. The parser of NVIDIA's device plugin rejects smaller numbers."""
MPS_RELAXED = (0, 20)
"""Version of the device plugin from which on MPS supports failRequestsGreaterThanOne: false (NVIDIA/k8s-device-plugin
0.20).
"""
_STRATEGY: Path = ("gpuOperator", "migStrategy")


def check_sharing(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about shared GPUs."""
    for name, pool in settings.pools.items():
        path: Path = ("pools", name)
        if not trust((*path, "sharing"), (*path, "sku")):
            continue
        if not gpu_facts.knows_gpu(pool):
            continue
        yield from _replicas(name, pool)
        yield from _exclusions(name, pool)
        yield from _mig(name, pool)
        yield from _requests(name, pool, settings, trust)
        if trust((*path, "scale")):
            yield from _empty_pool(name, pool)
    if trust(_STRATEGY, ("pools",)) and all(map(gpu_facts.knows_gpu, settings.pools.values())):
        yield from _strategy(settings)


def _replicas(name: str, pool: Pool) -> Iterator[SettingFinding]:
    for key, replicated in (("timeSlicing", pool.sharing.time_slicing), ("mps", pool.sharing.mps)):
        if replicated is not None and replicated.replicas < FEWEST:
            problem = (
                f"{replicated.replicas} replicas do not share a GPU: the device plugin rejects fewer than {FEWEST}."
            )
            setting: Path = ("pools", name, "sharing", key, "replicas")
            yield error(setting, problem, f"replicas: {FEWEST} or more, or {key}: null.", rule=rules.REPLICAS)


def _exclusions(name: str, pool: Pool) -> Iterator[SettingFinding]:
    path: Path = ("pools", name, "sharing")
    if pool.sharing.mps is None:
        return
    setting = (*path, "mps")
    if pool.sharing.time_slicing is not None:
        problem = "A GPU is shared by time-slicing or by MPS, not both: the device plugin accepts only one of them."
        fix = "Set one of the two to null."
        yield error(setting, problem, fix, others=((*path, "timeSlicing"),), rule=rules.ONE_WAY)
    if pool.sharing.mig is not None:
        problem = "MPS does not work on MIG instances: the device plugin offers it for full GPUs only."
        fix = "timeSlicing instead, or mig: null."
        yield error(setting, problem, fix, others=((*path, "mig"),), rule=rules.MPS_ON_MIG)
    if gpu_facts.has_host_mig(pool):
        problem = f"MPS does not work on {pool.sku}: its host has partitioned the GPU with MIG."
        others: tuple[Path, ...] = (("pools", name, "sku"),)
        yield error(setting, problem, "timeSlicing instead.", others=others, rule=rules.MPS_ON_MIG)


def _mig(name: str, pool: Pool) -> Iterator[SettingFinding]:
    mig, path = pool.sharing.mig, ("pools", name, "sharing", "mig")
    if mig is None:
        return
    others: tuple[Path, ...] = (("pools", name, "sku"),)
    size = machine(pool.sku)
    if gpu_facts.is_vgpu(pool):
        problem = f"A guest can't partition a vGPU: the MIG layout of {pool.sku} belongs to the host."
        fix = "timeSlicing instead, or a smaller size of the series."
        yield error(path, problem, fix, others=others, rule=rules.MIG_ON_VGPU)
        return
    model = mig_model(size.gpu.model) if size.gpu is not None and size.mig else None
    if model is None:
        problem, fix = f"The GPU of {pool.sku} has no MIG.", "timeSlicing or mps instead."
        yield error(path, problem, fix, others=others, rule=rules.MIG_SUPPORT)
        return
    unknown = [profile for profile in mig.profiles if profile not in model.profiles]
    for profile in unknown:
        near = nearest(profile, model.profiles)
        known = f"Profiles: {', '.join(model.profiles)}."
        problem = f"'{profile}' is not a MIG profile of the {model.model}."
        fix = f"Did you mean '{near}'?  {known}" if near else known
        yield error((*path, "profiles", profile), problem, fix, rule=rules.MIG_PROFILE)
    if mig.strategy == "single" and len(mig.profiles) > 1:
        problem = "The single strategy requires one profile for all instances."
        fix, strategy = "Keep one profile, or strategy: mixed.", (*path, "strategy")
        yield error((*path, "profiles"), problem, fix, others=(strategy,), rule=rules.MIG_SINGLE)
    elif not mig.profiles:
        # The device plugin exits if MIG is enabled without an instance.
        problem, fix = "No profile: the GPU would offer nothing.", "mig: null, or a profile."
        yield error((*path, "profiles"), problem, fix, rule=rules.MIG_LAYOUT)
    elif not unknown and (problem := _too_much(mig, model)):
        fix = "Fewer or smaller instances."
        yield error((*path, "profiles"), problem, fix, others=others, rule=rules.MIG_LAYOUT)


def _too_much(mig: Mig, model: MigModel) -> str | None:
    """Reason why a MIG layout does not fit one GPU; None if the layout fits."""
    if len(mig.profiles) == 1:
        [(profile, count)] = mig.profiles.items()
        most = model.profiles[profile].most
        return f"{count} × {profile} do not fit an {model.model}: at most {most}." if count > most else None
    compute = sum(count * int(profile.partition("g")[0]) for profile, count in mig.profiles.items())
    memory = sum(count * model.profiles[profile].memory for profile, count in mig.profiles.items())
    if compute > COMPUTE_SLICES:
        return f"The instances use {compute} compute slices of the {model.model}'s {COMPUTE_SLICES}."
    if memory > MEMORY_SLICES:
        return f"The instances use {memory} memory slices of the {model.model}'s {MEMORY_SLICES}."
    return None


def _requests(name: str, pool: Pool, settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    for key, replicated in (("timeSlicing", pool.sharing.time_slicing), ("mps", pool.sharing.mps)):
        if replicated is None or replicated.fail_requests_greater_than_one:
            continue
        setting: Path = ("pools", name, "sharing", key, "failRequestsGreaterThanOne")
        fix = "failRequestsGreaterThanOne: true"
        if key == "mps" and trust(("gpuOperator", "version")) and not _relaxes_mps(settings.gpu_operator.version):
            problem = f"The device plugin of GPU Operator {settings.gpu_operator.version} supports only true with MPS."
            yield error(setting, problem, fix, others=(("gpuOperator", "version"),), rule=rules.MPS_REQUESTS)
            continue
        problem = "A Pod that requests two replicas gets no second GPU, and no error."
        yield warning(setting, problem, fix, rule=rules.REQUESTS)


def _relaxes_mps(release: str) -> bool:
    try:
        return version(operator_release(release).device_plugin)[:2] >= MPS_RELAXED
    except UnknownName:
        return True


def _empty_pool(name: str, pool: Pool) -> Iterator[SettingFinding]:
    strange = [resource for resource in gpu_facts.gpu_resources(pool) if resource != gpu_resource(pool)]
    if strange and pool.scale.is_autoscaled and pool.scale.min == 0:
        problem = f"The autoscaler does not know that an empty pool would offer {strange[0]}, so no Pod that requests "
        problem += "it starts the first node (Azure/AKS#4216)."
        places: tuple[Path, ...] = (("pools", name, "scale", "min"),)
        fix = "scale.min: 1, or the single strategy without rename."
        yield warning(("pools", name, "sharing"), problem, fix, others=places, rule=rules.EMPTY_POOL)


def _strategy(settings: Settings) -> Iterator[SettingFinding]:
    """Error if `gpuOperator.migStrategy` is set and differs from the strategy that a pool needs. The operator passes
    the setting as an environment variable to every node, where it overrides the pool's own strategy.
    """
    wanted = settings.gpu_operator.mig_strategy
    if not wanted:
        return
    pools = gpu_facts.nvidia_pools(settings)
    needed = {name: gpu_facts.pool_mig_strategy(pool) for name, pool in pools.items()}
    if len(set(needed.values())) > 1:
        listed = ", ".join(f"{name} {strategy}" for name, strategy in needed.items())
        problem = f"Pools need different MIG strategies ({listed}), and '{wanted}' would override each pool's own."
        others: tuple[Path, ...] = tuple(("pools", name, "sharing") for name in needed)
        fix = 'Omit it, or migStrategy: "".'
        yield error(_STRATEGY, problem, fix, others=others, rule=rules.STRATEGY_DIFFERS)
        return
    for name, pool in pools.items():
        others = (("pools", name, "sharing"), ("pools", name, "sku"))
        fix = f"Omit it, or migStrategy: {needed[name]}."
        if pool.sharing.mps is not None and wanted == "mixed":
            problem = f"The device plugin rejects MPS (pool {name}) with 'mixed'."
            yield error(_STRATEGY, problem, fix, others=others, rule=rules.STRATEGY_MPS)
        elif pool.sharing.mig is not None and wanted != needed[name]:
            problem = f"Pool {name} has MIG instances for the strategy '{needed[name]}', not '{wanted}'."
            yield error(_STRATEGY, problem, fix, others=others, rule=rules.STRATEGY_POOL)
        elif gpu_facts.has_host_mig(pool) and wanted != "single":
            problem = f"With '{wanted}' the vGPUs of pool {name} are not offered as nvidia.com/gpu by a MIG id"
            problem += ": CUDA fails on the id of the full GPU." if wanted == "none" else ": no Pod finds them."
            yield error(_STRATEGY, problem, fix, others=others, rule=rules.STRATEGY_POOL)
