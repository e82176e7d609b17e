"""From a firing alert to what to do: each alert links to a section that exists."""

from __future__ import annotations

import re

from docs.generator.alerts import FILE
from physical_ai.catalog.telemetry_rows import xids
from physical_ai.repository import DOCS
from physical_ai.settings import existing, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.rules import alerts


def test_every_alert_of_every_stack_links_to_its_section() -> None:
    sections = {title.lower() for title in re.findall(r"^### (\w+)$", FILE.read_text(), re.MULTILINE)}
    for stack in existing():
        for alert in alerts(rule_parameters(load(stack).settings)):
            page, _, anchor = alert.runbook.partition("#")
            assert DOCS.parent / page == FILE
            assert anchor in sections


def test_the_page_has_every_xid() -> None:
    text = FILE.read_text()
    assert all(f"| {code} | " in text for code in xids())
