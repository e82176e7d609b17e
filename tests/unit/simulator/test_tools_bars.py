"""What a new machine shows while it installs tools: what is missing, and a bar for each."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from physical_ai.repository import ROOT
from simulator.tools import Origin, Progress, release
from simulator.tools.bars import ToolBars, announcement
from simulator.tools.families import FAMILIES
from simulator.tools.install import Missing, missing
from tests.support.waiting import LIMIT

BUILT = ("pulumi", "kubernetes")
"""Families that the tests build, though they have releases."""
DOWNLOADS = tuple(family for family in FAMILIES if family.name not in BUILT)
BUILDS = tuple(family for family in FAMILIES if family.name in BUILT)


@pytest.mark.parametrize(
    ("absent", "text"),
    [
        (Missing(DOWNLOADS, BUILDS), "installing 5 tools: 3 downloads, 2 builds from source, about 6 min on 2 cores"),
        (Missing((), FAMILIES), "installing 5 tools: 5 builds from source, about 8 min on 2 cores"),
        (Missing(DOWNLOADS[:1], ()), "installing 1 tool: 1 download"),
        (Missing((), ()), ""),
    ],
)
def test_the_first_line_tells_what_is_missing_and_how_long_it_takes(absent: Missing, text: str) -> None:
    assert announcement(absent, 2) == text


def test_one_core_takes_twice_as_long() -> None:
    assert announcement(Missing((), BUILDS), 1).endswith("about 12 min on 1 core")


def test_every_family_of_the_simulator_has_an_estimate() -> None:
    assert all(family.seconds for family in FAMILIES)


def test_what_is_installed_is_not_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "this_platform", lambda: "linux-amd64")
    assert missing(tmp_path) == Missing(FAMILIES, ())
    assert missing(tmp_path, Origin.BUILD) == Missing((), FAMILIES)
    etcd = tmp_path / f"etcd-{FAMILIES[0].version()}-{FAMILIES[0].fingerprint()}"
    etcd.mkdir()
    (etcd / "etcd").touch()
    assert missing(tmp_path) == Missing(FAMILIES[1:], ())
    monkeypatch.setattr(release, "this_platform", lambda: "plan9-mips")
    assert missing(tmp_path) == Missing((), FAMILIES[1:])


def test_a_terminal_has_one_line_with_a_bar_for_each_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    written, now = list[str](), [0.0]
    bars = ToolBars(Missing(DOWNLOADS[:1], BUILDS[:1]), written.append, lambda: now[0])
    bars.report(Progress("etcd", "download", 0, 20_000_000))
    bars.report(Progress("etcd", "download", 5_000_000, 20_000_000))  # too soon to be drawn
    now[0] = 4
    bars.report(Progress("etcd", "download", 10_000_000, 20_000_000))
    bars.report(Progress("etcd", "download", 20_000_000, 20_000_000, finished=True))
    assert written == [
        "\r\x1b[Kdownloading etcd from its project's release\n",
        "\r\x1b[Ketcd ......  pulumi ......  downloading etcd: 0 MB of 20 MB (0%)",
        "\r\x1b[Ketcd ###...  pulumi ......  downloading etcd: 10 MB of 20 MB (50%), about 4 s left",
        "\r\x1b[Kdownloaded etcd, 20 MB, in 4 s\n",
        "\r\x1b[Ketcd ######  pulumi ......",
    ]


def test_a_narrow_terminal_gets_a_line_that_does_not_wrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    written: list[str] = []
    ToolBars(Missing((), BUILDS), written.append).report(Progress("pulumi", "build", 1, 10))
    assert written[-1] == "\r\x1b[Kpulumi ......  kube"


@pytest.mark.parametrize("terminal", [False, True])
def test_the_command_needs_no_package_and_reports_for_where_it_prints(tmp_path: Path, terminal: bool) -> None:
    (tmp_path / "go").write_text("#!/bin/sh\n[ $1 = env ] && echo go1.99.0 && exit\necho no module; exit 1\n")
    (tmp_path / "go").chmod(0o755)
    read, write = pty.openpty() if terminal else os.pipe()
    environment = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path),
        "TERM": "xterm",
    }
    command = [sys.executable, "-S", "-m", "simulator.tools", "--from", "build"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stderr=write, check=False, timeout=LIMIT)
    os.close(write)
    text = os.read(read, 65536).decode()
    os.close(read)
    assert done.returncode == 1
    assert text.startswith("installing 5 tools: 5 builds from source, about ")
    assert ("\x1b[K" in text) is terminal
    assert "error: " in text
    assert "no module" in text
