"""Judgement of planned changes by what they do to running work. Pure functions."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from physical_ai.kubernetes.taints import tolerates
from physical_ai.settings.facts.labels import split_taint
from workbench.impact.aks_upgrades import NO_BUDGETS, STOPS, Budgets, ignoring_budgets, refusal, stopping
from workbench.impact.changes import Change
from workbench.impact.drains import TURN, WAITS, kept_by, waits_for
from workbench.impact.grid import policy
from workbench.impact.outages import Outage, outages
from workbench.impact.pools import PoolFacts
from workbench.impact.scopes import concerns_work
from workbench.impact.ways import Way, object_name, way_of
from workbench.impact.work import Work


class Fate(IntEnum):
    """Effect that a change has on a Pod. The effects are in order, from the mildest to the worst."""

    UNTOUCHED = 0
    WAITS = 1
    CUT = 2
    RESTARTED = 3
    ENDED = 4

    @property
    def word(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Effect:
    """Consequence of the changes for one Pod.

    Attributes:
        sure: True if the consequence is certain; False if it depends on conditions in `reasons`.
        reasons: Changes that cause the consequence, each as `resource: what happens`.
        minutes: Least and most minutes until the Pod's node offers GPUs again; 0 if the node never stops offering GPUs.
        lost: Least and most GPU-hours lost.
        unsaved: GPU-hours lost if the work has written no checkpoint so far.
        in_turn: True if nothing but the turn of the Pod's node ends the Pod, in a change that clears one node after the
            other and waits for work on each.
    """

    work: Work
    fate: Fate
    sure: bool = True
    reasons: tuple[str, ...] = ()
    minutes: tuple[float, float] = (0, 0)
    lost: tuple[float, float] = (0, 0)
    unsaved: float = 0
    in_turn: bool = False


@dataclass(frozen=True)
class Impact:
    """Judgement of all changes of a preview.

    Attributes:
        effects: Consequence for each Pod with work, worst first.
        outages: GPUs that are missing for a time, by pool.
        notes: Consequences for new Pods or for connections, which cannot be assigned to single Pods.
        not_judged: Changes without a row in ways.yaml, as `operation kind name`.
    """

    effects: tuple[Effect, ...]
    outages: tuple[Outage, ...] = ()
    notes: tuple[str, ...] = ()
    not_judged: tuple[str, ...] = ()
    harmless: bool = False
    """True if every change is of a kind that touches no work, whatever runs."""

    def of(self, fate: Fate, *, sure: bool = True) -> list[Effect]:
        """Effects with the fate `fate`: the certain effects if `sure` is true, else the uncertain effects."""
        return [each for each in self.effects if each.fate is fate and each.sure is sure]

    @property
    def lost(self) -> tuple[float, float]:
        """Least and most GPU-hours that are lost. Effects that are only possible count in the second number only."""
        return sum(each.lost[0] for each in self.effects if each.sure), sum(each.lost[1] for each in self.effects)


@dataclass(frozen=True)
class _Hit:
    change: Change
    way: Way
    stops: frozenset[str] = frozenset()
    """Nodes at which the change stops."""

    @property
    def reason(self) -> str:
        return f"{object_name(self.change)}: {self.way.says}"


def judge(
    changes: Iterable[Change],
    work: Sequence[Work],
    pools: Mapping[str, PoolFacts],
    now: datetime.datetime,
    budgets: Budgets = NO_BUDGETS,
) -> Impact:
    """Impact of the planned changes `changes` on the running work `work`.

    Args:
        pools: Facts of the node pools by name, as they are before the changes.
        now: Present time, with time zone.
        budgets: Disruption budgets of the cluster, as AKS takes them for its upgrades.
    """
    found, unknown = _ways_of(changes, pools)
    refused = [text for each in found if (text := refusal(each.change, budgets))]
    hits = [_in_aks(each, work, budgets) for each in found if not refusal(each.change, budgets)]
    effects = _with_gangs(_in_turn([_effect(each, hits, pools, now) for each in work]), now)
    said = [each.reason for each in hits if _is_note(each.way)]
    return Impact(
        effects=tuple(sorted(effects, key=lambda each: (-each.fate, not each.sure, each.work.owner, each.work.name))),
        outages=outages([(each.change, each.way) for each in hits], pools),
        notes=tuple(dict.fromkeys([*refused, *said, *_waiting(effects)])),
        not_judged=tuple(unknown),
        harmless=not unknown and all(each.way.fate == "untouched" for each in found),
    )


def _in_aks(hit: _Hit, work: Sequence[Work], budgets: Budgets) -> _Hit:
    way = ignoring_budgets(hit.change, hit.way, budgets)
    return replace(hit, way=way, stops=stopping(work, hit.change, way, object_name(hit.change)))


def _ways_of(changes: Iterable[Change], pools: Mapping[str, PoolFacts]) -> tuple[list[_Hit], list[str]]:
    hits: list[_Hit] = []
    unknown: list[str] = []
    for change in changes:
        pool = pools.get(object_name(change)) if change.kind == "AgentPool" else None
        way = way_of(change, pool.nodes if pool is not None else None)
        if way is not None:
            hits.append(_Hit(change, way))
        elif change.op != "create":
            unknown.append(f"{change.op} {change.kind} {object_name(change)}")
    return hits, unknown


def _waiting(effects: Sequence[Effect]) -> list[str]:
    owners = dict.fromkeys(each.work.owner for each in effects if WAITS in each.reasons)
    return [f"nodes wait until this work has ended, without a limit: {', '.join(owners)}"] if owners else []


def _is_note(way: Way) -> bool:
    """True if the change only delays new Pods or cuts connections. Such a change is reported as a note, because it has
    no effect on a single running Pod.
    """
    return way.scope != "none" and way.fate in ("waits", "cut")


def _effect(work: Work, hits: Sequence[_Hit], pools: Mapping[str, PoolFacts], now: datetime.datetime) -> Effect:
    """The worst effect of the changes on one Pod, with every change that causes it."""
    concerning = [(each, found) for each in hits if (found := _fate(work, each, pools)) is not None]
    if not concerning:
        return Effect(work, Fate.UNTOUCHED)
    worst, sure = max((found for _, found in concerning), key=_rank)
    causes = [each for each, found in concerning if found == (worst, sure)]
    minutes = max((each.way.minutes for each in causes), key=lambda pair: pair[1])
    lost, unsaved = _loss(work, worst, now)
    reasons = [each.reason for each in causes]
    if worst is Fate.UNTOUCHED and (why := kept_by(work, [(each.change, each.way) for each in causes])):
        reasons.append(why)
    if worst >= Fate.RESTARTED and any(each.stops - {work.node} for each in causes):
        reasons.append(STOPS)
    in_turn = all(each.way.jobs and each.way.order == "one-by-one" for each in causes)
    return Effect(work, worst, sure, tuple(dict.fromkeys(reasons)), minutes, lost, unsaved, in_turn)


def _in_turn(effects: Sequence[Effect]) -> list[Effect]:
    """The effects after the rule that one node waits for the other: a node that waits for work holds up all nodes of
    its pool that are cleared after it, so that their Pods may run on for as long.
    """
    waiting: dict[str, set[str]] = {}
    for each in effects:
        if WAITS in each.reasons:
            waiting.setdefault(each.work.pool, set()).add(each.work.node)
    return [
        replace(each, sure=False, reasons=(*each.reasons, TURN))
        if each.in_turn and each.fate >= Fate.RESTARTED and waiting.get(each.work.pool, set()) - {each.work.node}
        else each
        for each in effects
    ]


def _rank(found: tuple[Fate, bool]) -> tuple[Fate, bool]:
    """Order of fates with their certainty. A doubt that work stays untouched is worse than none."""
    fate, sure = found
    return fate, sure is (fate is not Fate.UNTOUCHED)


def _loss(work: Work, fate: Fate, now: datetime.datetime) -> tuple[tuple[float, float], float]:
    if fate not in (Fate.RESTARTED, Fate.ENDED):
        return (0.0, 0.0), 0.0
    return work.lost_hours(now), work.hours_since_start(now)


def _fate(work: Work, hit: _Hit, pools: Mapping[str, PoolFacts]) -> tuple[Fate, bool] | None:
    """Fate of a Pod under one change, and True if the fate is certain. None if the change does not affect the Pod."""
    change, way = hit.change, hit.way
    if not concerns_work(way.scope, change, work, pools.get(work.pool)):
        return None
    if work.waits:
        return (Fate.WAITS, way.sure) if way.fate == "waits" else None
    if way.fate == "cut":
        return Fate.CUT, way.sure
    if way.fate == "ended":
        return _of_ended(work, hit)
    if tolerates_all(work, added_taints(change)):
        return None
    # A new Pod of the same controller lacks the toleration, too.
    return (Fate.RESTARTED if work.comes_back and not work.needs_pool else Fate.ENDED), True


def _of_ended(work: Work, hit: _Hit) -> tuple[Fate, bool]:
    way = hit.way
    if waits_for(work, hit.change, way):
        return Fate.UNTOUCHED, True
    if way.jobs == "policy" and (known := policy(hit.change, work.pool)) != "drain":
        return _end(work, way), bool(known)
    if way.drain and work.budget:
        # Whoever drains tries again until its time is up, and then leaves the node as it is.
        return Fate.UNTOUCHED, False
    if way.jobs == "waits" and not work.controller:
        # The GPU Operator evicts no Pod without a controller: the Pod runs on, and the node's upgrade fails.
        return Fate.UNTOUCHED, False
    return _end(work, way), way.sure and not hit.stops - {work.node}


def _end(work: Work, way: Way) -> Fate:
    """Fate of a Pod that ends: restarted if its controller creates a new Pod, and a node can take the new Pod."""
    stays_away = way.back == "never" and not way.fewer and (way.scope != "pool" or work.needs_pool)
    return Fate.RESTARTED if work.comes_back and not stays_away else Fate.ENDED


def added_taints(change: Change) -> list[dict[str, str]]:
    """Taints that a change adds to a pool and that end running Pods: those with the effect NoExecute."""
    before, after = ({str(each) for each in side.get("nodeTaints") or ()} for side in (change.old, change.new))
    taints = (split_taint(each) for each in sorted(after - before))
    return [{"key": key, "value": value, "effect": effect} for key, value, effect in taints if effect == "NoExecute"]


def tolerates_all(work: Work, taints: Sequence[Mapping[str, str]]) -> bool:
    """True if the Pod tolerates all of `taints` without a time limit."""
    return all(
        any(each.get("tolerationSeconds") is None and tolerates(each, taint) for each in work.tolerations)
        for taint in taints
    )


def _with_gangs(effects: Sequence[Effect], now: datetime.datetime) -> list[Effect]:
    """The effects after the rule for gangs. OSMO ends a group with its leading task; with any other task only where the
    group's `ignoreNonleadStatus` is false, which no Pod shows (NVIDIA/OSMO 6.3.1, src/utils/job/jobs.py, UpdateGroup).
    KAI evicts nothing of a gang: values/kai-scheduler/values.yaml.
    """
    worst: dict[tuple[str, bool], Effect] = {}
    for each in effects:
        if each.work.gang and each.fate in (Fate.RESTARTED, Fate.ENDED):
            key = each.work.gang, each.work.leads
            if key not in worst or (each.fate, each.sure) > (worst[key].fate, worst[key].sure):
                worst[key] = each
    return [
        _as_member(_as_member(each, worst.get((each.work.gang, True)), now), worst.get((each.work.gang, False)), now)
        for each in effects
    ]


def _as_member(effect: Effect, worst: Effect | None, now: datetime.datetime) -> Effect:
    """The effect on a Pod whose gang has a Pod with the effect `worst`."""
    if worst is None or effect.work.waits or worst.work is effect.work:
        return effect
    sure = worst.sure and worst.work.leads
    if (effect.fate, effect.sure) >= (worst.fate, sure):
        return effect
    name = worst.work.task or worst.work.name
    how = f"its gang ends with {name}" if worst.work.leads else f"its gang may end with {name}, which does not lead it"
    reason = f"{how}: {'; '.join(worst.reasons)}"
    return Effect(effect.work, worst.fate, sure, (reason,), worst.minutes, *_loss(effect.work, worst.fate, now))
