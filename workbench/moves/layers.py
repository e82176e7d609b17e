"""Settings of a stack at each stage of a move, as a layer over the stack's own settings.

A stack has one of four states: `original`; `both`, with the second pool beside the first; `switched`, in which new work
goes to the new pool; `moved`, without the old pool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from workbench.moves.request import merged

State = Literal["original", "both", "switched", "moved"]
Keys = tuple[str, ...]


@dataclass(frozen=True)
class Platform:
    """OSMO platform of the old pool, before the move.

    Attributes:
        name: Name that workflows use.
        own: Settings of the platform in the stack's files; empty if there are none.
        resting: Name of the old pool's platform while new work goes to the new pool.
    """

    name: str
    resting: str
    own: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Move:
    """A move of a pool's work: from which pool, to which pool, and what the stack's files say about both.

    Attributes:
        to: Requested settings, as texts by path below the pool.
        pool: Complete settings of the new pool at the end of the move.
        beside: Scale of the new pool while the old one exists, with at least one node.
        before: Complete settings of the old pool in the stack's files.
        platform: OSMO platform of the old pool; None if it has none.
        below: True if layers below the stack file describe the old pool, which then needs a null in the stack file.
    """

    stack: str
    old: str
    new: str
    to: dict[str, str]
    pool: dict[str, Any]
    beside: dict[str, Any]
    before: dict[str, Any]
    platform: Platform | None
    below: bool


def layer(move: Move, state: State, cap: int | None) -> dict[str, Any]:
    """The layer that brings the stack to `state`; empty for `original`.

    `cap`: largest number of nodes of the old pool while new work goes to the new pool; None leaves it as it is.
    """
    if state == "original":
        return {}
    pools: dict[str, Any] = {move.new: {**move.pool, "scale": move.beside}}
    platforms: dict[str, Any] = {}
    if move.platform is not None:
        own = move.platform.own
        platforms[move.new] = {**own, "name": move.new if state == "both" else move.platform.name}
        if state == "switched":
            platforms[move.old] = {**own, "name": move.platform.resting}
        elif state == "moved" and own:
            platforms[move.old] = None
    if state == "switched" and cap is not None:
        pools[move.old] = {"scale": {"max": cap}}
    if state == "moved":
        pools = {move.new: move.pool, move.old: None}
    return {"pools": pools, **({"osmo": {"platforms": platforms}} if platforms else {})}


def touched(move: Move, state: State) -> list[Keys]:
    """Paths of the settings that a change of the stack file from or to `state` may concern."""
    whole: Keys = ("pools", move.old)
    found: list[Keys] = [("pools", move.new), whole if state == "moved" else (*whole, "scale", "max")]
    if move.platform is not None:
        found += [("osmo", "platforms", move.new), ("osmo", "platforms", move.old)]
    return found


def platforms_in(move: Move, state: State) -> dict[str, str]:
    """Pool of the platform that workflows use, by the platform's name; empty for a pool without a platform."""
    if move.platform is None:
        return {}
    return {move.platform.name: move.old if state in ("original", "both") else move.new}


def pools_in(move: Move, state: State) -> tuple[frozenset[str], frozenset[str]]:
    """Names of the two pools that the stack has, and of those that it does not have."""
    there: dict[State, frozenset[str]] = {
        "original": frozenset({move.old}),
        "both": frozenset({move.old, move.new}),
        "switched": frozenset({move.old, move.new}),
        "moved": frozenset({move.new}),
    }
    return there[state], frozenset({move.old, move.new}) - there[state]


def beside(scale: Mapping[str, Any]) -> dict[str, Any]:
    """Scale of a pool that has to have a node for its proof: an autoscaled pool keeps one at least."""
    if scale.get("count") is not None:
        return {**scale, "count": max(int(scale["count"]), 1)}
    least = max(int(scale.get("min") or 0), 1)
    most = max(int(scale.get("max") or 0), least)
    return {"min": least, "max": most, "initial": min(max(int(scale.get("initial") or 0), least), most)}


def new_pool(before: Mapping[str, Any], requested: Mapping[str, Any], subnet: str | None) -> dict[str, Any]:
    """Settings of the new pool: those of the old pool, with the requested ones, and with its own subnet."""
    found = merged(before, requested)
    if subnet is not None and "subnet" not in requested:
        found["subnet"] = subnet
    source = requested.get("driver", {}).get("source")
    if source is not None and source != before.get("driver", {}).get("source"):
        # A version and modules belong to the installer that the old pool has.
        asked = {"source": source, **requested["driver"]}
        found["driver"] = asked
    return found
