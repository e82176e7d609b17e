"""The troubleshooting pages say what the diagnosis says."""

from __future__ import annotations

from pathlib import Path

import pytest

from physical_ai.readiness import document
from physical_ai.readiness.causes import causes, workload_causes


def test_the_pages_are_fresh() -> None:
    gates, pods = document.FILE.read_text(), document.PODS_FILE.read_text()
    assert gates == document.gates_page(), "run python -m docs.generator"
    assert pods == document.pods_page(), "run python -m docs.generator"
    assert all(f"`{cause}`" in gates for cause in causes())
    assert all(f"`{cause}`" in pods for cause in workload_causes())


def test_a_page_without_marks_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page")
    monkeypatch.setattr(document, "FILE", page)
    with pytest.raises(ValueError, match="has no"):
        document.gates_page()
