"""Compiled files for a side of a change: of the same sources only, and never through a link of the side."""

from __future__ import annotations

import os
import py_compile
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

import pytest

from workbench.cli.pull_request.bytecode import take_bytecode


def package(folder: Path, *, shown: str) -> Path:
    """A module of a package that prints something, as git has just written it."""
    module = folder / "physical_ai" / "module.py"
    module.parent.mkdir(parents=True)
    (module.parent / "__init__.py").touch()
    module.write_text(f"print({shown!r}, __file__)\n")
    return module


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    module = package(tmp_path / "compiled", shown="same")
    os.utime(module, (1_000_000_000, 1_000_000_000))
    py_compile.compile(str(module))
    return tmp_path / "compiled"


def kept(module: Path) -> Path:
    return Path(cache_from_source(str(module)))


def test_the_same_file_is_not_compiled_again(tmp_path: Path, compiled: Path) -> None:
    module = package(tmp_path / "side", shown="same")
    take_bytecode(tmp_path / "side", compiled)
    taken = kept(module).stat()
    command = [sys.executable, "-c", "import physical_ai.module"]
    ran = subprocess.run(command, cwd=tmp_path / "side", check=True, capture_output=True, text=True)
    assert ran.stdout == f"same {module}\n"
    assert (kept(module).stat().st_mtime_ns, kept(module).stat().st_ino) == (taken.st_mtime_ns, taken.st_ino)


def test_a_file_that_differs_is_compiled_by_its_side(tmp_path: Path, compiled: Path) -> None:
    module = package(tmp_path / "side", shown="SAME")
    take_bytecode(tmp_path / "side", compiled)
    assert not kept(module).exists()


def test_a_compiled_file_whose_source_was_moved_away_is_left(tmp_path: Path, compiled: Path) -> None:
    module = package(tmp_path / "side", shown="same")
    (compiled / "physical_ai" / "module.py").unlink()
    take_bytecode(tmp_path / "side", compiled)
    assert not kept(module).exists()


def test_links_and_compiled_files_of_a_side_stay_as_they_are(tmp_path: Path, compiled: Path) -> None:
    module = package(tmp_path / "side", shown="same")
    (tmp_path / "outside").mkdir()
    (module.parent / "__pycache__").symlink_to(tmp_path / "outside")
    take_bytecode(tmp_path / "side", compiled)
    assert list((tmp_path / "outside").iterdir()) == []

    (module.parent / "__pycache__").unlink()
    outside = tmp_path / "outside" / "module.py"
    module.rename(outside)
    module.symlink_to(outside)
    before = outside.stat().st_mtime_ns
    take_bytecode(tmp_path / "side", compiled)
    assert outside.stat().st_mtime_ns == before
    assert not (module.parent / "__pycache__").exists()
