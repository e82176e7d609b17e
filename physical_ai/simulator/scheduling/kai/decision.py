"""Who gets a node in one round of the KAI scheduler, and why the others don't. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from physical_ai.kubernetes.fit import CPU, PODS, TOO_MANY, Offer, lacking, requests, why_not
from physical_ai.simulator.cluster.objects import Json, at, name
from physical_ai.simulator.scheduling.kai.jobs import Job
from physical_ai.simulator.scheduling.kai.queues import GPU_RESOURCES, Shares, share_of

UNABLE = "Unable to schedule pod"
NOT_FOUND = "no nodes with enough resources were found"
WORDS = {**dict.fromkeys(GPU_RESOURCES, "GPUs"), CPU: "CPU cores"}
"""KAI's names for resources; others keep theirs."""


@dataclass
class Round:
    """The result of one round; pods by uid."""

    bindings: dict[str, tuple[Json, str]] = field(default_factory=dict[str, tuple[Json, str]])
    """Pods with the node of each."""
    refusals: dict[str, tuple[Json, str]] = field(default_factory=dict[str, tuple[Json, str]])
    """Pods with the reason for which each stays pending."""
    jobs: dict[tuple[str, str], tuple[Job, str]] = field(default_factory=dict[tuple[str, str], tuple[Job, str]])
    """Jobs, by namespace and name, of which not all could be scheduled, with the reason."""
    not_ready: dict[tuple[str, str], tuple[Job, str]] = field(default_factory=dict[tuple[str, str], tuple[Job, str]])
    """Jobs that wait for pods of their own."""


def decide(jobs: Iterable[Job], shares: Shares, offers: Iterable[Offer]) -> Round:
    """One round: jobs one after the other, the queue with the best claim first, then priority, then age.

    `shares` takes in what is allocated already and what this round adds.
    """
    found, room = Round(), {offer.name: offer for offer in offers}
    waiting: list[Job] = []
    for job in jobs:
        for pod in job.active:
            shares.take(job.queue, share_of(requests(pod)), preemptible=job.preemptible)
        if job.pending:
            waiting.append(job)
    while waiting:
        job = min(waiting, key=lambda each: (shares.rank(each.queue), -each.priority, each.created, each.name))
        waiting.remove(job)
        if job.not_ready:
            found.not_ready[job.namespace, job.name] = (job, job.not_ready)
            continue
        _schedule(job, shares, room, found)
    return found


def _schedule(job: Job, shares: Shares, room: dict[str, Offer], found: Round) -> None:
    """Places as many of a job's pods as can be: first those without which none may start, then one by one."""
    if job.queue not in shares:
        _refuse(job, job.pending, f"QueueDoesNotExist: Queue '{job.queue}' does not exist.", found)
        return
    if not shares.is_rooted(job.queue):
        _refuse(job, job.pending, UNABLE, found)
        return
    left = list(job.pending)
    size, together = max(job.least - len(job.active), 1), 1 < job.least > len(job.active)
    while left:
        chunk, left = left[:size], left[size:]
        asked = share_of(sum((requests(pod) for pod in chunk), Counter[str]()))
        over = shares.refusal(job.queue, asked, preemptible=job.preemptible)
        if over is not None:
            _refuse(job, [*chunk, *left], f"{over[0]}: {over[1]}.", found)
            return
        placing = _placed(chunk, room)
        if placing.without_place is not None:
            own = fit_message(placing.without_place, placing.offers.values())
            message = _of_job(job, placing.without_place, len(placing.hosts), own, together)
            _refuse(job, [*chunk, *left], f"PodSchedulingErrors: {message}.", found)
            found.refusals[uid_of(placing.without_place)] = (placing.without_place, own)
            return
        found.bindings |= {uid_of(pod): (pod, host) for pod, host in zip(chunk, placing.hosts, strict=True)}
        shares.take(job.queue, asked, preemptible=job.preemptible)
        room.update(placing.offers)
        size, together = 1, False


@dataclass(frozen=True)
class _Placing:
    offers: dict[str, Offer]
    """The nodes with the pods that were placed on them."""
    hosts: list[str]
    """Where the pods go, as far as it came."""
    without_place: Json | None = None
    """The first pod for which there is no node."""


def _placed(pods: Sequence[Json], room: Mapping[str, Offer]) -> _Placing:
    """Looks for a node for each pod, beside the ones before it."""
    offers, hosts = dict(room), list[str]()
    for pod in pods:
        fitting = [offer for offer in offers.values() if not why_not(pod, offer)]
        if not fitting:
            return _Placing(offers, hosts, pod)
        best = min(fitting, key=lambda offer: preference(pod, offer))
        offers[best.name] = best.with_pod(pod)
        hosts.append(best.name)
    return _Placing(offers, hosts)


def uid_of(item: Mapping[str, Any]) -> str:
    return str(at(item, "metadata.uid", ""))


def preference(pod: Mapping[str, Any], offer: Offer) -> tuple[Any, ...]:
    """Sorts nodes: pods without GPUs leave nodes with some alone; all go where the least is left (bin packing)."""
    gpus = sum(offer.free.get(each, 0) for each in GPU_RESOURCES)
    asks = any(requests(pod)[each] > 0 for each in GPU_RESOURCES)
    total = gpus + sum(offer.taken[each] for each in GPU_RESOURCES)
    return (gpus, offer.name) if asks else (total > 0, offer.free.get(CPU, 0), offer.name)


def fit_message(pod: Mapping[str, Any], offers: Iterable[Offer]) -> str:
    """Why no node takes a pod, with KAI's message: resources are checked before everything else."""
    asked = requests(pod)
    reasons = Counter(reason for offer in offers for reason in _reasons(pod, asked, offer))
    if not reasons:
        return UNABLE
    return f"{NOT_FOUND}: " + ". \n".join(sorted(f"{count} {reason}" for reason, count in reasons.items())) + "."


def _reasons(pod: Mapping[str, Any], asked: Mapping[str, int], offer: Offer) -> list[str]:
    short = [PODS if reason == TOO_MANY else reason.removeprefix("Insufficient ") for reason in lacking(asked, offer)]
    if short:
        return [f"node(s) didn't have enough resources: {WORDS.get(each, each)}" for each in short]
    return list(why_not(pod, offer))


def _of_job(job: Job, pod: Json, places: int, own: str, together: bool) -> str:
    if not together:
        return f"Resources were not found for pod {job.namespace}/{name(pod)} due to: {own}"
    return (
        f"Resources were found for {places} pods while {job.least} are required for gang scheduling."
        f" Additional pods cannot be scheduled due to: {own}"
    )


def _refuse(job: Job, pods: Iterable[Json], message: str, found: Round) -> None:
    for pod in pods:
        found.refusals[uid_of(pod)] = (pod, message)
    found.jobs[job.namespace, job.name] = (job, message)
