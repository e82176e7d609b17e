"""The operator's Pods on this node that started too early and have to be restarted. Pure."""

from __future__ import annotations

from grid_agent.facts import TOOLKIT, VALIDATOR, HostFacts, NodeFacts, Pod
from grid_agent.memory import Memory
from grid_agent.wanted import Wanted


def pod_to_restart(host: HostFacts, node: NodeFacts, wanted: Wanted, memory: Memory, now: float) -> Pod | None:
    """The next Pod that found no driver, or an older one. None: none has to be restarted.

    Toolkit and validator check the host exactly once, at the start of their first init container, and wait forever
    when there was no driver then. After a change of driver every operand that ran before it has stale files.
    """
    stale = [pod for pod in node.operands if not pod.terminating and _stale(pod, host, wanted, memory, now)]
    order = {TOOLKIT: 0, VALIDATOR: 1}
    for pod in sorted(stale, key=lambda pod: (order.get(pod.app, 2), pod.app, pod.name)):
        if now - memory.kicks.get(pod.app, 0.0) >= wanted.timings.kick_seconds:
            return pod
    return None


def _stale(pod: Pod, host: HostFacts, wanted: Wanted, memory: Memory, now: float) -> bool:
    if pod.begun is None:
        return False
    # The API server reports whole seconds, so a Pod began up to a second later. One of the second of the verification
    # may have found either: where it waits it is restarted later, where it runs it was admitted after that.
    before = pod.begun + 1 <= memory.driver_since
    if memory.changed and before:
        return True
    if wanted.legacy_validation_markers or pod.app not in (TOOLKIT, VALIDATOR):
        return False  # the seed's marker admits Pods that started early
    if host.driver_ready == "container":  # while the seed's traces exist, it would only find them again
        return not host.legacy_marker and host.legacy_mount == "none"
    return pod.looking and (before or now - pod.begun > wanted.timings.kick_seconds)
