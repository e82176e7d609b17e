"""Failures that a user can encounter; each text says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class SimulationError(Exception):
    """Base of the simulator's expected failures. The text is for the user."""


class Busy(SimulationError):
    """Error if another command is running on the same simulated stack."""


class Protected(SimulationError):
    """Error if resources of the stack are protected against deletion."""


class ControlPlaneFailed(SimulationError):
    """Error if a control-plane process did not start. The text names the process and its log file, and quotes the last
    lines of the log.
    """


class Interrupted(SimulationError):
    """Error if the user stopped the run. The engine has saved what the run had done."""


class UnknownTarget(SimulationError):
    """Error if no resource has the name that `--target` or `--exclude` gives."""

    def __init__(self, name: str, near: Sequence[str]) -> None:
        hint = f"Did you mean {' or '.join(near)}?" if near else "`pulumi stack --show-urns` lists the resources."
        super().__init__(
            f"--target or --exclude: no resource in the state is called '{name}'.\n  {hint}\n"
            "  A resource that does not exist yet has no name in the state; write its URN."
        )


class NotSimulated(SimulationError):
    """Error if the stack has not been deployed in the simulator."""


class NothingToCancel(SimulationError):
    """Error if there is nothing to cancel: no run is under way, and no lock is left."""


class ChangesFound(SimulationError):
    """Error if an operation finds changes although its options say that no changes are expected."""


class EngineFailed(SimulationError):
    """Error if the engine failed. The text names the operation; the engine's diagnostics went to the event callback."""


class Locked(EngineFailed):
    """Error if the stack is locked by another run, or by a killed run that has left its lock."""

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
    """Error if the program lost its connection to the engine.

    The stack is not the cause, and a repeated run may succeed.
    """
