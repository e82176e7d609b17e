"""Facts and settings -> what to do next, and why. Pure: no clock, no files, no network.

Each plan is derived from the facts alone, so it is right for any state of the host: first boot, an incomplete
installation, another kernel, a driver that something else installed. Memory only delays attempts and ends them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from grid_agent.early_pods import pod_to_restart
from grid_agent.facts import RETRY_ANNOTATION, HostFacts, Job, NodeFacts
from grid_agent.faults import Cure, faults, remains
from grid_agent.memory import Failure, Memory
from grid_agent.plan import DISRUPTIVE, DOING, STATE_OF, Case, Plan, names, target_of, word
from grid_agent.preconditions import unmet
from grid_agent.steps import State, Step
from grid_agent.unsupported import unsupported
from grid_agent.wanted import Wanted

CURED_BY = {
    Step.CONFIGURE: Cure.CONFIGURE,
    Step.LOAD: Cure.LOAD,
    Step.UNLOAD: Cure.RELOAD,
    Step.INSTALL: Cure.INSTALL,
}
"""The fault that a step is for."""


def decide(host: HostFacts, node: NodeFacts | None, wanted: Wanted, memory: Memory, now: float) -> Plan:
    """What to do with this host now. `node` is None while the API server does not answer.

    `now` is in seconds since the epoch, of the same clock as the memory's times and the pods' `begun`.
    """
    target = target_of(wanted, memory)
    case = Case(host, node, wanted, memory, now, target, faults(host, target, wanted) if wanted.present else ())
    if host.job and host.job.state == "running":
        return _running(case, host.job)
    if not wanted.present:
        return _again(case, _removal(case))
    if not case.found:
        return _settled(case)
    if no := unsupported(host, target, wanted, case.found):
        return _blocked(case, no.reason, no.sentence)
    if outside := next((fault for fault in case.found if fault.cure is Cure.OUTSIDE), None):
        return _blocked(case, outside.reason, outside.sentence)
    return _again(case, _work(case, tuple(_pending(case))))


def _again(case: Case, plan: Plan) -> Plan:
    """Another attempt to unload a driver that serves keeps the condition's reason: it is no news, and no event."""
    failed = case.memory.failures.get(Step.UNLOAD.value)
    ordinary = plan.reason == "PodsLeaving" or plan.reason in {word(step) for step in Step}
    again = failed and case.serving and Step.UNLOAD in plan.steps and ordinary
    return replace(plan, reason=f"{word(Step.UNLOAD)}Failed") if again else plan


def _running(case: Case, job: Job) -> Plan:
    """Wait for a job; close the gate again where the operator has removed the labels meanwhile."""
    text = f"{DOING[job.step]} driver {job.target.version}, for {max(0, case.now - job.started):.0f} s now"
    stripped = case.node is not None and not case.gate_closed and not case.serving
    return case.plan(STATE_OF[job.step], word(job.step), text, Step.GATE if stripped else Step.WAIT)


def _pending(case: Case) -> Iterator[Step]:
    """Every step that this host still needs, in order."""
    host, cures = case.host, {fault.cure for fault in case.found}
    install = Cure.INSTALL in cures
    unload = (install and bool(host.loaded)) or host.nouveau or Cure.RELOAD in cures
    fetch = install and case.target.sha256 not in host.cached
    change = install or unload
    if fetch and case.serving:
        yield Step.FETCH  # the node keeps working meanwhile
    if change and not case.gate_closed:
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
    """The first of the pending steps, unless a precondition is unmet, or it failed too often or just now."""
    step, host = steps[0], case.host
    if any(each in DISRUPTIVE for each in steps) and (wait := unmet(case, steps)):
        return wait
    failure = _failure(case, steps)
    if failure.tired and (stop := _given_up(case, step, failure)):
        return stop
    if case.now < failure.retry_at:
        text = f"{failure.sentence}; attempt {failure.count + 1} in {failure.retry_at - case.now:.0f} s"
        return case.plan(STATE_OF[step], f"{word(step)}Failed", text)
    if failure.tired and not (step is Step.UNLOAD and case.serving):
        stop = _blocked(case, f"{word(step)}Failed", failure.sentence)
        return stop if stop.step is not Step.WAIT else replace(stop, steps=steps)
    licence = _licence_pause(case, step)
    if licence:
        return licence
    text = f"{DOING[step]} driver {case.target.version}: {_why(case, step)}"
    if case.memory.rolled_back:
        text = f"{text} (restoring the previous driver: {case.memory.rolled_back})"
    if step is Step.UNLOAD and host.gpu_processes:
        text = f"{text}; held by {names(tuple(str(each) for each in host.gpu_processes))}"
    return case.plan(STATE_OF[step], word(step), text, *steps)


def _failure(case: Case, steps: tuple[Step, ...]) -> Failure:
    """Failed attempts at the first step. Modules are not loaded anew, either, while that is known not to help."""
    failures = case.memory.failures
    if steps[0] is Step.UNLOAD and Step.INSTALL not in steps and Step.LOAD.value in failures:
        return failures[Step.LOAD.value]
    return failures.get(steps[0].value, Failure())


def _licence_pause(case: Case, step: Step) -> Plan | None:
    """Getting a licence takes time after the modules are loaded; that is no failure yet."""
    young = case.now - case.memory.loaded_at < case.wanted.timings.licence_seconds
    if step is Step.LOAD and young and {fault.reason for fault in case.found} == {"Unlicensed"}:
        return case.plan(State.VERIFYING, "WaitingForLicence", case.found[0].sentence)
    return None


def _given_up(case: Case, step: Step, failure: Failure) -> Plan | None:
    """Too many attempts at this step: the previous driver is restored, once, or the agent stops and reports why.

    None: another attempt at a harmless step is due.
    """
    memory, previous = case.memory, case.memory.previous
    text = failure.sentence
    wanted = case.wanted.target
    other = previous and (previous.sha256, previous.module_type) != (wanted.sha256, wanted.module_type)
    can = other and previous and previous.sha256 in case.host.cached
    if can and previous and not memory.rolled_back and not case.serving and step is not Step.UNLOAD:
        plan = case.plan(State.INSTALLING, "RollingBack", f"{text}; restoring driver {previous.version}")
        return replace(plan, give_up=text)
    if not failure.final and case.now >= failure.retry_at:
        return None
    if memory.rolled_back:
        return _blocked(case, "RollbackFailed", f"{memory.rolled_back}; restoring {case.target.version}: {text}")
    again = f"Fix this, then set the node's annotation {RETRY_ANNOTATION} to a new value"
    return _blocked(case, f"{word(step)}Failed", f"{text.rstrip('.')}. {again}")


def _blocked(case: Case, reason: str, sentence: str) -> Plan:
    """Stop with a reason. The gate is closed, unless an earlier build that this agent verified serves the node."""
    if case.serving:
        text = f"{sentence}. Driver {case.host.smi.version} remains in service"
        if case.gate_ours:
            return case.plan(State.BLOCKED, reason, text, Step.UNGATE)
        return case.plan(State.BLOCKED, reason, text)
    text = f"{sentence}. No GPU Pod can start on this node until this is fixed"
    if case.node is not None and not case.gate_closed:
        return case.plan(State.BLOCKED, reason, text, Step.GATE)
    return case.plan(State.BLOCKED, reason, text)


def _settled(case: Case) -> Plan:
    """The driver is verified: the remaining steps."""
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
        if case.gate_ours and not traces and steps[0] is Step.CLEAN:
            return case.plan(State.UNGATING, "Ungate", f"{DOING[Step.UNGATE]} driver {build}", Step.UNGATE)
        return case.plan(STATE_OF[steps[0]], f"{word(steps[0])}Failed", f"{failure.sentence}; the agent tries again")
    if node is None and memory.gated_at:
        text = f"driver {build} works, but the API server does not answer, so the gate of this node remains closed"
        return case.plan(State.WAITING, "ApiUnreachable", text)
    if node and (pod := pod_to_restart(host, node, case.wanted, memory, case.now)):
        text = f"driver {build} works; {pod.name} checked the driver before that and is restarted"
        return case.plan(State.KICKING, "RestartingOperands", text, Step.DELETE_OPERAND, pod=pod)
    return _in_service(case)


def _in_service(case: Case) -> Plan:
    """Nothing has to be changed; what keeps a node from being as the settings require it is in the message."""
    memory, smi, build = case.memory, case.host.smi, case.target.version
    if memory.rolled_back:
        text = f"{memory.rolled_back}. Driver {build} is restored and in service; change the settings to try again"
        return case.plan(State.BLOCKED, "RolledBack", text)
    licence = ", licensed" if smi.licence == "licensed" else ""
    text = f"driver {build} ({case.target.module_type} modules{licence}) works"
    if not case.wanted.persistence or smi.persistence:
        return case.plan(State.READY, "DriverVerified", text)
    due = case.now >= memory.failures.get(Step.PERSIST.value, Failure()).retry_at
    text = f"{text}, but persistence mode is off: the driver is initialized anew for each process"
    return case.plan(State.READY, "DriverVerified", text, Step.PERSIST if due else Step.WAIT)


def _removal(case: Case) -> Plan:
    """The settings no longer require the driver: gate, unload, remove."""
    host = case.host
    if host.configured and not remains(host) and not host.loaded:
        text = "the driver was removed as the settings require; the gate of this node remains closed"
        steps = (Step.GATE,) if case.node and not case.gate_closed else ()
        return case.plan(State.REMOVED, "Removed", text, *steps)
    steps = (() if case.gate_closed else (Step.GATE,)) + (
        *((Step.CLEAN,) if host.legacy_marker or host.legacy_mount in ("root", "deleted") else ()),
        *((Step.UNLOAD,) if host.loaded else ()),
        *((Step.REMOVE,) if remains(host) else ()),
        *(() if host.configured else (Step.CONFIGURE,)),
    )
    return _work(case, steps)


def _why(case: Case, step: Step) -> str:
    """The fault that the step is for, or the first one."""
    if not case.found:
        return "the settings no longer require it"
    fitting = (fault for fault in case.found if fault.cure is CURED_BY.get(step))
    return next(fitting, case.found[0]).sentence
