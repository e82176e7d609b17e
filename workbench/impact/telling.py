"""Output of an impact as sentences and as data: a headline, a line for each owner of work, outages, and unknown
effects.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.impact.judging import Effect, Fate, Impact
from workbench.impact.outages import Outage
from workbench.impact.times import Minutes, Times, times

UNKNOWN_WORK = "What runs is not known, since no cluster was read"
UNTOUCHED = "No running work ends"
VERBS = {Fate.ENDED: "ends", Fate.RESTARTED: "restarts", Fate.CUT: "cuts connections of", Fate.WAITS: "delays"}
BASE_VERBS = {Fate.ENDED: "end", Fate.RESTARTED: "restart", Fate.CUT: "cut connections of", Fate.WAITS: "delay"}

OWN_VERBS = {
    Fate.ENDED: "end",
    Fate.RESTARTED: "restart",
    Fate.CUT: "lose connections",
    Fate.WAITS: "wait",
    Fate.UNTOUCHED: "keep running on a node whose upgrade fails",
}


@dataclass(frozen=True)
class Seen:
    """Source of the list of running work.

    Attributes:
        known: True if a cluster, a recording or the settings tell which work runs; False if none of them does.
        source: The cluster, recording or settings that the list is from, or the reason why no cluster could be read.
        at: Time at which a cluster was read, or recorded, with time zone; None if no cluster was read or recorded.
        doubts: Sentences about what makes the judgement less certain, without their final dots.
    """

    known: bool
    source: str = ""
    at: datetime.datetime | None = None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True)
class OwnerEffect:
    """Consequence for one workflow, Job or other owner of Pods: the worst of the consequences for its Pods."""

    owner: str
    fate: Fate
    sure: bool
    pods: tuple[Effect, ...]

    @property
    def lost(self) -> tuple[float, float]:
        """Least and most GPU-hours that the owner's Pods lose."""
        return sum(each.lost[0] for each in self.pods), sum(each.lost[1] for each in self.pods)

    @property
    def unsaved(self) -> float:
        """GPU-hours that the owner's Pods lose if they have written no checkpoint. No API shows whether they have."""
        return sum(each.unsaved for each in self.pods)


def by_owner(impact: Impact) -> list[OwnerEffect]:
    """Owners with affected Pods, worst first. Pods that may be affected count, too."""
    owners: dict[str, list[Effect]] = {}
    for each in impact.effects:
        if each.fate is not Fate.UNTOUCHED or not each.sure:
            owners.setdefault(each.work.owner, []).append(each)
    return [OwnerEffect(owner, pods[0].fate, pods[0].sure, tuple(pods)) for owner, pods in owners.items()]


def headline(impact: Impact, seen: Seen) -> str:
    """Summary of the impact in one line, for readers who do not know Pulumi."""
    parts = [_work(impact)] if seen.known else [UNTOUCHED if impact.harmless else UNKNOWN_WORK]
    parts += [outage(each) for each in impact.outages]
    if impact.not_judged:
        count = len(impact.not_judged)
        parts.append(f"{count} {'change is' if count == 1 else 'changes are'} not judged")
    return "; ".join(parts) + "."


def _work(impact: Impact) -> str:
    owners = by_owner(impact)
    parts: list[str] = []
    for sure, verbs in ((True, VERBS), (False, BASE_VERBS)):
        for fate in (Fate.ENDED, Fate.RESTARTED, Fate.CUT, Fate.WAITS):
            found = [each for each in owners if each.fate is fate and each.sure is sure]
            if found:
                lost = hours((sum(each.lost[0] for each in found), sum(each.lost[1] for each in found)))
                since = f" ({lost} since the last checkpoint or start)" if lost else ""
                parts.append(f"{'' if sure else 'may '}{verbs[fate]} {counted(found)}{since}")
    text = ", ".join(parts) if parts else UNTOUCHED
    return text[0].upper() + text[1:]


def counted(owners: Sequence[OwnerEffect]) -> str:
    """Number of owners of each kind as text, such as `2 workflows and 1 Job`."""
    kinds: dict[str, int] = {}
    for each in owners:
        kind = each.owner.partition(" ")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    return " and ".join(f"{count} {kind}{'' if count == 1 else 's'}" for kind, count in kinds.items())


def hours(lost: tuple[float, float]) -> str:
    """A range of GPU-hours as text; empty if none are lost."""
    least, most = (_number(each) for each in lost)
    if most == "0":
        return ""
    return f"{most} GPU-hours" if least == most else f"{least} to {most} GPU-hours"


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 10 or value == 0 else f"{value:.1f}".removesuffix(".0")


def outage(each: Outage) -> str:
    """Sentence about the GPUs of one pool that are missing, without its final dot."""
    what = f"{each.gpus} {each.model or 'GPUs'}{'' if each.model == '' or each.gpus == 1 else 's'} of {each.pool}"
    verb = "is" if each.gpus == 1 else "are"
    if each.returns == "never":
        return f"{what} {verb} gone"
    least, most = each.total
    span = f"{_number(least)} to {_number(most)} minutes"
    how = f"{verb} missing node by node, {span} in all" if each.one_by_one else f"{verb} missing for {span}"
    return what + " " + how + (", and may not come back" if each.returns == "doubtful" else "")


def sentences(impact: Impact, seen: Seen) -> list[str]:
    """Lines of the impact report below the headline."""
    lines = [_line(each) for each in by_owner(impact)]
    lines += [f"{each.pool}: {each.why}" for each in impact.outages if each.why]
    lines += [f"Note: {each}." for each in impact.notes]
    lines += [f"Not judged: {each}" for each in impact.not_judged]
    lines += [f"Less certain: {each}." for each in seen.doubts]
    if seen.source:
        when = f", {seen.at.isoformat(timespec='minutes')}" if seen.at else ""
        lines.append(f"Running work as of {seen.source}{when}.")
    return lines


def _line(each: OwnerEffect) -> str:
    lost = f"{text} lost" if (text := hours(each.lost)) else ""
    if lost and each.unsaved > each.lost[1]:
        lost += f" (or {_number(each.unsaved)}, if no checkpoint has been written)"
    reasons = "; ".join(dict.fromkeys(reason for pod in each.pods for reason in pod.reasons))
    text = f"{each.owner}: {'will' if each.sure else 'may'} {OWN_VERBS[each.fate]}" + (f", {lost}" if lost else "")
    return f"{text} ({reasons})" if reasons else text


def document(impact: Impact, seen: Seen) -> dict[str, Any]:
    """Impact as data, with stable keys."""
    least, most = impact.lost
    return {
        "headline": headline(impact, seen),
        "lines": sentences(impact, seen),
        "workKnown": seen.known,
        "source": seen.source or None,
        "seenAt": seen.at.isoformat(timespec="seconds") if seen.at else None,
        "lostGpuHours": {
            "least": round(least, 2),
            "most": round(most, 2),
            "withoutCheckpoints": round(sum(each.unsaved for each in impact.effects), 2),
        },
        "lessCertain": list(seen.doubts),
        "work": [_pod(each, times(each, {out.pool: out for out in impact.outages})) for each in impact.effects],
        "outages": [
            {
                "pool": each.pool,
                "model": each.model or None,
                "nodes": each.nodes,
                "gpus": each.gpus,
                "minutes": {"least": each.total[0], "most": each.total[1]},
                "oneByOne": each.one_by_one,
                "returns": each.returns,
                "why": each.why,
            }
            for each in impact.outages
        ],
        "notes": list(impact.notes),
        "notJudged": list(impact.not_judged),
    }


def _pod(each: Effect, when: Times) -> dict[str, Any]:
    work = each.work
    return {
        "owner": work.owner,
        "namespace": work.namespace,
        "pod": work.name,
        "task": work.task or None,
        "pool": work.pool or None,
        "node": work.node or None,
        "gpus": work.gpus,
        "started": work.started.isoformat(timespec="seconds") if work.started else None,
        "checkpointSeconds": int(work.checkpoint.total_seconds()) if work.checkpoint else None,
        "fate": each.fate.word,
        "sure": each.sure,
        "minutes": {"least": each.minutes[0], "most": each.minutes[1]},
        "endsMinutes": _range(when.ends),
        "runsAgainMinutes": _range(when.runs_again),
        "lostGpuHours": {
            "least": round(each.lost[0], 2),
            "most": round(each.lost[1], 2),
            "withoutCheckpoints": round(each.unsaved, 2),
        },
        "reasons": list(each.reasons),
    }


def _range(minutes: Minutes | None) -> dict[str, float] | None:
    return None if minutes is None else {"earliest": minutes[0], "latest": minutes[1]}


def exceeds(impact: Impact, most_lost: float) -> bool:
    """True if the change may lose more than `most_lost` GPU-hours."""
    return impact.lost[1] > most_lost
