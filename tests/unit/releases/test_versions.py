"""Versions: their order and form, and the one that a project pins."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import pytest

from physical_ai.releases import NotAVersion, Version, installed, pinned_version


def test_versions_are_in_the_order_of_their_release() -> None:
    texts = ["0.1.0", "0.2.0.dev1", "0.2.0a1", "0.2.0rc1", "0.2.0rc2", "0.2.0", "0.10.0", "1.0.0"]
    assert [str(each) for each in sorted(map(Version.parse, reversed(texts)))] == texts
    assert Version.parse(" v0.2.0 ") == Version(0, 2, 0)


@pytest.mark.parametrize("text", ["", "1", "1.2", "0.2.x", "latest", "0.2.0-1", "0.2.0+local"])
def test_another_text_is_told_how_a_version_is_written(text: str) -> None:
    with pytest.raises(NotAVersion, match=r"Write three numbers, such as 0\.2\.0"):
        Version.parse(text)


def test_the_installed_version_is_that_of_the_package() -> None:
    assert str(installed()) == metadata.version("physical-ai")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("# x\nphysical-ai==0.1.0 \\\n    --hash=sha256:0\n", "0.1.0"),
        ("physical-ai==0.1.0; python_version > '3'\n", "0.1.0"),
        ("physical-ai-workbench==0.1.0\n", None),
        ("physical-ai>=0.1.0\n", None),
    ],
)
def test_the_pinned_version_is_that_of_the_program(tmp_path: Path, text: str, version: str | None) -> None:
    assert pinned_version(tmp_path) is None
    (tmp_path / "requirements.txt").write_text(text)
    assert pinned_version(tmp_path) == version
