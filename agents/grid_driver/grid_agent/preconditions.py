"""Preconditions of changing a driver. Pure."""

from __future__ import annotations

from grid_agent.facts import Pod
from grid_agent.plan import Case, Plan, names, pod_names, word
from grid_agent.steps import State, Step


def unmet(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    """A plan that waits for a precondition, or meets it; None: the first of `steps` may be performed."""
    if steps[0] is Step.FETCH:
        return _gate_for_nothing(case, steps)
    if case.node is None:
        text = f"driver {case.target.version} waits for the API server: without it no Pod can be kept off this node"
        return case.plan(State.WAITING, "ApiUnreachable", text, Step.WAIT, *steps)
    pods = (case.node.gpu_pods or ()) if case.host.loaded else ()
    if waiting := _policy(case, steps, pods) or _postponed(case, steps, pods):
        return waiting
    if steps[0] is Step.GATE:
        return None
    return _wait_for_pods(case, steps, pods) or _wait_for_operands(case, steps) or _wait_for_processes(case, steps)


def _policy(case: Case, steps: tuple[Step, ...], pods: tuple[Pod, ...]) -> Plan | None:
    """GPU Pods that the upgrade policy protects. A node that no verified driver serves is gated regardless."""
    policy, build = case.wanted.upgrade, case.target.version
    if steps[0] is Step.GATE and not case.serving:
        return None
    if pods and policy == "wait":
        text = f"driver {build} waits until these GPU Pods end ({names(pod_names(pods))}); the upgrade policy is wait"
        return _held_open(case, State.WAITING, "GpuPodsRunning", text, steps)
    seen = case.node is not None and case.node.gpu_pods is not None
    if case.host.loaded and case.host.gpu_processes and not seen and policy != "wait":
        text = f"upgrade policy {policy} needs permission to list the Pods of all namespaces, which is missing"
        return _held_open(case, State.WAITING, "MayNotListPods", text, steps)
    return None


def _gate_for_nothing(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    """A download may take days; until it has ended, a driver that serves needs no closed gate."""
    if not (case.serving and case.gate_ours):
        return None
    text = f"downloading driver {case.target.version}; driver {case.host.smi.version} serves meanwhile"
    return case.plan(State.FETCHING, word(Step.FETCH), text, Step.UNGATE, *steps)


def _postponed(case: Case, steps: tuple[Step, ...], pods: tuple[Pod, ...]) -> Plan | None:
    """A change that can't be made now of a driver that serves: the gate is open until it can.

    Closing the gate restarts the operator's Pods, so it is closed only when nothing known prevents the change.
    """
    if not case.serving:
        return None
    failures = ((step, case.memory.failures[step.value]) for step in steps if step.value in case.memory.failures)
    for step, failure in failures:
        given_up = failure.final or (failure.tired and step is Step.LOAD and Step.INSTALL not in steps)
        if given_up or case.now < failure.retry_at:
            state = State.BLOCKED if failure.tired else State.WAITING
            again = "" if given_up else f"; attempt {failure.count + 1} in {failure.retry_at - case.now:.0f} s"
            text = f"{failure.sentence}{again}. Driver {case.host.smi.version} remains in service"
            return _held_open(case, state, f"{word(step)}Failed", text, steps)
    unload = case.memory.failures.get(Step.UNLOAD.value)
    if unload and unload.tired and pods:  # no Pod is evicted for one more attempt at what failed so often
        text = f"{unload.sentence}; the next attempt waits until these GPU Pods end ({names(pod_names(pods))})"
        text = f"{text}. Driver {case.host.smi.version} remains in service"
        return _held_open(case, State.BLOCKED, "UnloadFailed", text, steps)
    if case.holders and not case.holders_are_ending:
        text = f"{names(case.holders)} still use the GPU; driver {case.target.version} waits until they end"
        return _held_open(case, State.WAITING, "GpuInUse", text, steps)
    return None


def _held_open(case: Case, state: State, reason: str, text: str, steps: tuple[Step, ...]) -> Plan:
    """Wait, with the gate open where a verified driver serves."""
    return case.plan(state, reason, text, Step.UNGATE if case.serving and case.gate_ours else Step.WAIT, *steps)


def _wait_for_pods(case: Case, steps: tuple[Step, ...], pods: tuple[Pod, ...]) -> Plan | None:
    if not pods:
        return None
    going = [pod for pod in pods if not pod.terminating]
    text = f"draining GPU Pods from this node for driver {case.target.version}: {names(pod_names(pods))}"
    act = Step.EVICT if going else Step.WAIT
    return case.plan(State.DRAINING, "Draining", text, act, *steps, pod=going[0] if going else None)


def _wait_for_operands(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    """The operator removes its Pods itself; one that remains is deleted, and one that still remains is ignored."""
    operands = case.node.operands if case.node else ()
    waited, patience = case.now - case.memory.gated_at, case.wanted.timings.pods_seconds
    if not operands or waited >= 2 * patience:
        return None
    slow = [pod for pod in operands if not pod.terminating] if waited > patience else []
    text = f"waiting until the GPU Operator's Pods leave this node: {names(pod_names(operands))}"
    act = Step.DELETE_OPERAND if slow else Step.WAIT
    return case.plan(State.GATING, "PodsLeaving", text, act, *steps, pod=slow[0] if slow else None)


def _wait_for_processes(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    holders = (*case.holders, *(str(each) for each in case.host.gpu_processes if str(each) not in case.holders))
    if not holders or not case.host.loaded:
        return None
    text = f"{names(holders)} still use the GPU; driver {case.target.version} waits until they end"
    return case.plan(State.WAITING, "GpuInUse", text, Step.WAIT, *steps)
