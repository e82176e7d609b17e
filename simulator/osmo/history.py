"""The workflows that a simulated stack has run, which the real service would have in its database."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock

from simulator.processes import is_running, started_at

KEPT = 50
FILE = "workflows.json"
RUNNING, CANCELED = "RUNNING", "FAILED_CANCELED"
Json = dict[str, Any]
NOBODY: list[Any] = []
"""Value of a run's field `by` if the run has ended but has left objects in the cluster. During a run, `by` names the
process that follows it.
"""


class History:
    """Workflow history in the simulation's folder, deleted with the simulation. Several commands may use it at once."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE

    def all(self) -> list[Json]:
        """The last runs, at most `KEPT`, oldest first, each with an `id` such as `train-3` and a `status`."""
        return [{key: value for key, value in each.items() if key != "by"} for each in self._read()]

    def begin(self, name: str, file: str, submitted: Json | None = None) -> int:
        """Reserves and returns the number of a workflow's next run.

        `submitted`: the user who submitted the workflow, and the user's roles that allowed it.
        """
        with self._changing() as runs:
            number = _next(runs, name)
            by = [os.getpid(), started_at(os.getpid())]
            run: Json = {"id": f"{name}-{number}", "file": file, "status": RUNNING, "tasks": []}
            runs.append({**run, **({"submitted": submitted} if submitted else {}), "by": by})
            return number

    def end(self, id: str, status: str, tasks: list[Json], *, left: bool = False) -> Json:
        """Records the end of a run, and returns the run's record without `by`. `left`: True if the run still has
        objects in the cluster.
        """
        with self._changing() as runs:
            (run,) = (each for each in runs if each["id"] == id)
            run |= {"status": status, "tasks": tasks}
            run["by"] = NOBODY
            if not left:
                del run["by"]
            return {key: value for key, value in run.items() if key != "by"}

    def cut_off(self) -> list[str]:
        """Ids of runs that may still have objects in the cluster: the run has ended and left objects, or the command
        that followed the run no longer runs.
        """
        by = {each["id"]: each["by"] for each in self._read() if "by" in each}
        return [id for id, each in by.items() if each == NOBODY or not is_running(*each)]

    def _read(self) -> list[Json]:
        return json.loads(self._file.read_text()) if self._file.exists() else []

    @contextmanager
    def _changing(self) -> Generator[list[Json]]:
        with FileLock(self._file.with_name(f".{FILE}.lock")):
            runs = self._read()
            yield runs
            draft = self._file.with_name(f".{FILE}")
            draft.write_text(json.dumps(runs[-KEPT:], indent=1))
            draft.replace(self._file)


def _next(runs: list[Json], name: str) -> int:
    ids = (str(each["id"]).rpartition("-") for each in runs)
    return max((int(number) for of, _, number in ids if of == name), default=0) + 1
