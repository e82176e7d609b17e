"""`physai --version`."""

from __future__ import annotations

from importlib import metadata

import pytest

from physical_ai.catalog import osmo
from simulator.tools.families import FAMILIES
from workbench.cli import versions
from workbench.cli.main import run


def test_version_prints_all_that_is_pinned_and_ends(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version", "stacks"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"physai {metadata.version('physical-ai-workbench')}, Python 3.")
    assert f"Pulumi {metadata.version('pulumi')};" in shown
    assert all(f"{family.name} {family.version()}" in shown for family in FAMILIES)
    assert f"OSMO {osmo.IMAGE_TAG}" in shown
    assert len(shown.splitlines()) == 4


def test_version_without_the_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    real = metadata.version

    def version(name: str) -> str:
        if name == "physical-ai-simulator":
            raise metadata.PackageNotFoundError(name)
        return real(name)

    monkeypatch.setattr(metadata, "version", version)
    assert list(versions.lines())[2] == "simulator not installed"
