"""`physai init`: a project that loads, with pinned packages, or a refusal that says what to do, and nothing written."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from physical_ai.repository import INSTALLED_STACKS, ROOT
from physical_ai.settings import load
from tests.unit.cli.test_cli_commands import call
from workbench.cli.new_project import folder as folders
from workbench.cli.new_project import pins, pip
from workbench.cli.new_project.pins import DISTRIBUTIONS, FOR_TESTS, NoPins, version


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder with three files of the wheels' names."""
    made = tmp_path / "wheels"
    made.mkdir()
    for name in DISTRIBUTIONS:
        (made / f"{name.replace('-', '_')}-{version()}-py3-none-any.whl").write_text(name)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "team"


def written(folder: Path, wheels: Path, *arguments: str) -> list[str]:
    code, out, err = call("init", str(folder), "--wheels", str(wheels), "--json", *arguments)
    assert code == 0, err
    return json.loads(out)["files"]


def refused(folder: Path, *arguments: str, code: int = 2) -> str:
    found, _, err = call("init", str(folder), *arguments)
    assert found == code, err
    assert "Traceback" not in err
    return err


def entries(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_its_stack_is_the_platforms_and_its_tests_and_targets_are_there(folder: Path, wheels: Path) -> None:
    files = written(folder, wheels)
    assert all((folder / path).is_file() for path in files)
    loaded = load("dev-westus2", root=folder / "stacks", values=folder / "values")
    assert loaded.settings == load("dev-westus2").settings
    make = subprocess.run(["make", "-n", "help"], cwd=folder, capture_output=True, text=True, check=True)
    assert "list" not in make.stderr
    targets = set(re.findall(r"^([a-z-]+):.* ## ", (folder / "Makefile").read_text(), re.MULTILINE))
    assert {"up", "test", "preview", "pr-preview", "down"} <= targets
    assert (folder / ".git").is_dir()


def test_a_stack_of_another_environment_is_proposed_as_a_new_one(folder: Path, wheels: Path) -> None:
    written(folder, wheels, "--stack", "prod-westeurope")
    loaded = load("prod-westeurope", root=folder / "stacks", values=folder / "values")
    assert (loaded.settings.environment, loaded.settings.protect) == ("prod", True)
    assert "STACK ?= prod-westeurope\n" in (folder / "Makefile").read_text()
    assert not (folder / "stacks/layers/region").exists(), "the platform has this region's layer"


def test_each_package_is_pinned_with_its_hash(folder: Path, wheels: Path) -> None:
    written(folder, wheels)
    text = (folder / "requirements.txt").read_text()
    for name in DISTRIBUTIONS:
        digest = hashlib.sha256(name.encode()).hexdigest()
        assert f"{name}=={version()} \\\n    --hash=sha256:{digest}\n" in text
    for file in ("requirements.txt", "requirements-dev.txt"):
        pinned = re.split(r"^(?=[a-z])", (folder / file).read_text(), flags=re.MULTILINE)[1:]
        assert [each.partition("==")[0] for each in pinned if "--hash=sha256:" not in each] == []
    assert "\npulumi==" in text
    assert "hatchling" not in text


def test_the_packages_of_the_tests_are_complete() -> None:
    needed = [re.split(r"[ <>=!;\[]", each)[0] for each in metadata.requires("pytest") or () if "extra" not in each]
    platform = [each for each in needed if each not in ("colorama", "exceptiongroup", "tomli")]
    assert set(FOR_TESTS) >= {*platform, "pytest"}


def test_its_workflows_call_the_platforms_and_have_no_more_rights(folder: Path, wheels: Path) -> None:
    written(folder, wheels, "--source", "acme/physical-ai", "--owners", "@acme/robots")
    for file in (folder / ".github/workflows").iterdir():
        for job in yaml.safe_load(file.read_text())["jobs"].values():
            called = re.fullmatch(r"acme/physical-ai/(\.github/workflows/[\w-]+\.yaml)@v(.+)", job["uses"])
            assert called is not None
            platform = yaml.safe_load((ROOT / called[1]).read_text())
            assert "workflow_call" in platform[True], "YAML 1.1 reads the key `on` as true"
            allowed = [own.get("permissions", {}) for own in platform["jobs"].values()]
            assert all(given.items() <= job["permissions"].items() for given in allowed)
            assert called[2] == version()
    assert (folder / ".github/CODEOWNERS").read_text().endswith("* @acme/robots\n")


def test_an_empty_clone_becomes_a_project(folder: Path, wheels: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    assert "Pulumi.yaml" in written(folder, wheels)


def test_a_folder_with_files_is_left_as_it_is(folder: Path, wheels: Path) -> None:
    folder.mkdir()
    for name in "abcd":
        (folder / name).touch()
    assert f"{folder} is not empty: a, b, c and 1 more.\n  Name a folder that is empty" in refused(
        folder, "--wheels", str(wheels)
    )
    assert entries(folder) == set("abcd")
    assert "is a file" in refused(folder / "a")


def test_a_project_is_not_written_again_and_an_older_one_is_upgraded_instead(folder: Path, wheels: Path) -> None:
    written(folder, wheels)
    assert "has a project of the platform already" in refused(folder, "--wheels", str(wheels))
    file = folder / "requirements.txt"
    file.write_text(file.read_text().replace(f"physical-ai=={version()}", "physical-ai==0.0.9"))
    text = refused(folder, "--wheels", str(wheels))
    assert "version 0.0.9 already; this is version" in text
    assert "`physai upgrade`" in text
    (folder / "Pulumi.yaml").write_text("name: another\n")
    assert "has another Pulumi project" in refused(folder)


def test_without_git_the_files_are_written_and_it_says_what_lacks_it(
    folder: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    code, out, err = call("init", str(folder), "--wheels", str(wheels))
    assert code == 0
    assert "git is not installed, and `make pr-preview` needs it; no repository was made" in err
    assert "git add" not in out
    assert f"make up WHEELS={wheels}  # deploy" in out
    assert entries(folder) >= {"Pulumi.yaml", "stacks"}
    assert not (folder / ".git").exists()


def test_wheels_of_another_version_are_none(folder: Path, wheels: Path) -> None:
    wheel = next(wheels.glob("physical_ai_workbench-*"))
    wheel.rename(wheel.with_name("physical_ai_workbench-9.9.9-py3-none-any.whl"))
    text = refused(folder, "--wheels", str(wheels))
    assert f"has no wheel of physical-ai-workbench {version()}, which is the installed version" in text
    assert not folder.exists()


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        ("--stack", "dve-westus2", "Did you mean 'dev-westus2'?"),
        ("--stack", "dev-nowhere", "no region 'nowhere'"),
        ("--source", "acme", "is not OWNER/NAME"),
        ("--owners", "acme", "is not @ORG/TEAM"),
    ],
)
def test_a_wrong_option_writes_nothing(folder: Path, wheels: Path, option: str, value: str, text: str) -> None:
    assert text in refused(folder, "--wheels", str(wheels), option, value)
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_has_none_of_the_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folders.os, "rename", fail)
    with pytest.raises(OSError, match="space"):
        folders.write(folder, {"a": "b"})
    assert not folder.exists()
    folder.mkdir()
    with pytest.raises(OSError, match="space"):
        folders.write(folder, {"a": "b"})
    assert entries(folder) == set()


class Index:
    """A package index: wheels whose one module has a text, and the installed distributions' records."""

    def __init__(self, offered: str, installed: str) -> None:
        self.offered, self.installed, self.version = offered, installed, version()

    @staticmethod
    def record(text: str) -> str:
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        return f"own.py,sha256={digest},{len(text)}\nown.dist-info/RECORD,,\n"

    def run(self, command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        target = Path(command[command.index("--dest") + 1])
        for name in DISTRIBUTIONS:
            file = target / f"{name.replace('-', '_')}-{version()}-py3-none-any.whl"
            with zipfile.ZipFile(file, "w") as archive:
                archive.writestr("own.dist-info/RECORD", self.record(self.offered))
        return subprocess.CompletedProcess(command, 0, "", "")

    def distribution(self, name: str) -> Index:
        return self

    def read_text(self, file: str) -> str:
        return self.record(self.installed)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Index:
    made = Index("a = 1\n", "a = 1\n")
    monkeypatch.setattr(pip.subprocess, "run", made.run)
    monkeypatch.setattr(pins.metadata, "distribution", made.distribution)
    return made


def test_hashes_of_the_index_are_those_of_what_is_installed(index: Index) -> None:
    assert set(pins.hashes_of_index()) == set(DISTRIBUTIONS)


def test_another_project_of_the_platforms_name_at_the_index_is_refused(index: Index) -> None:
    index.offered = "import os\n"
    with pytest.raises(NoPins, match=r"is not what is installed: own.py differs, of 1 files"):
        pins.hashes_of_index()


def test_an_index_without_the_platform_is_told_with_the_other_way(
    folder: Path, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = subprocess.CompletedProcess([], 1, "", "ERROR: No matching distribution found for physical-ai\n")
    monkeypatch.setattr(pip.subprocess, "run", lambda *_, **__: done)
    text = refused(folder, code=1)
    assert (
        "No matching distribution found for physical-ai\n  Name a folder that has the three wheels: --wheels DIR"
        in text
    )


def test_the_platforms_stack_file_comes_with_it() -> None:
    assert (INSTALLED_STACKS / "Pulumi.dev-westus2.yaml").is_file()
