"""Recordings that somebody made by hand, with odd values or a great many: one sentence, and no traceback."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from workbench.cli.main import run
from workbench.recordings import reading
from workbench.recordings.asking import Bounded, cluster_entries
from workbench.recordings.form import Entry
from workbench.recordings.making import head
from workbench.recordings.questions import Limits
from workbench.recordings.reading import BadRecording, read
from workbench.verdict.asking import USUAL_WAIT, Arm
from workbench.verdict.model import Deployment, Plan

HEAD = head("dev-westus2", "2026-01-01T00:00:00Z", "p", simulated=False)
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def made(file: Path, *entries: Entry, first: Entry = HEAD) -> Path:
    lines = [json.dumps(each).encode() + b"\n" for each in (first, *entries)]
    end = {"kind": "end", "lines": len(lines), "sha256": hashlib.sha256(b"".join(lines)).hexdigest()}
    file.write_bytes(gzip.compress(b"".join((*lines, json.dumps(end).encode() + b"\n"))))
    return file


def listed(path: str, *items: Any) -> Entry:
    return {"kind": "list", "path": path, "items": list(items)}


def alert(**fields: Any) -> Entry:
    return {"kind": "alerts", "alerts": [{"state": "firing", **fields}]}


def discovery(path: str, **answer: Any) -> Entry:
    return {"kind": "discovery", "path": path, "answer": answer}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (listed("", {}), r"list\.path: '' is no path"),
        (listed("/version", {"x": 1}), r"list\.path"),
        (listed("/api/v1/namespaces/x/pods/y/log", {}), r"list\.path"),
        (alert(labels=["a"]), r"alerts\[0\]\.labels: has to be a dict of str"),
        (alert(annotations="x"), r"alerts\[0\]\.annotations"),
        ({"kind": "pools", "pools": {"a": 5}}, r"pools\.a: is a int, and has to be a dict"),
        ({"kind": "pools", "pools": {"a": {"size": 3}}}, r"pools\.a\.size: is a int"),
        (discovery("/api/v1", resources=5), r"discovery\.answer: of /api/v1 has resources that is"),
        (discovery("/api/v1", resources=["x"]), r"resources\[0\] that is"),
        (discovery("/version", major=1, minor=33), "/version has"),
        (discovery("/x"), r"discovery\.path"),
        ({"kind": "samples", "query": "q", "samples": [{"labels": {}, "value": 10**400}]}, "value: has to be a number"),
        ({"kind": "samples", "query": "q", "samples": [{"labels": [1], "value": 1}]}, "labels: has to be a dict"),
        ({"kind": "unread", "what": "", "reason": "", "x": [1]}, "unread: has 'x', and no such field"),
    ],
)
def test_an_entry_of_another_shape_is_refused(tmp_path: Path, entry: Entry, said: str) -> None:
    with pytest.raises(BadRecording, match=f"line 2: .*{said}"):
        read(made(tmp_path / "it.gz", entry))


@pytest.mark.parametrize("at", ["2026-01-01", "2026-01-01T00:00:00", "20260101T000000Z", "9999-12-31T23:59:59-23:59"])
def test_a_time_without_a_zone_is_refused(tmp_path: Path, at: str) -> None:
    with pytest.raises(BadRecording, match=r"head\.recordedAt: is no time with a zone"):
        read(made(tmp_path / "it.gz", first={**HEAD, "recordedAt": at}))


def test_many_small_values_are_refused_before_they_are_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = {"kind": "workflows", "workflows": [{}] * 400_000}
    with pytest.raises(BadRecording, match=r"line 2: more is packed into it .* 200 times the size of the file"):
        read(made(tmp_path / "it.gz", many))
    monkeypatch.setattr(reading, "MOST_RATIO", 5000)
    monkeypatch.setattr(reading, "MOST_VALUES", 500_000)
    with pytest.raises(BadRecording, match="line 2: more is packed into it"):
        read(made(tmp_path / "it.gz", many))


def test_a_damaged_file_is_not_taken_for_one_of_another_sort(tmp_path: Path) -> None:
    file = made(tmp_path / "it.gz")
    whole = file.read_bytes()
    for other in (whole[:-8] + bytes(8), whole + b"garbage"):
        file.write_bytes(other)
        with pytest.raises(BadRecording, match="the file was cut or damaged"):
            read(file)


def test_what_no_check_knows_ends_with_a_sentence_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = made(tmp_path / "it.gz", {"kind": "pools", "pools": {"a": {}}})
    assert run(["gates", "--from", str(file)]) == 2
    said = capsys.readouterr().err
    assert f"{file}: has something that this command cannot read (KeyError: 'resources')" in said
    assert "Traceback" not in said


def test_definitions_without_objects_as_versions_are_compared(tmp_path: Path) -> None:
    odd = listed(DEFINITIONS, {"metadata": {"name": "a"}, "spec": {"versions": ["x"]}})
    file = made(tmp_path / "it.gz", odd)
    assert run(["compare", str(file), "--against", str(file)]) == 0


def test_an_api_group_without_versions_is_passed_over() -> None:
    def get(path: str, _: Any) -> Any:
        return {"groups": [{"name": "x", "versions": []}, {"name": "y"}]} if path == "/apis" else {"items": []}

    found = list(cluster_entries(Bounded(get, Limits()), lambda _: None))
    assert {"kind": "discovery", "path": "/apis", "answer": get("/apis", {})} in found


def test_a_waiting_time_in_other_digits_is_none() -> None:
    slept: list[float] = []
    arm = Arm(lambda *_: (429, None, {"retry-after": "²"}), "s", sleep=slept.append)
    arm.judge(Plan((Deployment("n", "l", {}, {}, 0),), ()))
    assert set(slept) == {USUAL_WAIT}
