"""The simulator's folders: one cache of installed programs, and one folder for each simulated stack."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from physical_ai.repository import HOME_VARIABLE, PROJECT, user_folder


def project_prefix(project: Path = PROJECT) -> str:
    """Prefix that the names of a Pulumi project's folders have in common: a digest of the project's path."""
    return hashlib.sha256(str(project).encode()).hexdigest()[:8]


@dataclass(frozen=True)
class Home:
    """The simulator's folder outside the project: $PHYSAI_HOME, or `physical-ai` in the user's cache folder."""

    folder: Path

    @classmethod
    def of_user(cls) -> Home:
        return cls(user_folder())

    @property
    def tools(self) -> Path:
        return self.folder / "tools"

    def simulation(self, stack: str, project: Path = PROJECT) -> Path:
        """The folder for one stack of a project; two projects never share a simulation."""
        return self.folder / "simulations" / f"{project_prefix(project)}-{re.sub(r'[^a-z0-9-]', '_', stack)}"

    def leftovers(self, simulation: str) -> Path:
        """The file that lists objects that a simulation has left in an existing cluster; it is kept when the simulation
        is removed.
        """
        return self.folder / "remains" / f"{simulation}.txt"

    def lock(self, stack: str) -> Path:
        return self.folder / "locks" / f"{self.simulation(stack).name}.lock"


__all__ = ["HOME_VARIABLE", "Home"]
