"""Python packages of a new machine: pip's progress from the first line on, and its reason when it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from physical_ai.repository import ROOT
from simulator.tools import Progress, python_packages
from simulator.tools.python_packages import PackagesFailed, install_packages, pinned_packages
from simulator.tools.reporting import ToolLines
from tests.support.waiting import LIMIT

PINNED = "# comment\nalpha==1.0 \\\n    --hash=sha256:00\nbeta-b==2.0 ; python_version < '3' \\\n    --hash=sha256:11\n"
COLLECTED = "echo 'Collecting alpha==1.0'; echo '  Downloading alpha-1.0.whl (12 MB)'; echo 'Collecting beta-b==2.0'\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that packages are unpacked to, which has one already."""
    folder = tmp_path / "site"
    (folder / "pip-25.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr(python_packages.sysconfig, "get_path", lambda _: str(folder))
    return folder


def _install(tmp_path: Path, pip: str) -> list[Progress]:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(PINNED)
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n{pip}')
    python.chmod(0o755)
    seen: list[Progress] = []
    install_packages(requirements, seen.append, str(python))
    return seen


def test_the_pinned_packages_are_counted(tmp_path: Path) -> None:
    (tmp_path / "pins.txt").write_text(PINNED)
    assert pinned_packages(tmp_path / "pins.txt") == 2
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-deploy.txt"):
        assert pinned_packages(ROOT / name) == (ROOT / name).read_text().count("==") - _markers(ROOT / name)


def _markers(file: Path) -> int:
    """Number of `==` that are in a condition on the machine, and pin nothing."""
    return sum(line.partition(";")[2].count("==") for line in file.read_text().splitlines())


def test_packages_are_counted_while_they_are_downloaded_and_while_they_are_unpacked(tmp_path: Path, site: Path) -> None:
    unpack = f"echo 'Installing collected packages: alpha, beta-b'\nmkdir {site}/alpha-1.0.dist-info\nsleep 0.1\n"
    seen = _install(tmp_path, f"{COLLECTED}{unpack}mkdir {site}/beta_b-2.0.dist-info\n")
    collected = [(each.done, each.total, each.finished) for each in seen if each.action == "collect"]
    assert collected == [(0, 2, False), (1, 2, False), (2, 2, False), (2, 2, True)]
    unpacked = [each for each in seen if each.action == "unpack"]
    assert seen[-len(unpacked) :] == unpacked
    assert {each.done for each in unpacked} <= {0, 1, 2}
    assert (unpacked[-1].done, unpacked[-1].finished) == (2, True)
    assert [each.finished for each in unpacked] == [False] * (len(unpacked) - 1) + [True]


def test_pip_resolves_nothing_and_verifies_every_file(tmp_path: Path, site: Path) -> None:
    _install(tmp_path, "")
    arguments = (tmp_path / "arguments").read_text().split()
    assert arguments[:3] == ["-m", "pip", "install"]
    assert {"--no-deps", "--require-hashes", "--requirement"} <= set(arguments)


def test_a_failure_has_the_last_lines_of_pip(tmp_path: Path, site: Path) -> None:
    lines = "".join(f"echo 'line {number}'\n" for number in range(20))
    with pytest.raises(PackagesFailed) as caught:
        _install(
            tmp_path, f"{COLLECTED}{lines}echo 'ERROR: No matching distribution found for beta-b==2.0' >&2\nexit 1\n"
        )
    text = str(caught.value)
    assert text.startswith("pip could not install requirements.txt (exit code 1):\n")
    assert text.endswith("ERROR: No matching distribution found for beta-b==2.0")
    assert "Collecting" not in text


def test_lines_of_packages_and_tools_do_not_end_each_other() -> None:
    said, now = list[str](), [0.0]
    lines = ToolLines(said.append, regular=True, clock=lambda: now[0])
    lines.report(Progress("Python packages", "collect", 0, 10))
    lines.report(Progress("etcd", "download", 0, 20_000_000))
    for now[0], done in ((10, 3), (40, 6)):
        lines.report(Progress("Python packages", "collect", done, 10))
        lines.report(Progress("etcd", "download", done * 1_000_000, 20_000_000))
    assert lines.current() == (
        "downloading Python packages: 6 of 10 (60%), about 27 s left;"
        " downloading etcd: 6 MB of 20 MB (30%), about 2 min left"
    )
    lines.report(Progress("Python packages", "collect", 10, 10, finished=True))
    lines.report(Progress("etcd", "download", 20_000_000, 20_000_000, finished=True))
    assert said == [
        "downloading Python packages",
        "downloading etcd from its project's release",
        "downloading Python packages: 6 of 10 (60%), about 27 s left",
        "downloading etcd: 6 MB of 20 MB (30%), about 2 min left",
        "downloaded Python packages in 40 s",
        "downloaded etcd, 20 MB, in 40 s",
    ]


def test_the_first_line_of_a_new_machine_counts_packages_and_tools(tmp_path: Path) -> None:
    """The command starts without any package, and prints before it has asked any server."""
    (tmp_path / "pins.txt").write_text(PINNED)
    command = [
        sys.executable,
        "-S",
        "-m",
        "simulator.tools",
        "--from",
        "release",
        "--packages",
        str(tmp_path / "pins.txt"),
    ]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PHYSAI_HOME": str(tmp_path), "PIP_NO_INDEX": "1",
                   "HTTPS_PROXY": "http://127.0.0.1:9"}  # fmt: skip
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT
    )
    assert done.returncode == 1
    first, *_ = done.stderr.splitlines()
    assert first == f"installing 2 Python packages of {tmp_path}/pins.txt and 5 tools: 5 downloads"
    assert "error: pip could not install pins.txt" in done.stderr
