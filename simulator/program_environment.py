"""Environment of the program's process: its variables, and this simulation's `kubelogin` on PATH."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from simulator import kubelogin
from simulator.control_plane.kubeconfig import LOGIN_COMMAND

OFFICIAL_VARIABLE = "PHYSAI_OFFICIAL_KUBERNETES"
"""Environment variable that tells the program's process to replace the charts of Helm releases by local charts, for the
official Kubernetes plugin.
"""


@contextmanager
def environment(variables: Mapping[str, str], path: str, forced: Mapping[str, str]) -> Generator[None]:
    """Sets environment variables of this process, in which the program runs. `variables` do not replace existing
    variables, `forced` do.

    `path` becomes PATH, so that the program finds this simulation's `kubelogin` there.
    """
    added = {name: value for name, value in variables.items() if name not in os.environ} | {**forced, "PATH": path}
    before = {name: os.environ.get(name) for name in added}
    os.environ.update(added)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def install_kubelogin(folder: Path) -> Path:
    """Writes a `kubelogin` command for this simulation; returns its folder for PATH."""
    command = folder / "bin" / LOGIN_COMMAND
    command.parent.mkdir(exist_ok=True)
    python, script, tokens = (
        shlex.quote(str(part)) for part in (sys.executable, kubelogin.__file__, folder / "tokens.csv")
    )
    command.write_text(f'#!/bin/sh\nexec {python} -SE {script} --tokens {tokens} "$@"\n')
    command.chmod(0o700)
    return command
