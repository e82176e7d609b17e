"""What must end before a driver may be changed. Pure."""

from __future__ import annotations

from grid_agent.facts import Pod
from grid_agent.plan import Case, Plan, names, pod_names
from grid_agent.steps import State, Step


def obstacle(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    """The plan that waits, or clears the way; None: nothing is in the way of the first of `steps`."""
    if case.node is None:
        text = f"driver {case.target.version} waits for the API server: without it no pod can be held off this node"
        return case.plan(State.WAITING, "ApiUnreachable", text, Step.WAIT, *steps)
    pods = (case.node.gpu_pods or ()) if case.host.loaded else ()
    waiting = _policy(case, steps, pods)
    if waiting or steps[0] is Step.GATE:
        return waiting
    return _pods_go(case, steps, pods) or _operands_go(case, steps) or _processes_go(case, steps)


def _policy(case: Case, steps: tuple[Step, ...], pods: tuple[Pod, ...]) -> Plan | None:
    """GPU pods that are not to be disturbed. A node that no proven driver serves is gated all the same."""
    policy, build = case.wanted.upgrade, case.target.version
    if steps[0] is Step.GATE and not case.serving:
        return None
    if pods and policy == "wait":
        text = f"driver {build} waits for the end of GPU pods ({names(pod_names(pods))}); upgrade policy is wait"
        return case.plan(State.WAITING, "GpuPodsRunning", text, Step.WAIT, *steps)
    seen = case.node is not None and case.node.gpu_pods is not None
    if case.host.loaded and case.host.gpu_processes and not seen and policy != "wait":
        text = f"upgrade policy {policy} needs the right to list pods in all namespaces, which this account lacks"
        return case.plan(State.WAITING, "MayNotListPods", text, Step.WAIT, *steps)
    return None


def _pods_go(case: Case, steps: tuple[Step, ...], pods: tuple[Pod, ...]) -> Plan | None:
    if not pods:
        return None
    going = [pod for pod in pods if not pod.terminating]
    text = f"GPU pods leave this node for driver {case.target.version}: {names(pod_names(pods))}"
    act = Step.EVICT if going else Step.WAIT
    return case.plan(State.DRAINING, "Draining", text, act, *steps, pod=going[0] if going else None)


def _operands_go(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    """The operator takes its pods away by itself; one that lingers is deleted, one that lingers on is passed over."""
    operands = case.node.operands if case.node else ()
    waited, patience = case.now - case.memory.gated_at, case.wanted.timings.pods_seconds
    if not operands or waited >= 2 * patience:
        return None
    slow = [pod for pod in operands if not pod.terminating] if waited > patience else []
    text = f"the GPU Operator's pods leave this node: {names(pod_names(operands))}"
    act = Step.DELETE_OPERAND if slow else Step.WAIT
    return case.plan(State.GATING, "PodsLeaving", text, act, *steps, pod=slow[0] if slow else None)


def _processes_go(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    if not case.host.gpu_processes or not case.host.loaded:
        return None
    text = f"{names(case.host.gpu_processes)} still use the GPU; driver {case.target.version} waits for their end"
    return case.plan(State.WAITING, "GpuInUse", text, Step.WAIT, *steps)
