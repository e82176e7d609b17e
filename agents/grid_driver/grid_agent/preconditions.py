"""Preconditions of changing a driver. Pure."""

from __future__ import annotations

from grid_agent.facts import Pod
from grid_agent.plan import Case, Plan, names, pod_names
from grid_agent.steps import State, Step


def unmet(case: Case, steps: tuple[Step, ...]) -> Plan | None:
    """A plan that waits for a precondition, or meets it; None: the first of `steps` may be performed."""
    if case.node is None:
        text = f"driver {case.target.version} waits for the API server: without it no Pod can be kept off this node"
        return case.plan(State.WAITING, "ApiUnreachable", text, Step.WAIT, *steps)
    pods = (case.node.gpu_pods or ()) if case.host.loaded else ()
    waiting = _policy(case, steps, pods)
    if waiting or steps[0] is Step.GATE:
        return waiting
    return _wait_for_pods(case, steps, pods) or _wait_for_operands(case, steps) or _wait_for_processes(case, steps)


def _policy(case: Case, steps: tuple[Step, ...], pods: tuple[Pod, ...]) -> Plan | None:
    """GPU Pods that the upgrade policy protects. A node that no verified driver serves is gated regardless."""
    policy, build = case.wanted.upgrade, case.target.version
    if steps[0] is Step.GATE and not case.serving:
        return None
    if pods and policy == "wait":
        text = f"driver {build} waits until these GPU Pods end ({names(pod_names(pods))}); the upgrade policy is wait"
        return case.plan(State.WAITING, "GpuPodsRunning", text, Step.WAIT, *steps)
    seen = case.node is not None and case.node.gpu_pods is not None
    if case.host.loaded and case.host.gpu_processes and not seen and policy != "wait":
        text = f"upgrade policy {policy} needs permission to list the Pods of all namespaces, which is missing"
        return case.plan(State.WAITING, "MayNotListPods", text, Step.WAIT, *steps)
    return None


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
    if not case.host.gpu_processes or not case.host.loaded:
        return None
    text = f"{names(case.host.gpu_processes)} still use the GPU; driver {case.target.version} waits until they end"
    return case.plan(State.WAITING, "GpuInUse", text, Step.WAIT, *steps)
