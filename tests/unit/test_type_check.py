"""Which files' types are checked again, and that a failed check is not kept."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests import type_check
from tests.type_check import digests

SOURCES = {
    "app/__init__.py": b"",
    "app/models.py": b"SIZE = 1",
    "app/load.py": b"def load():\n    try:\n        from app.models import SIZE\n    finally:\n        pass",
    "app/main.py": b"from . import load",
    "agents/agent/steps.py": b"import helpers.files",
    "agents/helpers/__init__.py": b"",
    "agents/helpers/files.py": b"",
    "tests/test_main.py": b"import pytest\nimport app.main as program",
    "tests/broken.py": b"import app.models\n)",
    "tests/world.py": b"",
    "tests/test_world.py": b"from world import Pool",
}
"""By path; those in `agents` are imported from there, others from the top."""


@pytest.mark.parametrize(
    ("changed", "again"),
    [
        ("app/models.py", {"app/models.py", "app/load.py", "app/main.py", "tests/test_main.py"}),
        ("app/main.py", {"app/main.py", "tests/test_main.py"}),
        ("app/__init__.py", {"app/__init__.py", "app/load.py", "app/main.py", "tests/test_main.py"}),
        ("agents/helpers/files.py", {"agents/helpers/files.py", "agents/agent/steps.py"}),
        ("agents/helpers/__init__.py", {"agents/helpers/__init__.py", "agents/agent/steps.py"}),
        ("tests/world.py", {"tests/world.py", "tests/test_world.py"}),
        ("tests/broken.py", {"tests/broken.py"}),
    ],
)
def test_a_change_reaches_what_imports_it(changed: str, again: set[str]) -> None:
    before, after = (digests(sources, ("", "agents"), "3.11") for sources in (SOURCES, {**SOURCES, changed: b"new"}))
    assert {path for path, digest in after.items() if before[path] != digest} == again


def test_a_module_that_hides_another_is_a_change_of_what_imports_its_name() -> None:
    added = {**SOURCES, "tests/app/__init__.py": b"", "tests/app/main.py": b""}
    before, after = (digests(sources, ("", "agents"), "3.11") for sources in (SOURCES, added))
    assert {path for path in SOURCES if before[path] != after[path]} == {"tests/test_main.py"}


def test_another_environment_changes_everything() -> None:
    before, after = (digests(SOURCES, ("", "agents"), environment) for environment in ("3.11", "3.12"))
    assert not set(before.values()) & set(after.values())


@pytest.fixture
def checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """A project of two files; the files of each check, which fails as long as one of them has the word `wrong`."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.pyright]\ninclude = ['app', 'main.py']\nexecutionEnvironments = [{root = '.'}]\n"
    )
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "models.py").write_text("SIZE = 1")
    (tmp_path / "main.py").write_text("SIZE = 1")
    runs: list[list[str]] = []

    def run(command: Sequence[object], *, input: str, **_: object) -> subprocess.CompletedProcess[str]:
        runs.append(input.splitlines())
        code = int(any("wrong" in (tmp_path / path).read_text() for path in runs[-1]))
        return subprocess.CompletedProcess(list(map(str, command)), code)

    monkeypatch.setattr(type_check, "ROOT", tmp_path)
    monkeypatch.setattr(type_check, "PASSED", tmp_path / "cache" / "types.txt")
    monkeypatch.setattr(subprocess, "run", run)
    return runs


def test_what_passed_is_not_checked_again(checked: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    assert type_check.main() == 0
    assert checked == [["app/models.py", "main.py"]]
    assert type_check.main() == 0
    assert len(checked) == 1
    assert "2 files passed before" in capsys.readouterr().out


def test_a_version_that_passed_before_is_not_checked_again(checked: list[list[str]], tmp_path: Path) -> None:
    type_check.main()
    (tmp_path / "main.py").write_text("SIZE = 2")
    type_check.main()
    (tmp_path / "main.py").write_text("SIZE = 1")
    assert type_check.main() == 0
    assert checked[1:] == [["main.py"]]


def test_the_oldest_are_forgotten(checked: list[list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type_check, "KEPT", 3)
    for size in "1231":
        (tmp_path / "main.py").write_text(f"SIZE = {size}")
        type_check.main()
    assert checked[1:] == [["main.py"]] * 3, "three of four results are kept"


def test_what_failed_is_checked_until_it_passes(checked: list[list[str]], tmp_path: Path) -> None:
    type_check.main()
    (tmp_path / "main.py").write_text("wrong")
    assert [type_check.main(), type_check.main()] == [1, 1]
    (tmp_path / "main.py").write_text("right")
    assert type_check.main() == 0
    assert checked[1:] == [["main.py"]] * 3
