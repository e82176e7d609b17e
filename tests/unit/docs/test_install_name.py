"""No page instructs a user to install `physai` from a package index, where another project owns the name."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.support.documentation import ROOT

INSTALL = re.compile(
    r"\b(pip3?|pipx|uv tool|uv pip|uv|conda)\s+(install|add|run)\s+(-\S+\s+)*[\"']?physai\b|\buvx\s+physai\b"
)
TEXT = {".md", ".py", ".yaml", ".yml", ".toml", ".sh", ".txt", ".json", ""}


def files() -> list[Path]:
    """Every text file of the repository that git tracks, but this one."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.suffix in TEXT and path.is_file() and path != Path(__file__).resolve()]


def test_no_file_installs_physai_from_an_index() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): match[0]
        for path in files()
        if (match := INSTALL.search(path.read_text(encoding="utf-8", errors="replace")))
    }
    assert found == {}


@pytest.mark.parametrize(
    "text", ["pip install physai", "pipx install physai", "uv tool install physai", "uvx physai up"]
)
def test_such_a_line_is_found(text: str) -> None:
    assert INSTALL.search(f"Run `{text}` first.")


@pytest.mark.parametrize("text", ["pip install physical-ai", "pip install --editable .", "physai up"])
def test_other_lines_are_not(text: str) -> None:
    assert not INSTALL.search(text)
