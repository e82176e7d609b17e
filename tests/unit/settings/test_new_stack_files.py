"""Files of a new stack: written together or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from physical_ai.settings.new_stack import AlreadyExists, NewFiles, write, writing


def files_in(root: Path) -> set[Path]:
    return {path.relative_to(root) for path in root.rglob("*") if path.is_file()}


TEXTS = NewFiles({Path("layers/region/eastus2.yaml"): "a\n", Path("Pulumi.dev-eastus2.yaml"): "b\n"})


def test_a_file_that_appears_meanwhile_is_kept_and_the_others_taken_back(tmp_path: Path) -> None:
    theirs = tmp_path / "Pulumi.dev-eastus2.yaml"
    theirs.write_text("theirs\n")
    with pytest.raises(AlreadyExists, match=r"Pulumi\.dev-eastus2\.yaml"):
        write(TEXTS, tmp_path)
    assert theirs.read_text() == "theirs\n"
    assert files_in(tmp_path) == {Path("Pulumi.dev-eastus2.yaml")}


def test_a_write_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real: Callable[..., None] = writing.os.link

    def full(source: Path, target: Path) -> None:
        if target.name.startswith("Pulumi."):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(writing.os, "link", full)
    with pytest.raises(OSError, match="No space left"):
        write(TEXTS, tmp_path)
    assert files_in(tmp_path) == set()
