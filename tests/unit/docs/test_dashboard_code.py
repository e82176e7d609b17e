"""The dashboards' JSON is what their code builds."""

from __future__ import annotations

from docs.generator.dashboards.documents import CODE, stale
from physical_ai.telemetry.dashboards import dashboards


def test_the_json_is_what_the_code_builds() -> None:
    assert set(CODE) == {each.name for each in dashboards()}
    assert list(stale()) == [], "run: python -m docs.generator.dashboards"
