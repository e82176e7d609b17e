"""Placements in one round of the KAI scheduler, and the reasons why other jobs are not placed. Pure functions.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/scheduler/actions/allocate and actions/common/allocate.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from physical_ai.kubernetes.fit import Offer, requests
from simulator.cluster.objects import Json, at, name
from simulator.scheduling.kai.fair_share import fair_shares
from simulator.scheduling.kai.jobs import Job, Part, part_of
from simulator.scheduling.kai.nodes import fit_message, is_counted, preference, takes
from simulator.scheduling.kai.order import Order
from simulator.scheduling.kai.queues import Share, Shares, share_of
from simulator.scheduling.kai.reclaim import host_of, is_due_nothing, victims, without

UNABLE = "Unable to schedule pod"
UNABLE_GROUP = "Unable to schedule podgroup"


@dataclass
class Round:
    """Placements and refusals of one round of the scheduler. Pods are listed by uid."""

    bindings: dict[str, tuple[Json, str]] = field(default_factory=dict[str, tuple[Json, str]])
    """Pods that get a node, each with the node's name."""
    refusals: dict[str, tuple[Json, str]] = field(default_factory=dict[str, tuple[Json, str]])
    """Pods that stay pending, each with the reason."""
    jobs: dict[tuple[str, str], tuple[Job, str]] = field(default_factory=dict[tuple[str, str], tuple[Job, str]])
    """Jobs with Pods that could not be scheduled, by namespace and name, each with the reason."""
    not_ready: dict[tuple[str, str], tuple[Job, str]] = field(default_factory=dict[tuple[str, str], tuple[Job, str]])
    """Jobs that wait until more of their own Pods exist, by namespace and name, each with the reason."""
    evictions: dict[str, Json] = field(default_factory=dict[str, Json])
    """Pods that lose their node to a job of another queue, which gets the node when they have ended."""


def decide(jobs: Iterable[Job], shares: Shares, offers: Iterable[Offer]) -> Round:
    """Runs one round: places jobs one after the other, by queue, then by priority, then by age.

    The round adds the resources of running and newly placed Pods to `shares`.
    """
    found, room = Round(), {offer.name: offer for offer in offers}
    total, waiting, jobs = _free(room.values()), list[Job](), list(jobs)
    for job in jobs:
        for pod in job.active:
            share = share_of(requests(pod))
            shares.take(job.queue, share, preemptible=job.preemptible)
            shares.ask(job.queue, share)
            total = {key: total[key] + share[key] for key in total}
        for pod in job.pending:
            shares.ask(job.queue, share_of(requests(pod)))
        if _is_waiting(job, shares, found):
            waiting.append(job)
    spare = victims(jobs, shares)
    order = Order(shares, fair_shares(total, shares), total, _asked)
    while waiting:
        job = order.next(waiting)
        waiting.remove(job)
        left = _schedule(job, shares, room, found, spare)
        if left is not None and left.pending:
            waiting.append(left)
    return found


def _free(offers: Iterable[Offer]) -> dict[str, float]:
    """Free resources on all nodes whose resources are divided among queues."""
    found = share_of({})
    for offer in offers:
        if is_counted(offer.node):
            found = {key: found[key] + amount for key, amount in share_of(offer.free).items()}
    return found


def _is_waiting(job: Job, shares: Shares, found: Round) -> bool:
    """True if the job is to be scheduled in this round. If not, adds the reason to `found`."""
    for pod in job.lost:
        where = f"{job.namespace}/{job.name}"
        message = f'Pod references subgroup "{part_of(pod)}", which does not exist in PodGroup {where}'
        found.refusals[uid_of(pod)] = (pod, message)
    if not job.pending and not job.gated:
        return False
    if job.not_ready:
        found.not_ready[job.namespace, job.name] = (job, job.not_ready)
    elif job.queue not in shares:
        _refuse(job, f"QueueDoesNotExist: Queue '{job.queue}' does not exist.", found)
    elif shares.children(job.queue):  # jobs are of queues without queues below them
        for pod in job.pending:
            found.refusals[uid_of(pod)] = (pod, UNABLE)
        found.jobs[job.namespace, job.name] = (job, UNABLE_GROUP)
    else:
        return bool(job.pending)
    return False


def _asked(job: Job) -> Share:
    return share_of(sum((requests(pod) for pod in job.next_pods()), Counter[str]()))


def _schedule(job: Job, shares: Shares, room: dict[str, Offer], found: Round, spare: list[Json]) -> Job | None:
    """Places the next Pods of a job on nodes, either all of them or none. Returns the job, in which the placed Pods
    count as active; None if no Pod was placed.

    `spare`: Pods that are evicted if the job finds no other place. Evicted Pods are removed from the list.
    """
    asked, pods = _asked(job), job.next_pods()
    over = shares.refusal(job.queue, asked, preemptible=job.preemptible)
    if over is not None:
        _refuse(job, f"{over[0]}: {over[1]}.", found)
        return None
    placing = _placed(pods, room)
    if placing.without_place is not None and not is_due_nothing(job.queue, shares):
        placing, evicted = _reclaimed(pods, room, spare, placing)
        if evicted:
            found.evictions |= {uid_of(pod): pod for pod in evicted}
            spare[:] = [pod for pod in spare if uid_of(pod) not in found.evictions]
            room.update(placing.offers)
            return None
    if placing.without_place is not None:
        own = fit_message(placing.without_place, list(placing.offers.values()))
        _refuse(job, f"PodSchedulingErrors: {_of_job(job, placing, own)}.", found)
        found.refusals[uid_of(placing.without_place)] = (placing.without_place, own)
        return None
    found.bindings |= {uid_of(pod): (pod, host) for pod, host in zip(pods, placing.hosts, strict=True)}
    shares.take(job.queue, asked, preemptible=job.preemptible)
    room.update(placing.offers)
    return replace(job, parts=tuple(_with_nodes(part, pods) for part in job.parts))


def _with_nodes(part: Part, placed: Sequence[Json]) -> Part:
    uids = {uid_of(pod) for pod in placed}
    started = tuple(pod for pod in part.pending if uid_of(pod) in uids)
    pending = tuple(pod for pod in part.pending if uid_of(pod) not in uids)
    return replace(part, pending=pending, active=(*part.active, *started))


@dataclass(frozen=True)
class _Placing:
    offers: dict[str, Offer]
    """Nodes by name, each with the Pods that were placed on it."""
    hosts: list[str]
    """Name of the chosen node for each Pod that has been placed so far, in the order of the Pods."""
    without_place: Json | None = None
    """The first Pod that fits on no node."""


def _placed(pods: Sequence[Json], room: Mapping[str, Offer]) -> _Placing:
    """Nodes for the Pods, chosen one Pod after the other. The choice ends at the first Pod that fits on no node."""
    offers, hosts = dict(room), list[str]()
    for pod in pods:
        fitting = [offer for offer in offers.values() if takes(pod, offer)]
        if not fitting:
            return _Placing(offers, hosts, pod)
        best = min(fitting, key=lambda offer: preference(pod, offer))
        offers[best.name] = best.with_pod(pod)
        hosts.append(best.name)
    return _Placing(offers, hosts)


def _reclaimed(
    pods: Sequence[Json], room: Mapping[str, Offer], spare: Sequence[Json], refused: _Placing
) -> tuple[_Placing, list[Json]]:
    """Nodes for the Pods if spare Pods leave theirs, and the spare Pods that leave: no more than the Pods need.
    `refused` and no Pods if that does not suffice.
    """
    freed, leaving = dict(room), list[Json]()
    for victim in spare:
        host = host_of(victim)
        if host not in freed:
            continue
        freed[host] = without(freed[host], victim)
        leaving.append(victim)
        placing = _placed(pods, freed)
        if placing.without_place is None:
            kept = {each: placing.offers[each] if each in placing.hosts else room[each] for each in room}
            return replace(placing, offers=kept), [each for each in leaving if host_of(each) in placing.hosts]
    return refused, []


def uid_of(item: Mapping[str, Any]) -> str:
    return str(at(item, "metadata.uid", ""))


def _of_job(job: Job, placing: _Placing, own: str) -> str:
    """KAI's message about a job that is not placed because one of its Pods fits on no node (actions/common/allocate.go,
    handleFailedTaskAllocation). `own`: the message about that Pod.
    """
    pod: Json = placing.without_place or {}
    part = next(each for each in job.parts if each.name == part_of(pod))
    if not part.missing or not any(each.least > 1 for each in job.parts):
        return f"Resources were not found for pod {job.namespace}/{name(pod)} due to: {own}"
    if job.is_whole:
        return (
            f"Resources were found for {len(placing.hosts)} pods while {part.least} are required for gang scheduling."
            f" Additional pods cannot be scheduled due to: {own}"
        )
    places = sum(part_of(each) == part.name for each in job.next_pods()[: len(placing.hosts)])
    return (
        f"Resources were found for {places} pods from all sub-groups while sub-group {part.name} requires {part.least}"
        f" pods for gang scheduling. Additional pods cannot be scheduled in this sub-group due to: {own}"
    )


def _refuse(job: Job, message: str, found: Round) -> None:
    for pod in job.pending:
        found.refusals[uid_of(pod)] = (pod, message)
    found.jobs[job.namespace, job.name] = (job, message)
