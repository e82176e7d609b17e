"""Data files of parts that cannot be read: a fault with file and key, and never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from parts.registry import PARTS
from physical_ai import repository
from physical_ai.catalog import charts, reading
from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.load import CatalogError, row
from physical_ai.catalog.rows import Row, Text
from physical_ai.planning import manifests
from physical_ai.planning.part_readings import as_fault, unread_files


def test_the_files_of_all_parts_can_be_read() -> None:
    assert list(unread_files(PARTS)) == []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of a part, the only one, below a checkout."""
    monkeypatch.setattr(repository, "PARTS", tmp_path / "parts")
    monkeypatch.setattr(repository, "PART_FOLDERS", (tmp_path / "parts",))
    monkeypatch.setattr(reading, "ROOT", tmp_path)
    monkeypatch.setattr(reading, "PROJECT", tmp_path)
    made = tmp_path / "parts" / "made_up"
    made.mkdir(parents=True)
    return made


def spaces() -> object:
    return manifests.namespaces_of("made_up")


POLICY = "kind: NetworkPolicy\nmetadata: {name: own, namespace: made-up}\n"


@pytest.mark.parametrize(
    ("file", "text", "read", "message"),
    [
        ("namespaces.yaml", "a: [\n", spaces, ":2: the file cannot be read as YAML"),
        ("namespaces.yaml", "kind: Namespace\n", spaces, ": document 1: metadata.name\n"),
        ("namespaces.yaml", "- 1\n", spaces, ": document 1: kind\n"),
        (
            "namespaces.yaml",
            "kind: Namespace\nmetadata: {name: a, labels: b}\n",
            spaces,
            ": document 1: metadata.labels\n",
        ),
        ("namespaces.yaml", "kind: Namespace\nmetadata: {name: a}\nx: 2026-01-01\n", spaces, ": Object of type date"),
        ("isolation.yaml", "kind: Namespace\nmetadata: {name: a}\n", manifests.isolation, ": document 1: kind\n"),
        ("isolation.yaml", POLICY, manifests.isolation, ": document 1: spec.podSelector\n"),
        (
            "isolation.yaml",
            f"{POLICY}spec: {{podSelector: {{}}, policyTypes: Egress}}\n",
            manifests.isolation,
            "policyTypes",
        ),
    ],
)
def test_objects_of_another_form_are_named(
    folder: Path, file: str, text: str, read: Callable[[], object], message: str
) -> None:
    (folder / file).write_text(text)
    with pytest.raises(CatalogError) as raised:
        read()
    assert str(raised.value).startswith(f"parts/made_up/{file}:")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- name: made-up\n", "made-up: versions\n  The chart has no list of versions.\n  Write versions: "),
        ("- name: made-up\n  versions: 1.2.3\n", "made-up: versions\n"),
        ("- versions: [{version: 1.2.3}]\n", "? 1.2.3: name\n  The key is missing."),
    ],
)
def test_pins_without_versions_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    (folder / "charts.yaml").write_text(text)
    pinned_charts.cache_clear()
    with pytest.raises(CatalogError) as raised:
        pinned_charts()
    assert f"parts/made_up/{charts.PINS}: {message}" in str(raised.value)
    (fault, *_) = unread_files([])
    assert str(fault).startswith(f"parts/made_up/charts.yaml: {message.partition(chr(10))[0]}\n")
    monkeypatch.undo()
    pinned_charts.cache_clear()


class Made(Row):
    version: Text
    known: Text


def test_a_row_is_refused_in_words_of_the_file() -> None:
    with pytest.raises(CatalogError) as raised:
        row(Made, {"versoin": "1", "known": 3}, "charts.yaml: made-up")
    text = str(raised.value)
    assert "pydantic" not in text
    assert "charts.yaml: made-up: version\n  The key is missing." in text
    assert "charts.yaml: made-up: versoin\n  There is no such key.\n  Did you mean 'version'?" in text
    assert "charts.yaml: made-up: known\n  Input should be a valid string: 3." in text


def test_a_row_with_a_strange_key_is_told_the_keys() -> None:
    with pytest.raises(CatalogError, match="The keys are: version, known"):
        row(Made, {"version": "1", "known": "a", "zzzzz": 1}, "x.yaml: a")


def test_an_error_in_one_line_is_a_fault_of_its_file() -> None:
    assert (
        str(as_fault("parts/a/b.yaml:3: the file cannot be read"))
        == "parts/a/b.yaml:3: form\n  the file cannot be read"
    )
    assert as_fault("no file at all").problem == "no file at all"
