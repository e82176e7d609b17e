"""A bare machine with Python and a package index, typed: the platform installed from it, a team's repository from its
first deployment to the next version, and an index that has faults.

The index is on loopback and has the wheels of two versions; what they need comes from the index that pip uses here.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from physical_ai.repository import ROOT
from simulator.home import Home
from tests.simulator.test_team_repository import STACK, Team, git
from tests.simulator.test_team_upgrade import FIRST, LAYER, NEW, OLD, SECOND, checkout
from tests.support.package_index import Fault, PackageIndex

pytestmark = [
    pytest.mark.deep,  # in `make test`: tests/unit/cli/test_pip.py has what pip says
    pytest.mark.timeout(3600),
]

PASSED_ON = (
    "PATH",
    "LANG",
    "PIP_CERT",
    "PIP_DEFAULT_TIMEOUT",
    "SSL_CERT_FILE",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
"""Variables of this process that a bare machine has too: the ways to its own index."""
DEFAULT_INDEX = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"


@dataclass(frozen=True)
class Bare(Team):
    """A machine with Python alone: its user has an empty folder, and pip an index. `times`: seconds of each step, and
    processor seconds of its processes but those that go on, such as the control plane's.
    """

    index: PackageIndex
    times: dict[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    def variables(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        user = self.folder / "user"
        user.mkdir(exist_ok=True)
        return {**kept, "HOME": str(user), "PIP_INDEX_URL": self.index.url, "PIP_RETRIES": "0"}

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        begun, used = time.monotonic(), _processor_seconds()
        yield
        self.times[step] = (round(time.monotonic() - begun, 1), round(_processor_seconds() - used, 1))

    def installed(self, *wanted: str) -> Path:
        """The command `physai` in an environment of its own, as pipx makes one."""
        folder = self.folder / "tool"
        self.run(sys.executable, "-m", "venv", "--clear", str(folder))
        self.run(str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-compile", *wanted)
        return folder / "bin" / "physai"


def _processor_seconds() -> float:
    """Processor seconds of all processes that this one has started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def own_index() -> str:
    """Address of the index that pip uses in this process."""
    words = [sys.executable, "-m", "pip", "config", "get", "global.index-url"]
    configured = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
    if given := os.environ.get("PIP_INDEX_URL", configured):
        return given
    return subprocess.run(
        [sys.executable, "-c", DEFAULT_INDEX], capture_output=True, text=True, check=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheels of two versions. A setting of the first one has another name in the second one."""
    folder = tmp_path_factory.mktemp("index")
    layer = ("dailyQuotaGb: 1", "dailyQuotaGb: 2")
    for source in (
        checkout(tmp_path_factory.mktemp("old"), OLD, {LAYER: layer}, {OLD: FIRST}),
        checkout(tmp_path_factory.mktemp("new"), NEW, {}, {OLD: FIRST, NEW: SECOND}),
    ):
        for own in (".", "workbench", "simulator"):
            command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
            subprocess.run(command, cwd=source / own, check=True, capture_output=True)
    return folder


@pytest.fixture
def bare(tmp_path: Path, home: Home, wheels: Path) -> Iterator[Bare]:
    folder = tmp_path / "machine"
    folder.mkdir()
    (folder / "wheels").symlink_to(wheels)
    with PackageIndex(wheels, upstream=own_index()) as index:
        yield Bare(folder, home, index)


def test_a_team_starts_on_a_bare_machine_and_goes_on_to_the_next_version(
    bare: Bare, record_property: Callable[[str, object], None]
) -> None:
    project = bare.folder / "gpu-platform"
    with bare.timed("install"):
        physai = str(bare.installed(f"physical-ai-workbench[simulator]=={OLD}"))
    assert f"physai {OLD}, " in bare.run(physai, "--version")
    with bare.timed("init"):
        bare.run(physai, "init", str(project))
    pinned = (project / "requirements.txt").read_text()
    assert len(re.findall(rf"^physical-ai\S*=={OLD} \\\n    --hash=sha256:[0-9a-f]{{64}}$", pinned, re.MULTILINE)) == 3
    git(bare, project, "add", "--all")
    git(bare, project, "commit", "--quiet", "-m", "Start")
    try:
        with bare.timed("make up, with the packages"):
            printed = bare.run("make", "up", cwd=project)
        assert re.search(r"train-and-evaluate-1 train +h100 .*COMPLETED", printed)
        paths = bare.run(str(project / ".venv" / "bin" / "python"), "-c", "import sys; print(sys.path)", cwd=project)
        assert str(ROOT) not in paths

        with bare.timed("make up again"):
            bare.run("make", "up", cwd=project)
        stack = project / "stacks" / f"Pulumi.{STACK}.yaml"
        stack.write_text(stack.read_text().replace("{initial: 1}", "{initial: 1, max: 3}", 1))
        with bare.timed("make preview of a change"):
            assert "maxCount: 2 → 3" in bare.run("make", "preview", cwd=project)
        with bare.timed("make pr-preview of a change"):
            assert "`maxCount`: `2` → `3`" in bare.run("make", "pr-preview", "BASE=HEAD", cwd=project)
        git(bare, project, "commit", "--quiet", "--all", "-m", "Grow")

        missing = bare.run(physai, "upgrade", "7.0.0", "--check", cwd=project, expect=2)
        assert f"There is no version 7.0.0 in the package index.\n  Versions there: {OLD}, {NEW}." in missing
        with bare.timed("physai upgrade --check"):
            shown = bare.run(physai, "upgrade", "--check", cwd=project)
        assert f"upgrade from {OLD} to {NEW}" in shown
        assert re.search(r"update Workspace .*: Its daily cap is lower\.", shown), shown
        with bare.timed("physai upgrade --yes --no-preview"):
            bare.run(physai, "upgrade", "--yes", "--no-preview", cwd=project)
        assert OLD not in (project / "requirements.txt").read_text()
        with bare.timed("make test of the next version, with its packages"):
            assert " passed" in bare.run("make", "test", cwd=project)
        version = bare.run(str(project / ".venv" / "bin" / "physai"), "--version", cwd=project)
        assert f"physai {NEW}, " in version
    finally:
        if (project / "Makefile").exists():
            bare.run("make", "down", cwd=project)
    for step, (seconds, processor) in bare.times.items():
        record_property(step, seconds)
        print(f"{step:<50} {seconds:6.1f} s {processor:6.1f} s of a processor")


def test_an_index_with_faults_is_refused_with_the_reason_and_nothing_is_written(bare: Bare) -> None:
    physai = str(bare.environment(bare.folder / "tool").with_name("physai"))
    project = bare.folder / "gpu-platform"
    faults: dict[Fault, str] = {
        "missing": "No matching distribution found for physical-ai-simulator",
        "cut": "could not be downloaded: ",
        "changed": "has the sha256",
        "page": "has the sha256",
    }
    for fault, problem in faults.items():
        bare.index.faults["physical-ai-simulator"] = fault
        shutil.rmtree(bare.folder / "user", ignore_errors=True)  # with what pip keeps
        said = bare.run(physai, "init", str(project), expect=1)
        assert problem in said, f"{fault}: {said}"
        assert "Traceback" not in said
        assert "--wheels DIR" in said
        assert not project.exists()
    bare.index.faults.clear()
    bare.run(physai, "init", str(project))

    # An index that lacks one of the packages that the platform needs: pip names it, and no environment counts as ready.
    bare.index.upstream = ""
    said = bare.run("make", "test", cwd=project, expect=2)
    assert "No matching distribution found for aiohappyeyeballs==" in said
    assert not (project / ".venv" / ".ready").exists()
