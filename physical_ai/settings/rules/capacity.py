"""Rules about the capacity of GPU pools: pools that serve one platform together, and reserved machines."""

from __future__ import annotations

from collections.abc import Iterator

from parts.slurm.facts import is_slurms
from physical_ai.catalog import vm_sizes
from physical_ai.catalog.capacity import CAPACITY_RESERVATIONS, CAPACITY_SOURCE, limit, reservable
from physical_ai.settings.facts.capacity import reserved_machines, serving
from physical_ai.settings.facts.gpu import gpu_resources, knows_gpu
from physical_ai.settings.facts.pools import gpu_resource, gpus_per_node
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error, warning

ALIKE = ("sku", "sharing", "driver", "fabric", "allocation", "os_sku")
"""Settings that the pools of one platform have in common: a task gets the same node whichever pool it is of."""
_KEYS = {"os_sku": "osSku"}
KINDS = {"managedGpu": "managed-gpu", "autoProvisioned": "auto-provisioning"}
"""Kinds of pools that do not fit this platform, each with the limit that says why."""


def limit_rule(name: str) -> Rule:
    """Rule whose source is that of a limit in the catalogue."""
    return Rule(name, f"{CAPACITY_SOURCE}; {limit(name).source}")


ALONE = Rule("platform-alone", "docs/capacity.md#spot-first-then-on-demand")
DIFFERENT = Rule("platform-different", "docs/capacity.md#spot-first-then-on-demand")
NAMED_TWICE = Rule("platform-named-twice", "docs/capacity.md#spot-first-then-on-demand")


def check_capacity(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about `pools.<pool>.capacity`."""
    asked = {pool.capacity.platform: None for pool in settings.pools.values() if pool.capacity.platform is not None}
    for platform in asked:
        if trust(*(("pools", name) for name in serving(settings, platform))):
            yield from _platform(settings, platform)
    for name, pool in settings.pools.items():
        if trust(("pools", name)):
            yield from _reservation(name, pool)
            yield from _warm(name, pool, settings)
            yield from _empty(name, pool)
            yield from _kind(name, pool)


def _reservation(name: str, pool: Pool) -> Iterator[SettingFinding]:
    place, reservation = _reserved(name), pool.capacity.reservation
    if reservation is None:
        return
    if pool.is_spot:
        problem = "Spot machines cannot be from a capacity reservation."
        others: tuple[Path, ...] = (("pools", name, "priority"),)
        yield error(
            place, problem, "priority: Regular, or remove it.", others=others, rule=limit_rule("reservation-spot")
        )
    size = vm_sizes().get(pool.sku)
    found = reservable(size.series) if size is not None else "unknown"
    others = (("pools", name, "sku"),)
    if found == "no":
        problem = f"Azure makes no capacity reservations of {pool.sku}."
        fix = f"Remove it, or another sku. If `physai check` says otherwise, correct {CAPACITY_RESERVATIONS}."
        yield error(place, problem, fix, others=others, rule=limit_rule("reservation-sizes"))
    elif found == "unknown":
        problem = f"Whether Azure makes capacity reservations of {pool.sku} is not documented."
        fix = f"`physai check` asks Azure; write the answer to {CAPACITY_RESERVATIONS}."
        yield warning(place, problem, fix, others=others, rule=limit_rule("reservation-sizes"))
    machines = reserved_machines(pool)
    if machines > pool.scale.most:
        problem = f"{machines} machines are reserved and billed, and the pool has at most {pool.scale.most} nodes."
        yield warning(
            (*place, "machines"), problem, "Fewer machines, or a larger scale.", rule=limit_rule("reservation-more")
        )


def _warm(name: str, pool: Pool, settings: Settings) -> Iterator[SettingFinding]:
    place, nodes = _warmed(name), pool.capacity.warm
    if not nodes:
        return
    if not settings.osmo.installs_backend:
        problem = "KAI takes the GPUs of the nodes that are kept ready for work, and this stack does not install it."
        fix, others = "osmo.mode: backend or platform, or scale.min.", (("osmo", "mode"),)
        yield error(place, problem, fix, others=others, rule=limit_rule("warm-kai"))
    if is_slurms(settings, name) or pool.uses_claims:
        whose = "Slurm schedules the work of this pool" if is_slurms(settings, name) else "Pods have its GPUs by claims"
        yield error(
            place, f"{whose}, and KAI could not take a node back for it.", "scale.min.", rule=limit_rule("warm-kai")
        )
    if pool.sharing.time_slicing is not None or pool.sharing.mps is not None:
        problem = "One Pod cannot hold all shares of the GPUs of a node, so none can keep a node ready."
        others = (("pools", name, "sharing"),)
        yield error(place, problem, "scale.min.", others=others, rule=limit_rule("warm-shares"))
    if not pool.scale.is_autoscaled:
        problem = "The pool has a fixed number of nodes: the autoscaler adds none for those that work takes."
        others = (("pools", name, "scale"),)
        yield error(place, problem, "scale: {min: 0, max: …}.", others=others, rule=limit_rule("warm-kai"))
    elif nodes > pool.scale.most:
        problem = f"{nodes} nodes cannot be kept ready: the pool has at most {pool.scale.most}."
        others = (("pools", name, "scale", "max"),)
        yield error(place, problem, f"At most {pool.scale.most}, or a larger scale.max.", others=others)


def _empty(name: str, pool: Pool) -> Iterator[SettingFinding]:
    """Findings about what the autoscaler expects of the first node of an empty pool."""
    if not knows_gpu(pool):
        return
    offered, whole = gpu_resources(pool), gpu_resource(pool)
    place: Path = ("pools", name, "capacity", "announced")
    strange = [resource for resource in offered if resource != whole]
    if pool.capacity.announced and (strange or not offered):
        instead = ", ".join(strange) or "claims"
        problem = f"The autoscaler never counts nodes as ready that offer {instead} in place of {whole}."
        fix = "Remove it, and scale.min: 1; or the single strategy without rename."
        others: tuple[Path, ...] = (("pools", name, "sharing"),)
        yield error(place, problem, fix, others=others, rule=limit_rule("empty-mixed"))
    count, gpus = offered.get(whole, 0), gpus_per_node(pool)
    if not pool.capacity.announced and pool.scale.is_autoscaled and pool.scale.min == 0 and count > gpus:
        problem = (
            f"The autoscaler expects {gpus} × {whole} of the first node, which offers {count}:"
            f" for {count} Pods it adds {-(-count // gpus)} nodes."
        )
        others = (("pools", name, "sharing"), ("pools", name, "scale", "min"))
        yield warning(
            place, problem, "announced: true, or scale.min: 1.", others=others, rule=limit_rule("empty-count")
        )


def _kind(name: str, pool: Pool) -> Iterator[SettingFinding]:
    row = KINDS.get(pool.capacity.kind)
    if row is not None:
        found = limit(row)
        yield error(("pools", name, "capacity", "kind"), found.says, found.instead, rule=limit_rule(row))


def _platform(settings: Settings, platform: str) -> Iterator[SettingFinding]:
    first, *others = serving(settings, platform)
    if not others:
        problem = f"No other pool serves the platform '{platform}', so none stands in for {first}."
        fix = f"capacity: {{platform: {platform}}} for another pool too, or osmo.platforms.{first}.name."
        yield error(_path(first), problem, fix, rule=ALONE)
        return
    for name in (first, *others):
        pool = settings.pools[name]
        if not pool.scale.is_autoscaled:
            problem = f"Pool {name} has a fixed number of nodes, and its platform grows where Azure has machines."
            place: Path = ("pools", name, "scale")
            yield error(
                place, problem, "scale: {min: 0, max: …}.", others=(_path(name),), rule=limit_rule("spot-minutes")
            )
        if is_slurms(settings, name):
            problem = f"Slurm schedules the work of pool {name}, so OSMO has no platform there."
            yield error(_path(name), problem, "Remove it.", rule=ALONE)
        if name != first and name in settings.osmo.platforms:
            problem = f"The platform '{platform}' has the settings of pool {first}; those of {name} have no effect."
            yield error(
                ("osmo", "platforms", name), problem, f"Write them as osmo.platforms.{first}.", rule=NAMED_TWICE
            )
    own = settings.osmo.platforms.get(first)
    if own is not None and own.name is not None:
        problem = f"The platform of pool {first} has two names, '{own.name}' and '{platform}'."
        fix = "Remove one of them."
        yield error(("osmo", "platforms", first, "name"), problem, fix, others=(_path(first),), rule=NAMED_TWICE)
    for name in others:
        yield from _alike(settings, first, name)


def _alike(settings: Settings, first: str, name: str) -> Iterator[SettingFinding]:
    for field in ALIKE:
        one, other = getattr(settings.pools[first], field), getattr(settings.pools[name], field)
        if one != other:
            key = _KEYS.get(field, field)
            problem = f"A task of the platform would get another node in pool {name} than in {first}: {key} differs."
            place: Path = ("pools", name, key)
            fix = f"The same {key} as pools.{first}, or another platform."
            yield error(place, problem, fix, others=(_path(name), ("pools", first, key)), rule=DIFFERENT)


def _reserved(name: str) -> Path:
    return ("pools", name, "capacity", "reservation")


def _warmed(name: str) -> Path:
    return ("pools", name, "capacity", "warm")


def _path(name: str) -> Path:
    return ("pools", name, "capacity", "platform")
