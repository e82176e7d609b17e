"""Plugins without a recorded checksum: named before a deployment, which refuses them."""

from __future__ import annotations

from physical_ai.catalog.plugins import archive_name, pinned
from physical_ai.findings import Severity
from workbench.preflight.plugins import unrecorded


def test_plugins_without_a_checksum_are_named_with_the_command_that_records_them() -> None:
    rows = {archive_name(name, pin): {"program": "0" * 64} for name, pin in pinned().items()}
    assert unrecorded(rows) == []
    gone = archive_name("random", pinned()["random"])
    (found,) = unrecorded({name: row for name, row in rows.items() if name != gone})
    assert found.severity is Severity.WARNING
    assert gone in found.problem
    assert "pulumi_programs.py record" in str(found.fix)
