"""Versions of a managed database, judged by the end of Azure's support."""

from __future__ import annotations

import datetime

import pytest

from physical_ai.catalog.postgres import postgres_versions
from physical_ai.settings import Overlay, load
from physical_ai.settings.rules.compat import judge


def problems(version: str, today: str) -> list[str]:
    settings = load("prod-westeurope", [Overlay.assign([f"dataServices.postgres.version='{version}'"])]).settings
    found = judge(settings, datetime.date.fromisoformat(today))
    return [each.problem for each in found if each.subject == "postgresql"]


@pytest.mark.parametrize(
    ("version", "today", "part"),
    [
        ("18", "2026-11-27", None),
        ("15", "2026-11-27", None),
        ("15", "2027-11-01", "ends on 2027-11-11."),
        ("15", "2027-11-12", "ended on 2027-11-11: it makes no new server of it"),
    ],
)
def test_a_version_is_judged_by_its_end(version: str, today: str, part: str | None) -> None:
    found = problems(version, today)
    assert len(found) == (part is not None)
    assert part is None or part in found[0]


def test_a_stack_without_a_managed_database_is_not_judged() -> None:
    settings = load("dev-westus2").settings
    assert not [each for each in judge(settings, datetime.date(2031, 1, 1)) if each.subject == "postgresql"]


def test_support_begins_before_it_ends_and_newer_versions_have_more_of_it() -> None:
    rows = list(postgres_versions().values())
    assert all(row.ga < row.end for row in rows)
    assert [row.end for row in rows] == sorted(row.end for row in rows)
