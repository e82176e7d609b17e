"""Homes of simulations, apart from the user's own."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from simulator import processes, resident
from simulator.clusters import Clusters
from simulator.home import Home
from simulator.metrics.telemetry import Telemetry
from simulator.tools import Toolbox


@dataclass(frozen=True)
class Homes:
    """Makes homes that share what takes time to make: the built commands, and the process that has loaded the program.

    The fixture `kept_programs` keeps that process when the last simulation of one home ends.
    """

    tools: Path
    programs: Path

    def make(self, folder: Path) -> Home:
        folder.mkdir(parents=True, exist_ok=True)
        for name, shared in (("tools", self.tools), (resident.FOLDER, self.programs)):
            with suppress(FileExistsError):  # another worker may have made it meanwhile
                (folder / name).symlink_to(shared)
        return Home(folder)

    def end_programs(self) -> None:
        for folder in self.programs.iterdir():
            processes.kill(folder)


def wipe(home: Home) -> None:
    """Ends and removes what is left of a home's simulations."""
    for folder in home.folder.glob("simulations/*"):
        Telemetry(folder).wipe()
        Clusters(folder / "clusters", Toolbox(())).wipe()
        shutil.rmtree(folder, ignore_errors=True)
