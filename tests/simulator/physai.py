"""Runs the command line as a user would, in this process, and keeps what it printed."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from physical_ai.cli.main import run

FIXED = "{count: %d, min: null, max: null, initial: null}"


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def pool(self, name: str) -> dict[str, Any]:
        """One pool of a status document."""
        return next(pool for pool in self.json["pools"] if pool["name"] == name)


def physai(*arguments: str, expect: int = 0) -> Answer:
    """One command; fails with everything it said when its exit code is not the expected one."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    answer = Answer(code, out.getvalue(), err.getvalue())
    assert code == expect, f"physai {' '.join(arguments)} exited with {code}\n{answer.out}\n{answer.err}"
    return answer


def fixed(pool: str, count: int) -> tuple[str, str]:
    """Options that give a pool a fixed number of nodes."""
    return "--set", f"pools.{pool}.scale={FIXED % count}"
