"""Which of the operator's pods on this node has to be started anew. Pure."""

from __future__ import annotations

import math

from grid_agent.facts import TOOLKIT, VALIDATOR, HostFacts, NodeFacts, Pod
from grid_agent.memory import Memory
from grid_agent.wanted import Wanted


def early(host: HostFacts, node: NodeFacts, wanted: Wanted, memory: Memory, now: float) -> Pod | None:
    """The next pod that saw no driver, or an older one. None: all of them may stay.

    Toolkit and validator look at the host exactly once, at the start of their first init container, and wait for ever
    when there was no driver then. After a change of driver every operand that ran before it holds stale files.
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
    # The API server tells whole seconds. A pod of the very second may have seen either: where it waits it is started
    # anew later on, where it runs it was let in after the verification.
    before = pod.begun < math.floor(memory.driver_since)
    if memory.changed and before:
        return True
    if wanted.legacy_validation_markers or pod.app not in (TOOLKIT, VALIDATOR):
        return False  # with the seed's marker, pods that came early are let through by it
    if host.driver_ready == "container":  # as long as the seed's marks are there, it would only find them again
        return not host.legacy_marker and host.legacy_mount == "none"
    return pod.looking and (before or now - pod.begun > wanted.timings.kick_seconds)
