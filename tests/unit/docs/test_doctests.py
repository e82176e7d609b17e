"""Examples in docstrings: each gives the result that it shows."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from physical_ai.repository import ROOT

FOLDERS = ("physical_ai", "components", "parts", "workbench", "simulator", "docs", "tests/support")
PROMPT = ">>> "


def modules() -> list[str]:
    """Names of the modules with an example."""
    files = [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    return [_name(file) for file in files if PROMPT in file.read_text(encoding="utf-8")]


def _name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_examples_give_what_they_show(capsys: pytest.CaptureFixture[str]) -> None:
    results = {name: doctest.testmod(importlib.import_module(name)) for name in modules()}
    assert sum(each.attempted for each in results.values()) > 100
    wrong = [name for name, each in results.items() if each.failed]
    assert wrong == [], capsys.readouterr().out
