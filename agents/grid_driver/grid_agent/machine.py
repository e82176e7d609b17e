"""One step of the agent: observe, decide, perform at most one bounded action, remember."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grid_agent import transitions
from grid_agent.decide import decide
from grid_agent.facts import RETRY_ANNOTATION, ClusterApi, ClusterError, Condition, Host, HostError, NodeFacts
from grid_agent.memory import Memory
from grid_agent.plan import Plan, closing_labels, opening_labels
from grid_agent.report.plain import LONGEST_SENTENCE, plain
from grid_agent.steps import JOBS, State, Step
from grid_agent.wanted import Wanted

MUST_HELP = frozenset(
    {Step.CLEAN, Step.UNLOAD, Step.REMOVE, Step.FETCH, Step.INSTALL, Step.LOAD, Step.MARK_LEGACY, Step.PERSIST}
)
"""Steps that are done once on the way to a driver. One that is still ahead after it succeeded did not help."""
REPORT_SECONDS = 60.0
"""A condition whose words alone change is written this often at most."""


def advance(
    memory: Memory,
    host: Host,
    cluster: ClusterApi,
    wanted: Wanted,
    now: float,
    *,
    remember: Callable[[Memory], None] | None = None,
) -> Memory:
    """The memory after one step. Never raises for what host and cluster refuse: that becomes state and sentence.

    `now`: seconds since the epoch, on a clock that is never set back while the process runs; the Pods' `begun` are on
    the same clock, or close to it. Long work is started as a job of the host and found again by later calls.
    `remember` is called with the memory that has to survive before anything is done that may kill agent or machine.
    """
    memory = replace(transitions.clamped(memory, wanted.timings, now), faults=0)
    node, trouble = _look(cluster)
    if node is not None:
        memory, node = transitions.dated(memory, node, now)
    memory = transitions.renewed(memory, wanted, node.annotations.get(RETRY_ANNOTATION, "") if node else None)
    facts = host.inspect(wanted)
    memory = transitions.observed(memory, facts, node, wanted, now)
    plan = _explained(decide(facts, node, wanted, memory, now), trouble)
    if step := _without_effect(memory, plan):
        text = f"{step.value} of driver {plan.target.version} did not help: {plan.why or plan.sentence}"
        memory = transitions.failed(memory, step, text, wanted.timings, now)
        plan = _explained(decide(facts, node, wanted, memory, now), trouble)
    memory = transitions.planned(memory, plan, now)
    if node is not None:
        memory = _report(memory, cluster, now)
    if plan.step is Step.WAIT:
        return memory
    memory = transitions.about_to(memory, plan)
    if remember:
        remember(memory)
    try:
        return _perform(memory, plan, _World(host, cluster, node), wanted, now)
    except HostError as error:
        return transitions.failed(memory, plan.step, f"{plan.step.value} failed: {error}", wanted.timings, now)
    except ClusterError as error:
        refused = "EvictionRefused" if error.kind == "refused" else memory.reason
        sentence = plain(f"{plan.sentence}; {error}", LONGEST_SENTENCE)
        return replace(memory, begun="", done="", reason=refused, sentence=sentence)


def _look(cluster: ClusterApi) -> tuple[NodeFacts | None, ClusterError | None]:
    try:
        return cluster.observe(), None
    except ClusterError as error:
        return None, error


def _without_effect(memory: Memory, plan: Plan) -> Step | None:
    """The step that succeeded last and is wanted all the same."""
    done = Step(memory.done) if memory.done else None
    again = done is plan.step or (done in MUST_HELP and done in plan.steps)
    return done if again and done not in (Step.GATE, Step.UNGATE, Step.EVICT, Step.DELETE_OPERAND) else None


def _explained(plan: Plan, trouble: ClusterError | None) -> Plan:
    if trouble is None or plan.reason != "ApiUnreachable":
        return plan
    reason = "ApiForbidden" if trouble.kind == "forbidden" else plan.reason
    return replace(plan, reason=reason, sentence=f"{plan.sentence} ({trouble})")


@dataclass(frozen=True)
class _World:
    host: Host
    cluster: ClusterApi
    node: NodeFacts | None


def _perform(memory: Memory, plan: Plan, world: _World, wanted: Wanted, now: float) -> Memory:
    step, node, cluster = plan.step, world.node, world.cluster
    if step in JOBS:
        number = memory.jobs_started + 1
        world.host.perform(step, plan.target, wanted, f"{step.value}-{number}-{int(now)}")
        return replace(memory, jobs_started=number, begun="", done="")
    if step in (Step.GATE, Step.UNGATE) and node:
        cluster.label(closing_labels(node) if step is Step.GATE else opening_labels(node))
        memory = replace(memory, gated_at=now if step is Step.GATE else 0.0)
    elif step in (Step.EVICT, Step.DELETE_OPERAND) and plan.pod:
        patient = step is Step.EVICT and wanted.upgrade == "drain"
        (cluster.evict if patient else cluster.delete)(plan.pod)
    else:
        world.host.perform(step, plan.target, wanted, "")
    return transitions.performed(memory, plan, now)


def condition_of(memory: Memory) -> Condition:
    """The node's condition."""
    ready = memory.state is State.READY and not memory.faults
    return Condition("True" if ready else "False", memory.reason, memory.sentence)


def failed(memory: Memory, cluster: ClusterApi, reason: str, text: str, now: float) -> Memory:
    """The memory after a step in which the agent itself failed: nothing is known of the node, and that is reported."""
    memory = replace(memory, reason=reason, sentence=plain(text, LONGEST_SENTENCE), faults=memory.faults + 1)
    return _report(memory, cluster, now)


def _report(memory: Memory, cluster: ClusterApi, now: float) -> Memory:
    condition, before = condition_of(memory), memory.reported
    same = before is not None and (before.status, before.reason) == (condition.status, condition.reason)
    if same and (before == condition or now - memory.reported_at < REPORT_SECONDS):
        return memory
    try:
        cluster.report(condition)
        if not same:
            bad = memory.faults > 0 or memory.state is State.BLOCKED or condition.reason.endswith("Failed")
            cluster.event("Warning" if bad else "Normal", condition.reason, condition.message)
    except ClusterError:
        return replace(memory, reported_at=now)  # the next step tries again; until then the condition is not wrong
    return replace(memory, reported=condition, reported_at=now)
