"""Errors in the output of the Pulumi command, and what they mean. Pure functions."""

from __future__ import annotations

from simulator.errors import ChangesFound, EngineFailed, EngineLost, SimulationError

LOST = "Resource monitor has terminated"
"""Text in the messages of the SDK and of the engine about a program that lost its connection to the engine."""
LOCKED = "the stack is currently locked"
"""The engine's message if another run works on the stack, or a killed one has left its lock."""
UNEXPECTED = "no changes were expected"
"""The engine's message if `--expect-no-changes` fails."""


def errors_in(output: str) -> str:
    """Errors in the CLI's output, without duplicates. All other lines are progress, which events report as well."""
    lines = [line.strip().removeprefix("stderr: ") for line in output.splitlines()]
    errors = [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]
    return "\n".join(dict.fromkeys(errors)) or output.strip()


def _is_connection_loss(said: str) -> bool:
    """True if the message only says that the program lost its connection to the engine, and names no cause."""
    lines = said.splitlines()
    return bool(lines) and all(LOST in line for line in lines)


def failure(said: str) -> SimulationError:
    """The error to raise for the errors of a failed operation."""
    if UNEXPECTED in said:
        return ChangesFound("there are changes, and none were expected")
    return (EngineLost if _is_connection_loss(said) else EngineFailed)(said)
