"""Plan of a move, from the stack's settings, Azure's answers and what runs in the cluster."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from physical_ai.findings import Finding, Severity
from physical_ai.nested import at
from workbench.impact import Impact, Work
from workbench.moves.layers import Move, State, layer

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from workbench.cli.moves import World
    from workbench.moves.planning import Wish
    from workbench.moves.progress import Limits

STATES: tuple[State, ...] = ("original", "both", "switched", "moved")
CRON_JOBS = "/apis/batch/v1/cronjobs"


@dataclass(frozen=True)
class Plan:
    """Needs of a move, and its effect on the work that runs now.

    Attributes:
        needs: Findings about quota and sizes.
        at_once: Impact of the same change without a move.
        moved: Impact of the move on the work of both pools.
        problems: What stands against the move; empty if it can begin.
    """

    move: Move
    own: dict[str, Any]
    nodes: str
    needs: tuple[Finding, ...]
    at_once: Impact
    moved: Impact
    notes: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class PoolChange:
    """One change of a node pool, as the rules about running work read it."""

    name: str
    op: str
    properties: tuple[str, ...] = ()
    kind: str = "AgentPool"
    type: str = "azure-native:containerservice:AgentPool"
    old: Mapping[str, Any] = field(default_factory=dict[str, Any])
    new: Mapping[str, Any] = field(default_factory=dict[str, Any])


def make_plan(world: World, wish: Wish, limits: Limits) -> Plan:
    """The plan of a move. Nothing is changed.

    Raises:
        Refused: the move is impossible.
        SettingsError: the stack, or the stack with the new pool, has faults.
        Unreachable, Unusable: the cluster cannot be read.
    """
    from physical_ai.settings import SettingsError
    from workbench.moves.needs import capacity_findings, nodes_text
    from workbench.moves.planning import notes_of, own_values, planned, problems_of
    from workbench.moves.request import Refused

    loaded = world.loaded()
    move = planned(loaded, wish)
    settings: dict[State, Settings] = {}
    for state in STATES:
        try:
            settings[state] = world.loaded(layer(move, state, None)).settings
        except SettingsError as faults:
            if state != "moved":
                raise
            raise Refused(*(f"without {move.old}: {each}" for each in str(faults).split("\n\n"))) from None
    usages, offers = world.capacity(settings["original"])
    needs = tuple(capacity_findings(move, settings["original"], settings["both"], usages, offers))
    view = world.view(move.old)
    problems = [*problems_of(move, settings), *(_text(each) for each in needs if each.severity is Severity.ERROR)]
    problems += _of_dependents(world, move, view.running, view.services, limits)
    at_once, moved = _impacts(move, view.everywhere)
    if moved.lost[1] > 0:
        problems.append(f"the move would lose {moved.lost[1]:.2g} GPU-hours")
    return Plan(
        move,
        own_values(loaded, move.old),
        nodes_text(move, settings["both"]),
        needs,
        at_once,
        moved,
        tuple(notes_of(move, settings)),
        tuple(problems),
    )


def _text(finding: Finding) -> str:
    return f"{finding.rule} {finding.where}: {finding.problem}{f' {finding.fix}' if finding.fix else ''}"


def _impacts(move: Move, work: Sequence[Work]) -> tuple[Impact, Impact]:
    """Impact of the same change at once, which replaces the pool, and impact of the move, whose last change finds no
    work on the old pool.
    """
    from workbench.impact import judge

    now = datetime.datetime.now(datetime.UTC)
    pools = {each.pool: _facts(each.pool) for each in work if each.pool}
    same: dict[str, Any] = {"agentPoolName": move.old}
    replaced = PoolChange(move.old, "replace", ("vmSize",), old=same, new=same)
    at_once = judge([replaced], work, pools, now)
    added = PoolChange(move.new, "create", new={"agentPoolName": move.new})
    capped = PoolChange(move.old, "update", ("maxCount",), old=same, new=same)
    removed = PoolChange(move.old, "delete", old=same)
    staying = judge([added, capped], work, pools, now)
    elsewhere = [each for each in work if each.pool != move.old]
    last = judge([removed], elsewhere, pools, now)
    return at_once, max(staying, last, key=lambda each: each.lost[1])


def _facts(pool: str) -> Any:
    from workbench.impact.pools import PoolFacts

    return PoolFacts(pool)


def _of_dependents(
    world: World, move: Move, running: Sequence[Work], services: frozenset[tuple[str, str]], limits: Limits
) -> list[str]:
    """Texts about what depends on the old pool and never ends by itself: services, and CronJobs that name the pool."""
    from workbench.moves.emptying import SERVICES, asks_only_for, owners

    endless = [each for each in running if each.controller in SERVICES]
    bound = [each for each in endless if (each.namespace, each.name) not in services]
    free = [each for each in endless if each not in bound]
    found: list[str] = []
    if bound:
        fix = f"let it select another pool, such as {move.new} after the stage prove; then begin again"
        found.append(f"{owners(bound)} runs on {move.old}, cannot move, and never ends: {fix}")
    if free and not limits.restart_services:
        fix = "--restart-services lets it start again on another pool, as disruption budgets allow"
        found.append(f"{owners(free)} runs on {move.old} and never ends: {fix}")
    for each in world.items(CRON_JOBS):
        pod: Mapping[str, Any] = at(each, "spec.jobTemplate.spec.template", {})
        if not at(each, "spec.suspend", False) and asks_only_for(pod, move.old):
            name = f"{each['metadata']['namespace']}/{each['metadata']['name']}"
            found.append(f"CronJob {name} starts Pods that select {move.old}: let it select {move.new}, or suspend it")
    return found
