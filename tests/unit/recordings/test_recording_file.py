"""Files that are no recordings, or that somebody has changed: one sentence with file, place and reason."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.recorded_cluster import World, recorded
from workbench.cli.main import run
from workbench.recordings import form, reading
from workbench.recordings.form import Entry
from workbench.recordings.reading import BadRecording, read
from workbench.recordings.writing import write


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "it.gz"
    write(recorded(World()), made)
    return made


def lines(file: Path) -> list[bytes]:
    return gzip.decompress(file.read_bytes()).splitlines(keepends=True)


def packed(file: Path, given: list[bytes]) -> Path:
    file.write_bytes(gzip.compress(b"".join(given)))
    return file


def signed(file: Path, change: Callable[[list[Entry]], object]) -> Path:
    """The file with changed entries, and a checksum that fits."""
    entries = [json.loads(each) for each in lines(file)[:-1]]
    change(entries)
    body = [json.dumps(each).encode() + b"\n" for each in entries]
    digest = hashlib.sha256(b"".join(body)).hexdigest()
    end = {"kind": "end", "lines": len(body), "sha256": digest}
    return packed(file, [*body, json.dumps(end).encode() + b"\n"])


def of(entries: list[Entry], path: str) -> Entry:
    return next(each for each in entries if each.get("path") == path and each["kind"] == "list")


def test_what_was_written_is_read(file: Path) -> None:
    found = read(file)
    assert found.stack == "dev-westus2"
    assert not found.simulated
    assert len(found.lists["/api/v1/pods"]) == 2


def test_a_file_that_was_cut_is_refused(file: Path) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadRecording, match=r"it\.gz: the file was cut or damaged"):
        read(file)
    packed(file, [gzip.decompress(whole).splitlines(keepends=True)[0]])
    with pytest.raises(BadRecording, match="line 1: the end is missing: the file was cut"):
        read(file)


def test_a_file_that_was_edited_is_refused(file: Path) -> None:
    given = [each.replace(b"train-0", b"train-1") for each in lines(file)]
    with pytest.raises(BadRecording, match=r"line \d+: the checksum is of other lines: the file was edited"):
        read(packed(file, given))


def test_two_recordings_in_one_file_are_refused(file: Path) -> None:
    whole = lines(file)
    with pytest.raises(BadRecording, match="two recordings in one file"):
        read(packed(file, [*whole, *whole]))
    packed(file, whole)
    with pytest.raises(BadRecording, match="a second summary: two recordings in one file"):
        read(signed(file, lambda entries: entries.append(entries[1])))


def test_names_that_collide_are_refused(file: Path) -> None:
    def double(entries: list[Entry]) -> None:
        pods = of(entries, "/api/v1/pods")["items"]
        pods.append(pods[0])

    with pytest.raises(BadRecording, match=r"/api/v1/pods: two objects are named kube-system/kube-proxy-\S+: names"):
        read(signed(file, double))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda entries: entries[0].update(version=2), r"head\.version: 2 is another form than this program reads"),
        (lambda entries: entries[0].update(format="tar"), "line 1: is no head"),
        (lambda entries: entries[0].update(recordedAt="soon"), r"line 1: head\.recordedAt: is no time"),
        (lambda entries: entries[0].update(simulated=1), r"line 1: head\.simulated: is a int, and has to be a bool"),
        (lambda entries: entries.insert(1, {"kind": "exec"}), "line 2: kind: 'exec' is none of head"),
        (lambda entries: entries.insert(1, ["x"]), "line 2: is no object"),
        (lambda entries: of(entries, "/api/v1/pods").pop("items"), r"list\.items: is missing"),
        (lambda entries: of(entries, "/api/v1/pods")["items"].append(3), r"list\.items\[2\]: is a int"),
        (
            lambda entries: of(entries, "/api/v1/nodes")["items"][0]["metadata"].update(labels=[1]),
            r"/api/v1/nodes: has items\[0\]\.metadata\.labels that is a list",
        ),
    ],
)  # fmt: skip
def test_another_form_is_refused_with_its_place(file: Path, change: Callable[[list[Any]], object], said: str) -> None:
    with pytest.raises(BadRecording, match=said):
        read(signed(file, change))


def test_nesting_without_end_is_refused(file: Path) -> None:
    for depth in (form.MOST_DEPTH + 1, 100_000):
        deep = b'{"kind": "azure", "body": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}\n"
        with pytest.raises(BadRecording, match="line 2: is a document of"):
            read(packed(file, [lines(file)[0], deep]))


def test_a_bomb_ends_at_the_bounds(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_LINE", 10_000)
    with pytest.raises(BadRecording, match="line 2: more is packed into it than a recording holds"):
        read(packed(file, [lines(file)[0], b" " * 50_000_000]))
    monkeypatch.setattr(reading, "MOST_TEXT", 100_000)
    entry = b'{"kind": "unread", "what": "' + b"x" * 9_000 + b'", "reason": ""}\n'
    with pytest.raises(BadRecording, match=r"line 1\d: more is packed"):
        read(packed(file, [lines(file)[0], *[entry] * 5000]))
    monkeypatch.setattr(reading, "MOST_FILE", 10)
    with pytest.raises(BadRecording, match="and at most 0 are read"):
        read(file)


def test_what_is_no_recording_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    with pytest.raises(BadRecording, match=r"notes\.txt: is no recording \(not packed with gzip\)"):
        read(other)
    other.write_bytes(gzip.compress(b"\xff\xfe\n"))
    with pytest.raises(BadRecording, match="line 1: is text that is not UTF-8"):
        read(other)
    with pytest.raises(BadRecording, match="is no regular file"):
        read(tmp_path)
    with pytest.raises(BadRecording, match="cannot be read"):
        read(tmp_path / "nothing")


def test_a_command_ends_with_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("hello")
    for command in (["why", "x"], ["doctor"], ["gates"], ["usage"], ["alerts"], ["reach"]):
        assert run([*command, "--from", str(other)]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.count("\n") == 1
        assert captured.err.startswith(f"{other}: is no recording")
