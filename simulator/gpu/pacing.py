"""Times at which the operator's controllers run. A change of a watched object runs a controller at once; a change of
any other object is noticed at a later run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from simulator.cluster.objects import at, name
from simulator.gpu import operator, upgrading
from simulator.gpu.driver import is_driver
from simulator.gpu.state import Controller, State, Write

REQUEUE_SECONDS = 120.0
"""Seconds until the upgrade controller, which watches no Pods, runs again (gpu-operator, `plannedRequeueInterval`)."""
RECREATION_SECONDS = 60.0
"""Minimum simulated seconds between two deletions of unneeded driver DaemonSets; the real operator has no minimum."""


@dataclass
class Pacing:
    """State that one operator process keeps in memory about the runs of its controllers."""

    seen: State | None = None
    """The cluster at the last call; None before the operator has started."""
    late: set[Controller] = field(default_factory=set[Controller])
    """Controllers that were woken and have not run yet."""
    followed: str = ""
    """Name of the last ClusterPolicy that was followed."""
    upgraded: float = 0.0
    recreated: float = 0.0
    """Simulated time at which a driver's DaemonSet was last deleted. `upgraded` is the simulated time of the last
    upgrade pass.
    """

    @property
    def is_waiting(self) -> bool:
        """True if a controller has to run later, even if no object changes: a woken controller that has not run yet, or
        the upgrade controller while upgrades are pending.
        """
        return bool(self.late) or (self.seen is not None and upgrading.are_pending(self.seen))

    def awake(self, state: State) -> set[Controller]:
        """Controllers that run now, at the simulated time `state.now`."""
        state = replace(state, is_due=False)
        awake = set(operator.wakes(self.seen, state)) | self.late
        if upgrading.are_pending(state) and state.now - self.upgraded >= REQUEUE_SECONDS:
            awake.add("upgrade")
        self.seen, self.late = state, set()
        self.followed = name(state.policy or {}) or self.followed
        if "upgrade" in awake and is_missing_driver_pods(state):
            self.late.add("upgrade")
        if "driver" in awake and state.now - self.recreated < RECREATION_SECONDS:
            self.late.add("driver")
        awake -= self.late
        if "upgrade" in awake:
            self.upgraded = state.now
        return awake

    def took(self, steps: Iterable[Write], now: float) -> None:
        """Records that the controllers have taken `steps` at the simulated time `now`."""
        if any(step.controller == "driver" and step.verb == "delete" for step in steps):
            self.recreated = now


def is_missing_driver_pods(state: State) -> bool:
    """True if fewer driver Pods exist than the driver DaemonSets should have.

    The upgrade controller does nothing while a driver Pod is missing (NVIDIA/k8s-operator-libs, BuildState). If it ran,
    it would not count a node as busy whose driver Pod was just deleted.
    """
    drivers = (item for item in state.daemonsets.values() if is_driver(item))
    return sum(int(at(item, "status.desiredNumberScheduled", 0)) for item in drivers) > len(state.pods)
