"""The simulator as an optional distribution: the check that it is installed, and the message of a command that needs
it.
"""

from __future__ import annotations

from importlib.util import find_spec

EXTRA = "physical-ai-workbench[simulator]"


def has_simulator() -> bool:
    """True if the package `simulator` is installed."""
    return find_spec("simulator") is not None


def missing_simulator(problem: BaseException, command: str) -> str | None:
    """Text for a command that failed because the simulator is not installed; None for any other failure."""
    if not isinstance(problem, ModuleNotFoundError) or (problem.name or "").partition(".")[0] != "simulator":
        return None
    return (
        f"`physai {command}` needs the simulator, which is not installed.\n"
        f"  Install it: pip install '{EXTRA}'. A command with --kubeconfig can read a cluster without it."
    )
