"""State of a simulated stack as the engine has recorded it. Reading it needs no process and no lock."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.checkpoint import Checkpoint
from simulator.home import Home


@dataclass
class SimulatedState:
    """Recorded state of the simulation of one stack."""

    stack: str
    home: Home = field(default_factory=Home.of_user)

    @property
    def folder(self) -> Path:
        return self.home.simulation(self.stack)

    @property
    def exists(self) -> bool:
        return self.folder.exists()

    def outputs(self) -> dict[str, Any]:
        """Outputs of the stack after its last update, without secrets. Empty if the stack has no outputs. An update
        that failed near its end may have outputs, too.
        """
        return self.checkpoint.outputs()

    def deployed_config(self) -> dict[str, Any]:
        """The configuration of the last update, by full key, with secrets encrypted; empty if there was no update."""
        return self.checkpoint.config()

    def locks(self) -> list[dict[str, Any]]:
        """The locks that a running or killed run holds; empty if there are none."""
        return self.checkpoint.locks()

    @property
    def checkpoint(self) -> Checkpoint:
        return Checkpoint(self.folder / "backend", self.stack)
