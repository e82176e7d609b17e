"""From events to the memory after them. Pure."""

from __future__ import annotations

import math
from dataclasses import replace

from grid_agent.facts import HostFacts, Job, NodeFacts, Pod
from grid_agent.memory import Failure, Memory
from grid_agent.plan import Plan, opening_labels, target_of
from grid_agent.report.plain import LONGEST_SENTENCE, plain
from grid_agent.steps import Step
from grid_agent.wanted import Timings, Wanted

CHECKSUM, DISK_FULL, APT_LOCKED, ARCHIVE_AWAY, TAMPERED, READ_ONLY, BUSY, INTERRUPTED = 11, 12, 21, 23, 31, 33, 75, 143
"""Exit codes of jobs that are judged here; README.md lists all."""
DIED = -1
"""No exit code: the machine restarted."""
RETRIED_FOREVER = frozenset({Step.UNLOAD, Step.LOAD})
"""Harmless to retry forever: what is in use is released, what does not answer recovers."""
TRANSIENT = frozenset({DISK_FULL, APT_LOCKED, ARCHIVE_AWAY, TAMPERED, BUSY})
"""Codes of transient failures, which are retried without limit."""
AROUND = frozenset({Step.CLEAN, Step.MARK_LEGACY, Step.PERSIST})
"""Steps around a driver that works, whose failures remain when it is verified."""
PAST = ("since", "loaded_at", "driver_since", "gated_at", "reported_at", "checked_at", "looked_at")
"""Times of the memory that are never in the future."""
STATUS_SECONDS = 60.0
"""How long a Pod's status may take to reach the API server."""
CHANGING = frozenset({Step.UNLOAD, Step.REMOVE, Step.INSTALL})


def clamped(memory: Memory, timings: Timings, now: float) -> Memory:
    """The memory without times in the future, which a clock that was set back leaves: nothing waits for them."""
    failures = {
        step: replace(failure, retry_at=min(failure.retry_at, now + timings.retry_max_seconds))
        for step, failure in memory.failures.items()
    }
    past = {name: min(getattr(memory, name), now) for name in PAST}
    kicks = {app: min(at, now) for app, at in memory.kicks.items()}
    starts = {uid: (raw, min(at, now)) for uid, (raw, at) in memory.starts.items()}
    return replace(memory, failures=failures, kicks=kicks, starts=starts, **past)


def dated(memory: Memory, node: NodeFacts, now: float) -> tuple[Memory, NodeFacts]:
    """When the node's operands began, on the agent's clock.

    Their own times are kubelet's, from a clock that may have been set since. A Pod that is new began after the last
    look, or a little before it, because its status takes a moment to arrive.
    """
    starts: dict[str, tuple[float, float]] = {}
    operands: list[Pod] = []
    for pod in node.operands:
        if pod.begun is not None:
            raw, at = memory.starts.get(pod.uid, (math.inf, 0.0))
            # Times are whole seconds less what kubelet's clock is ahead, which is never measured the same twice.
            if abs(raw - pod.begun) >= 0.5:
                earliest = memory.looked_at - STATUS_SECONDS if memory.looked_at else 0.0
                at = max(earliest, min(pod.begun, now))
            starts[pod.uid] = (pod.begun, at)
            pod = replace(pod, begun=at)  # noqa: PLW2901 - the same Pod
        operands.append(pod)
    return replace(memory, starts=starts, looked_at=now), replace(node, operands=tuple(operands))


def renewed(memory: Memory, wanted: Wanted, token: str | None) -> Memory:
    """Changed settings, or a user's request (`token`; None: unknown), reset the failures."""
    asked = token is not None and token != memory.retry_token
    if memory.digest == wanted.digest and not asked:
        return memory
    fresh = replace(memory, digest=wanted.digest, failures={}, rolled_back="", done="")
    return replace(fresh, retry_token=token) if token is not None else fresh


def observed(memory: Memory, host: HostFacts, node: NodeFacts | None, wanted: Wanted, now: float) -> Memory:
    """The memory after host and node were observed: restarts, ended jobs, unloaded modules, a gate that is closed."""
    memory = _booted(memory, host, wanted, now)
    seen = {"installed": host.smi.version, "kernel": host.kernel, "licence": host.smi.licence}
    memory = replace(memory, begun="", seen=seen, checked_at=now)
    job = host.job
    if job and job.state != "running" and job.id != memory.last_job:
        memory = _ended(replace(memory, last_job=job.id), job, wanted, now)
    if "nvidia" not in host.loaded:
        memory = replace(memory, driver_since=0.0)
    if node is not None:
        closed = bool(opening_labels(node))
        if closed != bool(memory.gated_at):
            memory = replace(memory, gated_at=now if closed else 0.0)
    return memory


def _booted(memory: Memory, host: HostFacts, wanted: Wanted, now: float) -> Memory:
    if memory.boot_id == host.boot_id and memory.kernel == host.kernel:
        return memory
    kept = {Step.FETCH, Step.LOAD, Step.INSTALL, Step.REMOVE} if memory.kernel == host.kernel else {Step.FETCH}
    failures = {step: failure for step, failure in memory.failures.items() if Step(step) in kept}
    died_at, first = memory.begun, not memory.boot_id
    memory = replace(memory, failures=failures, boot_id=host.boot_id, kernel=host.kernel, done="")
    memory = replace(memory, driver_since=0.0, changed=False, loaded_at=0.0)
    if died_at == Step.LOAD.value and not first:
        return failed(
            memory,
            Step.LOAD,
            "the machine restarted while loading the modules",
            wanted.timings,
            now,
            code=DIED,
        )
    return memory


def _ended(memory: Memory, job: Job, wanted: Wanted, now: float) -> Memory:
    if job.state == "succeeded":
        return replace(memory, done=job.step.value, changed=memory.changed or job.step in CHANGING)
    if job.target.sha256 != target_of(wanted, memory).sha256:
        return memory
    cut = "it was interrupted: killed, or the machine restarted"
    sentence, code = (
        (job.sentence or f"exit code {job.code}", job.code) if job.state == "failed" else (cut, INTERRUPTED)
    )
    text = f"{job.step.value} of driver {job.target.version} failed: {sentence}"
    return failed(memory, job.step, text, wanted.timings, now, code=code)


def failed(memory: Memory, step: Step, sentence: str, timings: Timings, now: float, *, code: int = 0) -> Memory:
    """One more failed attempt: when the next one is due, if any."""
    before = memory.failures.get(step.value, Failure())
    limits = {
        Step.FETCH: timings.checksum_attempts,
        Step.INSTALL: timings.install_attempts,
        Step.REMOVE: timings.install_attempts,
        Step.UNLOAD: timings.unload_attempts,
        Step.LOAD: timings.verify_attempts,
    }
    counts = code == CHECKSUM if step is Step.FETCH else code not in TRANSIENT
    hard = before.hard + (1 if counts else 0)
    limit = limits.get(step)
    tired = limit is not None and hard >= limit
    final = code == READ_ONLY or (tired and (step not in RETRIED_FOREVER or code == DIED))
    pause = min(timings.retry_seconds * 2 ** min(before.count, 20), timings.retry_max_seconds)
    failure = Failure(before.count + 1, hard, sentence, now + pause, tired or final, final)
    count = memory.failed.get(step.value, 0) + 1
    return replace(
        memory,
        failures={**memory.failures, step.value: failure},
        failed={**memory.failed, step.value: count},
        done="",
        begun="",
    )


def planned(memory: Memory, plan: Plan, now: float) -> Memory:
    """The memory once a plan is made: state and message, verification, and giving up a build."""
    if plan.state is not memory.state:
        spent = {**memory.durations, memory.state.value: now - memory.since} if memory.since else memory.durations
        memory = replace(memory, state=plan.state, since=now, durations=spent)
    memory = replace(memory, reason=plan.reason, sentence=plain(plan.sentence, LONGEST_SENTENCE), upcoming=plan.steps)
    if plan.give_up:
        memory = replace(memory, rolled_back=plan.give_up, failures={}, done="")
    if plan.proven:
        kept = {name: each for name, each in memory.failures.items() if Step(name) in AROUND}
        memory = replace(
            memory,
            failures=kept,
            verified=plan.target,
            previous=memory.previous if memory.rolled_back else None,
            driver_since=memory.driver_since or now,
        )
    return memory


def about_to(memory: Memory, plan: Plan) -> Memory:
    """What must be on disk before a step is performed, in case the agent ends during the step."""
    step, verified, target = plan.step, memory.verified, plan.target
    if step in CHANGING and not memory.rolled_back and memory.previous is None and verified:
        other = (verified.sha256, verified.module_type) != (target.sha256, target.module_type)
        memory = replace(memory, previous=verified if other else None)
    attempts = {**memory.attempts, step.value: memory.attempts.get(step.value, 0) + 1}
    return replace(memory, begun=step.value, attempts=attempts)


def performed(memory: Memory, plan: Plan, now: float) -> Memory:
    """The memory after a step that succeeded. The end of a job is noted by `observed`."""
    memory = replace(memory, begun="", done=plan.step.value)
    if plan.step in CHANGING:
        memory = replace(memory, changed=True)
    if plan.step is Step.LOAD:
        memory = replace(memory, loaded_at=now)
    if plan.restarts:
        memory = replace(memory, changed=True, driver_since=now)
    if plan.step is Step.DELETE_OPERAND and plan.pod:
        memory = replace(memory, kicks={**memory.kicks, plan.pod.app: now})
    return memory
