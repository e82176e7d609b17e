"""Programs of several versions on one machine: found where they are, and obtained once."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest

from physical_ai.releases import installed
from physical_ai.repository import HOME_VARIABLE, ROOT
from tests.support.releases import v
from workbench.cli.new_project import pip as runs
from workbench.cli.new_project.pins import DISTRIBUTIONS
from workbench.cli.upgrading import programs
from workbench.cli.upgrading.programs import NoProgram, Program, obtained, present, version_in

HASHES = {name: f"{number}" * 64 for number, name in enumerate(DISTRIBUTIONS)}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    monkeypatch.setattr(programs, "PROJECT", tmp_path / "project")
    return tmp_path / "home"


def placed(folder: Path, version: str, needs: str = "") -> Path:
    """A folder with the packages of a version."""
    (folder / "physical_ai" / "installed").mkdir(parents=True)
    (folder / "physical_ai" / "repository.py").touch()
    (folder / programs.DEPLOY).write_text(needs)
    (folder / f"physical_ai-{version}.dist-info").mkdir()
    return folder


class Pip:
    """A pip that places packages of a version, or fails, and keeps what it was asked for."""

    def __init__(self, version: str, needs: str = "", fails: str = "") -> None:
        self.version, self.needs, self.fails = version, needs, fails
        self.asked: list[tuple[str, str]] = []

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        pins = Path(command[command.index("-r") + 1]).read_text()
        self.asked.append((" ".join(command), pins))
        if self.fails and self.fails in pins:
            return subprocess.CompletedProcess(command, 1, "", f"WARNING: x\nERROR: no {self.fails}\n")
        if "physical-ai==" in pins:
            placed(Path(command[command.index("--target") + 1]), self.version, self.needs)
        return subprocess.CompletedProcess(command, 0, "", "")


@pytest.fixture
def pip(monkeypatch: pytest.MonkeyPatch) -> Pip:
    made = Pip("0.2.0")
    monkeypatch.setattr(runs.subprocess, "run", made.run)
    return made


def test_the_version_that_runs_is_this_one() -> None:
    assert present(installed()) == Program(installed(), ROOT)
    assert present(v("7.0.0")) is None


def test_a_link_to_a_checkout_is_no_program() -> None:
    """As in the environment of development, whose metadata stands beside no packages."""
    assert version_in(Path(sysconfig.get_paths()["purelib"])) is None


def test_the_version_of_the_projects_environment_is_found(tmp_path: Path) -> None:
    folder = placed(tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages", "0.0.9")
    assert present(v("0.0.9")) == Program(v("0.0.9"), folder)


def test_a_version_is_obtained_once_from_wheels_with_their_hashes(pip: Pip, home: Path, tmp_path: Path) -> None:
    found = obtained(v("0.2.0"), HASHES, tmp_path / "wheels")
    assert found.folder.parent == home / "versions"
    assert found.environment()["PYTHONPATH"] == str(found.folder)
    ((command, pins),) = pip.asked
    assert "--require-hashes" in command
    assert "--no-index" in command
    assert all(f"{name}==0.2.0 --hash=sha256:{HASHES[name]}\n" in pins for name in DISTRIBUTIONS)
    assert obtained(v("0.2.0"), HASHES, tmp_path / "wheels") == found
    assert present(v("0.2.0")) == found
    assert len(pip.asked) == 1
    assert {each.name for each in found.folder.parent.iterdir()} == {found.folder.name}
    other = obtained(v("0.2.0"), {**HASHES, DISTRIBUTIONS[-1]: "f" * 64}, None)
    assert other.folder != found.folder, "of other wheels with the same version"
    assert "--no-index" not in pip.asked[-1][0]


def test_packages_that_this_environment_has_are_not_installed_again(pip: Pip) -> None:
    here = metadata.version("pyyaml")
    pip.needs = f"pyyaml=={here} \\\n    --hash=sha256:0\npydantic==0.0.1 \\\n    --hash=sha256:1\nhatchling==0.0.1\n"
    obtained(v("0.2.0"), HASHES, None)
    assert [pins for _, pins in pip.asked[1:]] == ["pydantic==0.0.1 \\\n    --hash=sha256:1\n"]


@pytest.mark.parametrize(
    ("version", "fails", "said"),
    [
        ("0.2.0", "physical-ai==", "version 0.2.0 could not be installed: no physical-ai=="),
        ("0.3.0", "", "The wheels of version 0.2.0 contain version 0.3.0"),
    ],
)
def test_after_a_failure_nothing_is_left(
    home: Path, monkeypatch: pytest.MonkeyPatch, version: str, fails: str, said: str
) -> None:
    monkeypatch.setattr(runs.subprocess, "run", Pip(version, fails=fails).run)
    with pytest.raises(NoProgram, match=said):
        obtained(v("0.2.0"), HASHES, None)
    assert list((home / "versions").iterdir()) == []


def test_python_imports_the_version_of_the_folder(tmp_path: Path) -> None:
    folder = placed(tmp_path / "other", "0.2.0")
    (folder / "physical_ai" / "__init__.py").touch()
    (folder / "physical_ai-0.2.0.dist-info" / "METADATA").write_text("Name: physical-ai\nVersion: 0.2.0\n")
    code = "import physical_ai.repository as r, importlib.metadata as m; print(r.__file__, m.version('physical-ai'))"
    environment = Program(v("0.2.0"), folder).environment()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(folder / "physical_ai" / "repository.py"), "0.2.0"]
