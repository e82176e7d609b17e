"""The README's short way to a workflow, typed into a shell as it is written there."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.home import HOME_VARIABLE, Home
from tests.simulator.quickstart_commands import CHECKOUT, NAMES
from tests.support.documentation import ROOT
from tests.support.quickstart import block


@pytest.mark.deep
def test_the_commands_lead_to_a_finished_workflow(home: Home, tmp_path: Path) -> None:
    """From an empty folder and a simulator that has run nothing."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in NAMES:
        words = shlex.join([sys.executable, "-m", "tests.simulator.quickstart_commands", name])
        (commands / name).write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {words} "$@"\n')
        (commands / name).chmod(0o700)
    text = block().replace("<organisation>", "organisation")
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", f"{text}\nwait $!"],  # $!: the forwarded port
        cwd=tmp_path,
        env={
            **os.environ,
            HOME_VARIABLE: str(home.folder),
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "osmo: platform; platforms cpu (cpu), h100 (h100gpu), rtxpro (rtxprogpu)" in done.stdout
    ended = [line.split() for line in done.stdout.splitlines() if line.rstrip().endswith("COMPLETED")]
    assert [words[:2] for words in ended] == [["cuda-smoke-1", "smoke"]]
    assert "rtxpro" in ended[0]
    assert (tmp_path / CHECKOUT / "quickstart.kubeconfig").read_text().startswith("apiVersion")
