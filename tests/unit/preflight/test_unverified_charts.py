"""Charts without a checksum: named before a deployment, and never a pipeline's first download."""

from __future__ import annotations

from pathlib import Path

import pytest

from physical_ai.catalog import chart_archives
from physical_ai.catalog.charts import Chart
from physical_ai.findings import Severity
from physical_ai.settings import load
from workbench.cli.chart_download import Unlocked, pull
from workbench.preflight.charts import unverified


@pytest.fixture
def unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Chart:
    """A chart whose checksum neither the catalogue nor the lock file has."""
    monkeypatch.setattr(chart_archives, "LOCK", tmp_path / "charts.lock")
    return load("dev-westus2").plan.charts[0].model_copy(update={"sha256": None})


def test_a_chart_without_a_checksum_is_named(unknown: Chart) -> None:
    (finding,) = unverified([unknown])
    assert finding.severity is Severity.WARNING
    assert finding.where == f"{unknown.name} {unknown.version}"
    assert unverified([unknown.model_copy(update={"sha256": "0" * 64})]) == []


def test_a_pipeline_downloads_no_chart_whose_checksum_is_not_known(unknown: Chart, tmp_path: Path) -> None:
    never_run = tmp_path / "helm"
    with pytest.raises(Unlocked, match=r"charts\.lock"):
        pull(unknown, never_run, locked=True)
