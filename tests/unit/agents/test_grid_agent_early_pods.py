"""Which pods started too early: the API server reports their start in whole seconds."""

from __future__ import annotations

import pytest

from grid_agent.early_pods import pod_to_restart
from grid_agent.facts import TOOLKIT, HostFacts, NodeFacts, Pod
from grid_agent.memory import Memory
from grid_agent.wanted import Timings, Wanted

VERIFIED = 1_795_000_000.6
WANTED = Wanted("595.91.07", "a" * 64, timings=Timings(kick_seconds=120))
HOST = HostFacts(driver_ready="host")


@pytest.mark.parametrize(
    ("begun", "looking", "after", "kicked"),
    [
        (1_794_999_999.0, False, 5, True),
        (1_795_000_000.0, False, 5, False),
        (1_795_000_000.0, True, 5, False),
        (1_795_000_000.0, True, 121, True),
        (1_795_000_001.0, False, 500, False),
        # Kubelet's clock is ahead of the agent's, by microseconds or more.
        (1_795_000_000.0 - 3e-6, False, 5, False),
        (1_795_000_000.0 - 0.3, False, 5, False),
        (1_795_000_000.0 - 0.5, False, 5, True),
    ],
)
def test_only_a_pod_of_an_earlier_second_or_one_that_hangs_is_restarted(
    begun: float, looking: bool, after: float, kicked: bool
) -> None:
    pod = Pod("gpu-operator", "toolkit-1", "t", TOOLKIT, begun=begun, looking=looking)
    node = NodeFacts("rtx-0", operands=(pod,))
    memory = Memory(driver_since=VERIFIED, changed=True)
    assert (pod_to_restart(HOST, node, WANTED, memory, VERIFIED + after) is pod) is kicked
