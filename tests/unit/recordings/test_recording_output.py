"""The file that a recording is written to, and the time that reading may take."""

from __future__ import annotations

import errno
import math
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from physical_ai.readiness import Unreachable
from physical_ai.settings import load
from tests.support.recorded_cluster import STACK, World, recorded
from workbench.cli import prometheus, recording_sources
from workbench.cli.main import run
from workbench.cli.recording_sources import Wanted
from workbench.recordings.asking import Bounded
from workbench.recordings.azure import azure_entries
from workbench.recordings.questions import Limits
from workbench.recordings.reading import is_recording
from workbench.recordings.writing import write


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What was asked to read a cluster, which then cannot be read."""
    asked: list[object] = []

    def entries(wanted: object, say: object) -> Any:
        asked.append(wanted)
        raise Unreachable("no answer")

    monkeypatch.setattr(recording_sources, "entries", entries)
    return asked


def test_another_file_is_overwritten_by_force_alone(
    tmp_path: Path, read: list[object], capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("hello")
    assert run(["record", STACK, "-o", str(file)]) == 2
    assert "--force" in capsys.readouterr().err
    assert read == []
    assert run(["record", STACK, "-o", str(file), "--force"]) == 1
    write(recorded(World()), file)
    assert is_recording(file)
    assert run(["record", STACK, "-o", str(file)]) == 1
    assert len(read) == 2


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_is_noticed_before_anything_is_read(
    number: int, tmp_path: Path, read: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses(**_: object) -> Any:
        raise OSError(number, "no", "/x/.tmp")

    monkeypatch.setattr(tempfile, "NamedTemporaryFile", refuses)
    file = tmp_path / "it.gz"
    assert run(["record", STACK, "-o", str(file)]) == 1
    assert str(file) in capsys.readouterr().err
    assert read == []


def test_one_deadline_ends_every_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> Any:
        raise AssertionError("asked after the deadline")

    monkeypatch.setattr(prometheus, "ask", never)
    wanted = Wanted(load(STACK), Path("k"), None, "http://127.0.0.1:1", azure=True, limits=Limits(seconds=60))
    over = -math.inf
    entries = [
        *recording_sources._of_prometheus(wanted, 0, over, lambda _: None),  # pyright: ignore[reportPrivateUsage] - needs no server
        *azure_entries(never, "/subscriptions/x", wanted.limits, lambda _: None, over),
    ]
    assert [each["kind"] for each in entries] == ["unread", "unread"]
    assert all("60 s are over" in each["reason"] for each in entries)

    def get(path: str, _: Mapping[str, str]) -> Any:
        return never(path)

    with pytest.raises(Unreachable, match="60 s are over"):
        Bounded(get, wanted.limits, until=over)("/version", {})
