"""Faults of a node's tools, and the steps at which the tools wait: files in the folder of the node's hardware."""

from __future__ import annotations

import os
from pathlib import Path


class FaultyTools:
    """Tools of a node that fail or wait where a test asks for it."""

    def __init__(self, hw: Path) -> None:
        self.hw = hw
        self._passed = 0

    def fault(self, *names: str, once: bool = False) -> None:
        for name in names:
            (self.hw / "faults" / name).write_text("once" if once else "")

    def mend(self, *names: str) -> None:
        for name in names or os.listdir(self.hw / "faults"):
            (self.hw / "faults" / name).unlink(missing_ok=True)

    def steps(self) -> list[str]:
        """What the node's tools were asked to change, in order."""
        return (self.hw / "steps").read_text().split("\n")[:-1]

    def hold(self, step: str, time: int = 0) -> None:
        """A process that reaches this step waits there until `release`: the next time, or the given one."""
        time = time or self.steps().count(step) + 1
        (self.hw / "hold" / step).write_text(f"{time}\n")

    def held(self, step: str) -> bool:
        return (self.hw / "held" / step).exists()

    def release(self, step: str) -> None:
        (self.hw / "hold" / step).unlink(missing_ok=True)
        (self.hw / "held" / step).unlink(missing_ok=True)

    def hold_next(self, passed: list[str] | None) -> None:
        """Release the process held so, and hold one that reaches a step not in the list; None: hold none."""
        waiting, held = self.hw / "hold-next", self.hw / "held-next"
        waiting.unlink(missing_ok=True)
        self._passed = len(passed or [])
        if passed is not None:
            (self.hw / "hold-new").write_text("".join(f"{step}\n" for step in passed))
            (self.hw / "hold-new").rename(waiting)
        held.unlink(missing_ok=True)

    def held_next(self) -> list[str]:
        """The steps held so far, once another one is."""
        try:
            steps = (self.hw / "held-next").read_text().split("\n")[:-1]
        except FileNotFoundError:
            return []
        return steps if len(steps) > self._passed else []
