"""Facts and settings -> what to do next, and why. Pure: no clock, no files, no network.

The plan is made anew from the facts each time, so it is right from any state the host may be in: first boot, half an
install, another kernel, a driver of somebody else's. Memory only slows attempts down and ends them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grid_agent.facts import RETRY_ANNOTATION, HostFacts, Job, NodeFacts
from grid_agent.faults import Cure, faults, remains
from grid_agent.kick import early
from grid_agent.memory import Failure, Memory
from grid_agent.obstacles import obstacle
from grid_agent.plan import DISRUPTIVE, DOING, STATE_OF, Case, Plan, names, target_of, word
from grid_agent.refusals import refusal
from grid_agent.steps import State, Step
from grid_agent.wanted import Wanted

CURED_BY = {
    Step.CONFIGURE: Cure.CONFIGURE,
    Step.LOAD: Cure.LOAD,
    Step.UNLOAD: Cure.RELOAD,
    Step.INSTALL: Cure.INSTALL,
}
"""What a step cures first of all."""


def decide(host: HostFacts, node: NodeFacts | None, wanted: Wanted, memory: Memory, now: float) -> Plan:
    """What to do with this host now. `node` is None while the API server can't be asked.

    `now` is in seconds since the epoch, of the same clock as the memory's times and the pods' `begun`.
    """
    target = target_of(wanted, memory)
    case = Case(host, node, wanted, memory, now, target, faults(host, target, wanted) if wanted.present else ())
    if host.job and host.job.state == "running":
        return _running(case, host.job)
    if not wanted.present:
        return _removal(case)
    if not case.found:
        return _settled(case)
    if no := refusal(host, target, wanted, case.found):
        return _blocked(case, no.reason, no.sentence)
    if outside := next((fault for fault in case.found if fault.cure is Cure.OUTSIDE), None):
        return _blocked(case, outside.reason, outside.sentence)
    return _work(case, tuple(_pending(case)))


def _running(case: Case, job: Job) -> Plan:
    """Wait for a job; put the gate back where the operator has stripped the labels meanwhile."""
    text = f"{DOING[job.step]} driver {job.target.version}, for {max(0, case.now - job.started):.0f} s now"
    stripped = case.node is not None and not case.gate_shut and not case.serving
    return case.plan(STATE_OF[job.step], word(job.step), text, Step.GATE if stripped else Step.WAIT)


def _pending(case: Case) -> Iterator[Step]:
    """Every step between this host and the wanted driver, in order."""
    host, cures = case.host, {fault.cure for fault in case.found}
    install = Cure.INSTALL in cures
    unload = (install and bool(host.loaded)) or host.nouveau or Cure.RELOAD in cures
    fetch = install and case.target.sha256 not in host.cached
    change = install or unload
    if fetch and case.serving:
        yield Step.FETCH  # the node goes on working meanwhile
    if change and not case.gate_shut:
        yield Step.GATE
    if host.legacy_marker or host.legacy_mount in ("root", "deleted"):
        yield Step.CLEAN
    if fetch and not case.serving:
        yield Step.FETCH
    if not host.configured:
        yield Step.CONFIGURE
    if unload:
        yield Step.UNLOAD
    if install and remains(host):
        yield Step.REMOVE
    if install:
        yield Step.INSTALL
    if install or (host.configured and not host.gridd_configured):
        yield Step.CONFIGURE
    if install or unload or cures & {Cure.LOAD, Cure.CONFIGURE}:
        yield Step.LOAD


def _work(case: Case, steps: tuple[Step, ...]) -> Plan:
    """The first of the pending steps, unless something has to end before it, or it failed too often or just now."""
    step, host = steps[0], case.host
    if step is not Step.FETCH and any(each in DISRUPTIVE for each in steps) and (wait := obstacle(case, steps)):
        return wait
    failure = case.memory.failures.get(step.value, Failure())
    if failure.tired and (stop := _given_up(case, step, failure)):
        return stop
    if case.now < failure.retry_at:
        text = f"{failure.sentence}; attempt {failure.count + 1} in {failure.retry_at - case.now:.0f} s"
        return case.plan(STATE_OF[step], f"{word(step)}Failed", text)
    if failure.tired:
        stop = _blocked(case, f"{word(step)}Failed", failure.sentence)
        return stop if stop.step is not Step.WAIT else replace(stop, steps=steps)
    licence = _licence_pause(case, step)
    if licence:
        return licence
    text = f"{DOING[step]} driver {case.target.version}: {_why(case, step)}"
    if case.memory.rolled_back:
        text = f"{text} (putting the old driver back: {case.memory.rolled_back})"
    if step is Step.UNLOAD and host.gpu_processes:
        text = f"{text}; held by {names(host.gpu_processes)}"
    return case.plan(STATE_OF[step], word(step), text, *steps)


def _licence_pause(case: Case, step: Step) -> Plan | None:
    """A licence takes its time after the modules are loaded; that is no failure yet."""
    young = case.now - case.memory.loaded_at < case.wanted.timings.licence_seconds
    if step is Step.LOAD and young and {fault.reason for fault in case.found} == {"Unlicensed"}:
        return case.plan(State.VERIFYING, "WaitingForLicence", case.found[0].sentence)
    return None


def _given_up(case: Case, step: Step, failure: Failure) -> Plan | None:
    """Enough attempts at this step: the old driver comes back, once, or the agent stops and says why.

    None: it is time for another attempt at something that does no harm.
    """
    memory, previous = case.memory, case.memory.previous
    text = failure.sentence
    wanted = case.wanted.target
    other = previous and (previous.sha256, previous.module_type) != (wanted.sha256, wanted.module_type)
    can = other and previous and previous.sha256 in case.host.cached
    if can and previous and not memory.rolled_back and not case.serving and step is not Step.UNLOAD:
        plan = case.plan(State.INSTALLING, "RollingBack", f"{text}; driver {previous.version} is put back")
        return replace(plan, give_up=text)
    if not failure.final and case.now >= failure.retry_at and not (step is Step.UNLOAD and case.serving):
        return None
    if memory.rolled_back:
        return _blocked(case, "RollbackFailed", f"{memory.rolled_back}; putting {case.target.version} back: {text}")
    again = f"Settle that, then give the node's annotation {RETRY_ANNOTATION} a new value"
    return _blocked(case, f"{word(step)}Failed", f"{text.rstrip('.')}. {again}")


def _blocked(case: Case, reason: str, sentence: str) -> Plan:
    """Stop with a reason. The gate is shut, unless an earlier build of this agent's serves the node."""
    if case.serving:
        text = f"{sentence}. Driver {case.host.smi.version} stays in service"
        if case.gate_ours:
            return case.plan(State.BLOCKED, reason, text, Step.UNGATE)
        return case.plan(State.BLOCKED, reason, text)
    text = f"{sentence}. No GPU pod can start on this node before that"
    if case.node is not None and not case.gate_shut:
        return case.plan(State.BLOCKED, reason, text, Step.GATE)
    return case.plan(State.BLOCKED, reason, text)


def _settled(case: Case) -> Plan:
    """The driver is proven: what is left around it."""
    plan = _around(case)
    return replace(plan, proven=True)


def _around(case: Case) -> Plan:
    host, node, memory, legacy = case.host, case.node, case.memory, case.wanted.legacy_validation_markers
    build = case.target.version
    marks = (host.legacy_marker, host.legacy_mount == "root")
    busy = bool(node and node.gpu_pods) and case.wanted.upgrade == "wait"
    traces = ((not legacy and any(marks)) or host.legacy_mount == "deleted") and not busy
    steps: list[Step] = []
    if host.prebaked or traces:
        steps.append(Step.CLEAN)
    elif legacy and not all(marks):
        steps.append(Step.MARK_LEGACY)
    if case.gate_ours:
        steps.append(Step.UNGATE)
    if steps:
        failure = memory.failures.get(steps[0].value, Failure())
        if case.now >= failure.retry_at:
            plan = case.plan(STATE_OF[steps[0]], word(steps[0]), f"{DOING[steps[0]]} driver {build}", *steps)
            return replace(plan, restarts=steps[0] is Step.CLEAN and traces)
        return case.plan(STATE_OF[steps[0]], f"{word(steps[0])}Failed", f"{failure.sentence}; tries again")
    if node is None and memory.gated_at:
        text = f"driver {build} works, but the API server does not answer, so the gate of this node stays shut"
        return case.plan(State.WAITING, "ApiUnreachable", text)
    if node and (pod := early(host, node, case.wanted, memory, case.now)):
        text = f"driver {build} works; {pod.name} looked at the driver before that and is started anew"
        return case.plan(State.KICKING, "RestartingOperands", text, Step.DELETE_OPERAND, pod=pod)
    if memory.rolled_back:
        text = f"{memory.rolled_back}. Driver {build} is back and in service; change the settings to try again"
        return case.plan(State.BLOCKED, "RolledBack", text)
    licence = ", licensed" if host.smi.licence == "licensed" else ""
    text = f"driver {build} ({case.target.module_type} modules{licence}) works"
    return case.plan(State.READY, "DriverVerified", text)


def _removal(case: Case) -> Plan:
    """The driver is not wanted any more: gate, unload, remove."""
    host = case.host
    if host.configured and not remains(host) and not host.loaded:
        text = "the driver was removed on request; the gate of this node stays shut"
        steps = (Step.GATE,) if case.node and not case.gate_shut else ()
        return case.plan(State.REMOVED, "Removed", text, *steps)
    steps = (() if case.gate_shut else (Step.GATE,)) + (
        *((Step.CLEAN,) if host.legacy_marker or host.legacy_mount in ("root", "deleted") else ()),
        *((Step.UNLOAD,) if host.loaded else ()),
        *((Step.REMOVE,) if remains(host) else ()),
        *(() if host.configured else (Step.CONFIGURE,)),
    )
    return _work(case, steps)


def _why(case: Case, step: Step) -> str:
    """The fault that the step is to cure, or the first one."""
    if not case.found:
        return "it is not wanted any more"
    fitting = (fault for fault in case.found if fault.cure is CURED_BY.get(step))
    return next(fitting, case.found[0]).sentence
