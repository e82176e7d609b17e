"""A daemon of an earlier version of the checkout is recognised by what it has loaded."""

from __future__ import annotations

import json
import os
from pathlib import Path

from physical_ai.repository import ROOT
from simulator.loaded_code import has_changed, note


def test_what_is_loaded_is_noted_with_the_data_beside_it(tmp_path: Path) -> None:
    note(tmp_path / "code")
    noted = json.loads((tmp_path / "code").read_text())
    assert str(ROOT / "simulator" / "loaded_code.py") in noted
    assert all(os.path.exists(path) for path in noted)
    assert not has_changed(tmp_path / "code")


def test_a_file_that_was_written_since_is_a_change(tmp_path: Path) -> None:
    module = tmp_path / "model.py"
    module.write_text("a = 1\n")
    found = module.stat()
    (tmp_path / "code").write_text(json.dumps({str(module): [found.st_mtime_ns, found.st_size]}))
    assert not has_changed(tmp_path / "code")
    os.utime(module, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    assert has_changed(tmp_path / "code")


def test_a_file_that_is_gone_is_a_change(tmp_path: Path) -> None:
    (tmp_path / "code").write_text(json.dumps({str(tmp_path / "gone.py"): [1, 1]}))
    assert has_changed(tmp_path / "code")


def test_a_daemon_that_has_noted_nothing_is_of_an_earlier_version(tmp_path: Path) -> None:
    assert has_changed(tmp_path / "code")
