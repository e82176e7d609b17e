"""Failures that a user can encounter; each text describes what to do."""

from __future__ import annotations


class SimulationError(Exception):
    """Base of the simulator's expected failures. The text is for the user."""


class Busy(SimulationError):
    """Another command is at work on the same simulated stack."""


class Protected(SimulationError):
    """The stack's resources are protected against deletion."""


class ControlPlaneFailed(SimulationError):
    """A control-plane process did not start; the text names it, its last lines and its log."""


class Interrupted(SimulationError):
    """The user stopped the run; the engine has saved its progress."""


class EngineFailed(SimulationError):
    """The engine ended with an error. Its diagnostics went to the event callback; this names the operation."""


class EngineLost(EngineFailed):
    """The program lost its connection to the engine: no fault of the stack's, and the same run may well succeed."""
