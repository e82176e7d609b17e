"""The page on the GRID driver names the catalogue's builds and every setting."""

from __future__ import annotations

import re

from physical_ai.catalog.gpu_lookup import builds
from physical_ai.settings import GridDriver
from tests.support.recording import ROOT

PAGE = ROOT / "docs/grid-driver.md"


def test_the_page_on_the_driver_lists_the_builds_of_the_catalogue() -> None:
    documented = re.findall(r"^\| (\d{3}\.[\d.]+) \| ([\d.]+) \| (known|not known) \|$", PAGE.read_text(), re.MULTILINE)
    assert documented == [
        (version, build.vgpu, "known" if build.sha256 else "not known") for version, build in builds("grid").items()
    ]


def test_the_page_names_every_setting_of_the_section() -> None:
    text = PAGE.read_text()
    names = {field.alias for field in GridDriver.model_fields.values()}
    assert [name for name in names if name and name not in text] == []
