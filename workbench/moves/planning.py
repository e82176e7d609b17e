"""Plan of a move from a stack's settings: both pools, the settings of each stage, and what stands against the move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any

from physical_ai.nested import at, is_mapping
from physical_ai.settings import Loaded, Overlay, Pool, Settings
from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.facts.osmo import base_names, gpu_platforms
from physical_ai.settings.facts.pools import gpus_per_node, node_pools
from physical_ai.settings.facts.private_network import service_subnets
from physical_ai.settings.rules.network import free_block
from workbench.moves.layers import Move, Platform, State, beside, new_pool
from workbench.moves.request import NODE_IMAGE, Refused, name_of_new, values


@dataclass(frozen=True)
class Wish:
    """Request of the command line: the old pool, the new pool's settings, and its name."""

    pool: str
    to: Mapping[str, str]
    name: str | None = None


def planned(loaded: Loaded, wish: Wish) -> Move:
    """The move that a stack with these settings makes.

    Raises:
        Refused: the stack has no such pool, its cluster is not created by the project, or no address range is free.
        SettingsError: a requested setting cannot be read.
    """
    settings, old = loaded.settings, wish.pool
    _check_pool(settings, old)
    described = {str(path[1]) for path in loaded.merged.sources if len(path) > 1 and path[0] == "pools"}
    taken = set(node_pools(settings))
    new = name_of_new(old, taken, described - taken, wish.name)
    before: dict[str, Any] = dict(loaded.merged.data["pools"][old])
    requested = values(wish.to, new)
    subnet = None if "subnet" in requested else _free_subnet(settings, settings.pools[old])
    pool = new_pool(before, requested, subnet)
    below = any(old in (each.data.get("pools") or {}) for each in _lower(loaded))
    scale: dict[str, Any] = pool["scale"]
    return Move(
        settings.stack,
        old,
        new,
        dict(wish.to),
        pool,
        beside(scale),
        before,
        _platform(settings, loaded, old),
        below,
    )


def _check_pool(settings: Settings, old: str) -> None:
    if settings.record or not creates_cluster(settings):
        what = "records the past" if settings.record else "is installed in a cluster that exists"
        raise Refused(f"{settings.stack} {what}: its node pools are not created by this project")
    if old not in settings.pools:
        others = [each for each in node_pools(settings) if each not in settings.pools]
        if old in others:
            raise Refused(f"{old} has no GPUs; a move is for GPU pools: {', '.join(settings.pools)}")
        raise Refused(f"{settings.stack} has no pool '{old}'; its GPU pools: {', '.join(settings.pools) or 'none'}")


def _lower(loaded: Loaded) -> Sequence[Any]:
    return loaded.merged.layers[: loaded.merged.rank(loaded.merged.last)]


def _free_subnet(settings: Settings, pool: Pool) -> str:
    """The first free range of the size of the old pool's subnet. Raises Refused if there is none."""
    space = settings.network.address_space
    taken: list[IPv4Network] = [settings.network.system_subnet]
    taken += [each.subnet for each in settings.pools.values()]
    taken += [each.cidr for each in service_subnets(settings)]
    prefix = pool.subnet.prefixlen
    free = free_block(prefix, space, taken)
    if free is None:
        raise Refused(
            f"the new pool needs a subnet of its own, and no /{prefix} is free in network.addressSpace {space};"
            " name a smaller range with --to subnet=CIDR"
        )
    return str(free)


def _platform(settings: Settings, loaded: Loaded, old: str) -> Platform | None:
    if old not in {each.pool for each in gpu_platforms(settings)}:
        return None
    names = base_names(settings)
    given: Mapping[str, Any] = at(loaded.merged.data, "osmo.platforms", {})
    own: Mapping[str, Any] = given.get(old) or {}
    resting = old if old != names[old] and old not in names.values() else f"{old}-old"
    return Platform(names[old], resting, dict(own))


def own_values(loaded: Loaded, old: str) -> dict[str, Any]:
    """Settings of the old pool and its platform in the stack file itself."""
    data = loaded.merged.last.data
    found: dict[str, Any] = {}
    pools: Mapping[str, Any] = at(data, "pools", {})
    platforms: Mapping[str, Any] = at(data, "osmo.platforms", {})
    if old in pools:
        found["pools"] = {old: pools[old]}
    if old in platforms:
        found["osmo"] = {"platforms": {old: platforms[old]}}
    return found


def overlay(layer: Mapping[str, Any]) -> Overlay:
    return Overlay("the move", layer)


def problems_of(move: Move, settings: Mapping[State, Settings]) -> list[str]:
    """Texts about what stands against a move: the new pool is like the old one."""
    old, new = settings["both"].pools[move.old], settings["both"].pools[move.new]
    found: list[str] = []
    if NODE_IMAGE not in move.to and _same(old, new):
        given = ", ".join(f"{path}={value}" for path, value in move.to.items())
        found.append(f"{move.old} has these values already: {given}")
    return found


def notes_of(move: Move, settings: Mapping[State, Settings]) -> list[str]:
    """Notes for a reader of the plan. They do not stand against the move."""
    old, new = settings["both"].pools[move.old], settings["both"].pools[move.new]
    before, after = gpus_per_node(old), gpus_per_node(new)
    found: list[str] = []
    if after < before:
        found.append(
            f"a node of {move.new} has {after} GPUs, and one of {move.old} has {before}: tasks with more than {after}"
            " no longer fit"
        )
    if settings["both"].protect:
        found.append(
            f"{move.stack} has protect: true, so Pulumi refuses to delete {move.old}: before the stage remove, deploy"
            " with protect: false, or use pulumi state unprotect"
        )
    if move.platform is not None and settings["both"].osmo.mode != "platform":
        found.append(
            "OSMO's service is elsewhere: after the stage switch, give it the values of physai osmo values"
            f" {move.stack}"
        )
    return found


def _same(old: Pool, new: Pool) -> bool:
    apart = {"azure_subnet", "scale"}
    return old.model_dump(exclude=apart) == new.model_dump(exclude=apart)


def other_change(loaded: Loaded, move: Move, state: State, cap: int | None) -> list[str]:
    """Settings of the two pools that somebody else has changed since the move began, each as a text.

    `state`: settings that the move has written into the stack's files; `original` in a rehearsal, which writes nothing.
    """
    from workbench.moves.layers import layer
    from workbench.moves.request import merged

    expected = merged({"pools": {move.old: move.before}}, layer(move, state, cap))["pools"]
    present: Mapping[str, Any] = loaded.merged.data.get("pools") or {}
    found: list[str] = []
    for name in (move.old, move.new):
        found += _differences(f"pools.{name}", expected.get(name), present.get(name))
    return found


def _differences(path: str, expected: Any, present: Any) -> list[str]:
    if is_mapping(expected) and is_mapping(present):
        keys = dict.fromkeys([*expected, *present])
        return [line for key in keys for line in _differences(f"{path}.{key}", expected.get(key), present.get(key))]
    if expected == present or (not expected and not present):
        return []
    return [f"{path} is {_said(present)}, and was {_said(expected)} when the move began"]


def _said(value: Any) -> str:
    return "absent" if value is None else str(value)
