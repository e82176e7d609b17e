"""Builds that leave out what a simulation does not use: what is named, and an error if the module has changed."""

from __future__ import annotations

import hashlib
import re
import stat
import tomllib
from pathlib import Path

import pytest

from simulator.tools import BuildFailed
from simulator.tools.families import FAMILIES, HERE
from simulator.tools.left_out import FILE, REPLACED, STAND_INS, definitions, leaves_out, module_of, without

PULUMI = next(family for family in FAMILIES if family.name == "pulumi")
MODULE = "example.com/tool"
IMPORTS = (
    'package {package}\n\nimport (\n\t"fmt"\n\t"example.com/cloud/storage"\n\tother "example.com/cloud/storage/v2"\n)\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A tool's folder that leaves out `example.com/cloud/storage`, and replaces a file."""
    made = tmp_path / "tool"
    for file, text in {
        FILE: f'module = "{MODULE}"\n[imports]\n"example.com/cloud/storage" = "storage"\n',
        f"{STAND_INS}/storage/storage.go": "package storage\n",
        f"{REPLACED}/logs/cloud.go": "package logs // ours\n",
        "go.mod": f"module m\n\nrequire {MODULE} v1.0.0\n",
        "go.sum": "sums\n",
    }.items():
        (made / file).parent.mkdir(parents=True, exist_ok=True)
        (made / file).write_text(text)
    return made


@pytest.fixture
def original(tmp_path: Path) -> Path:
    """The module's files in Go's cache, which are read-only."""
    made = tmp_path / "cache" / "tool@v1.0.0"
    for file, text in {
        "state/state.go": IMPORTS.format(package="state"),
        "state/state_test.go": IMPORTS.format(package="state"),
        "state/schema.sql": "create table states",
        "testing/testing.go": "package testing\n",
        "logs/cloud.go": 'package logs\n\nimport "example.com/cloud/logs"\n',
    }.items():
        (made / file).parent.mkdir(parents=True, exist_ok=True)
        (made / file).write_text(text)
        (made / file).chmod(0o444)
    return made


def test_named_imports_lead_to_stand_ins_and_all_else_stays(folder: Path, original: Path, tmp_path: Path) -> None:
    main = without(folder, original, tmp_path / "work")
    copy = tmp_path / "work" / "module"
    expected = IMPORTS.format(package="state").replace('"example.com/cloud/storage"', f'"{MODULE}/{STAND_INS}/storage"')
    assert (copy / "state/state.go").read_text() == expected
    assert (copy / "state/schema.sql").read_text() == "create table states"
    assert (copy / "logs/cloud.go").read_text() == "package logs // ours\n"
    assert (copy / STAND_INS / "storage/storage.go").exists()
    assert not list(copy.rglob("*_test.go"))
    assert not (copy / "testing").exists()
    assert (main / "go.mod").read_text().endswith(f"\nreplace {MODULE} => {copy}\n")
    assert (main / "go.sum").read_text() == "sums\n"
    assert (original / "state/state.go").read_text() == IMPORTS.format(package="state")
    assert stat.S_IMODE((original / "state/state.go").stat().st_mode) == 0o444


def test_an_import_that_the_module_no_longer_has_is_an_error(folder: Path, original: Path, tmp_path: Path) -> None:
    for file in original.rglob("*.go"):
        file.chmod(0o644)
        file.write_text(file.read_text().replace("cloud/storage", "cloud/store"))
    with pytest.raises(BuildFailed, match=r"names imports that example\.com/tool lacks: example\.com/cloud/storage$"):
        without(folder, original, tmp_path / "work")


def test_a_replaced_file_that_the_module_no_longer_has_is_an_error(
    folder: Path, original: Path, tmp_path: Path
) -> None:
    (original / "logs/cloud.go").unlink()
    with pytest.raises(BuildFailed, match=r"replaces a file that example\.com/tool lacks"):
        without(folder, original, tmp_path / "work")


def test_every_stand_in_of_pulumi_is_used_and_says_so() -> None:
    folder = HERE / "pulumi"
    named = tomllib.loads((folder / FILE).read_text())
    assert module_of(folder) == PULUMI.module
    assert sorted(named["imports"].values()) == sorted(path.name for path in (folder / STAND_INS).iterdir())
    for file in definitions(folder)[1:]:
        text = file.read_text()
        assert re.search(r"simulation", text), file
        assert text.count("\t//") == 0


def test_what_is_left_out_is_part_of_the_builds_digest(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert [family.name for family in FAMILIES if leaves_out(family.folder)] == ["pulumi"]
    before = PULUMI.fingerprint()
    from simulator.tools import families

    changed = tmp_path / "changed.go"
    changed.write_text(hashlib.sha256(b"").hexdigest())
    monkeypatch.setattr(families, "definitions", lambda folder: (*definitions(folder), changed))
    assert PULUMI.fingerprint() != before
