"""Failures that a user can encounter; each text describes what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class SimulationError(Exception):
    """Base of the simulator's expected failures. The text is for the user."""


class Busy(SimulationError):
    """Raised where another command is at work on the same simulated stack."""


class Protected(SimulationError):
    """Raised where the stack's resources are protected against deletion."""


class ControlPlaneFailed(SimulationError):
    """A control-plane process did not start; the text names it, its last lines and its log."""


class Interrupted(SimulationError):
    """Raised where the user stopped the run; the engine has saved its progress."""


class UnknownTarget(SimulationError):
    """Raised where no resource has the name that a target or an exclusion has."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        hint = f"Did you mean {' or '.join(near)}?" if near else "`pulumi stack --show-urns` lists the resources."
        super().__init__(
            f"--target or --exclude: no resource in the state is called '{name}'.\n  {hint}\n"
            "  A resource that does not exist yet has no name in the state; write its URN."
        )


class NotSimulated(SimulationError):
    """Raised where the stack has not been deployed."""


class NothingToCancel(SimulationError):
    """Raised where no run is under way, and none has left a lock."""


class ChangesFound(SimulationError):
    """Raised where there are differences, and the caller expected none."""


class EngineFailed(SimulationError):
    """Raised where the engine ended with an error. Its diagnostics went to the event callback; this names the
    operation.
    """


class Locked(EngineFailed):
    """Raised where another run holds the lock of the stack, or a killed one has left it."""

    def __init__(self, stack: str, locks: Sequence[Mapping[str, Any]]) -> None:
        holders = [
            f"  {each.get('username')}@{each.get('hostname')}, process {each.get('pid')}, since {each.get('timestamp')}"
            for each in locks
        ]
        super().__init__(
            "\n".join(
                [
                    f"{stack}: the stack is currently locked by {len(holders)} lock(s).",
                    *holders,
                    "  If this run is still under way, wait for it. If it has ended or was killed, "
                    f"`physai cancel {stack}` removes the lock, and the next run continues.",
                ]
            )
        )


class EngineLost(EngineFailed):
    """Raised where the program lost its connection to the engine: no fault of the stack's, and the same run may well
    succeed.
    """
