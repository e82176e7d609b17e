"""One step of the agent: look, decide, do at most one bounded thing, remember."""

from __future__ import annotations

from grid_agent.facts import ClusterApi, Host
from grid_agent.memory import Memory
from grid_agent.wanted import Wanted


def advance(memory: Memory, host: Host, cluster: ClusterApi, wanted: Wanted, now: float) -> Memory:
    """The memory after one step. Never raises for what host and cluster refuse: that becomes state and sentence.

    `now`: seconds since the epoch. Long work is started as a job of the host and found again by later calls.
    """
    raise NotImplementedError
