"""File that keeps simulations of a stack's pools, so that an interrupted command goes on where it was."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from physical_ai.input_errors import InputError
from physical_ai.nested import is_mapping
from workbench.goodput.model import Fleet
from workbench.goodput.simulation.year import Year

VERSION = 1
MOST_BYTES = 512 * 1024 * 1024


class BadState(InputError):
    """Error for a state file that cannot be used; the text names the file, what is wrong, and what to do."""


class StateFile:
    """Simulations by the names of their pools, in a file of JSON; nothing is kept without a file."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._pools: dict[str, Any] = {} if file is None else _read(file)

    def year(self, pool: str, fleet: Fleet, seed: int, hours: float) -> Year:
        """The kept simulation of a pool, or a new one.

        Raises:
            BadState: the file has another simulation of this pool.
        """
        given = self._pools.get(pool)
        if given is None:
            return Year(fleet, seed, hours)
        try:
            year = Year.resumed(given)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as problem:
            raise BadState(self._message(f"the simulation of {pool} cannot be read ({problem})")) from None
        if asdict(year.fleet) != asdict(fleet) or (year.seed, year.hours) != (seed, hours):
            raise BadState(self._message(f"it has a simulation of {pool} with other rates, load, seed or days"))
        return year

    def keep(self, pool: str, year: Year) -> None:
        """Writes the file again, with the present state of one pool."""
        if self.file is None:
            return
        self._pools[pool] = year.document()
        part = self.file.with_name(f"{self.file.name}.part")
        try:
            part.write_text(json.dumps({"version": VERSION, "pools": self._pools}), encoding="utf-8")
            os.replace(part, self.file)
        except OSError as problem:
            said = f"{problem.strerror}; write the path of a file in a folder that exists"
            raise BadState(f"--state {self.file}: {said}") from None

    def _message(self, problem: str) -> str:
        return f"--state {self.file}: {problem}; name another file, or delete this one to begin again"


def _read(file: Path) -> dict[str, Any]:
    wrong = f"--state {file}: it is no state of a simulation; name another file, or delete this one to begin again"
    try:
        if file.stat().st_size > MOST_BYTES:
            raise BadState(wrong)
        given = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except OSError as problem:
        raise BadState(f"--state {file}: {problem.strerror}; write the path of a file that can be read") from None
    except (ValueError, RecursionError):
        raise BadState(wrong) from None
    if not is_mapping(given) or given.get("version") != VERSION or not is_mapping(given.get("pools")):
        raise BadState(wrong)
    return dict(given["pools"])
