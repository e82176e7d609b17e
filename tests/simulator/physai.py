"""Runs the command line as a user would, in this process, and keeps what it printed."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

import pytest

from workbench.cli.main import run

FIXED = "{count: %d, min: null, max: null, initial: null}"
COMMAND = (sys.executable, "-m", "workbench.cli")
"""The command line as a process of its own."""


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


def physai(*arguments: str, expect: int | tuple[int, ...] = 0) -> Answer:
    """One command; fails with everything it said when its exit code is not the expected one, or one of them."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run(list(arguments))
    answer = Answer(code, out.getvalue(), err.getvalue())
    assert code in (expect if isinstance(expect, tuple) else (expect,)), (
        f"physai {' '.join(arguments)} exited with {code}\n{answer.out}\n{answer.err}"
    )
    return answer


def anyhow(*arguments: str) -> str:
    """What one command prints, whatever its exit code."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        run(list(arguments))
    return out.getvalue()


def killed_at(sign: str, *arguments: str) -> None:
    """Runs a command in a process group of its own, and kills all of it as soon as it has printed `sign`."""
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if sign in line:
                break
        else:
            pytest.fail(f"never printed {sign!r}")
        os.killpg(process.pid, signal.SIGKILL)
        process.stderr.read()  # a copy of the resident process, if one runs the command, ends a moment later


def fixed(pool: str, count: int) -> tuple[str, str]:
    """Options that give a pool a fixed number of nodes."""
    return "--set", f"pools.{pool}.scale={FIXED % count}"
