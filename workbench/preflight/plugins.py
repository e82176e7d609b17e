"""Finding about provider plugins that a deployment refuses, because no checksum of them is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.plugins import RECORD, archive_name, pinned
from physical_ai.findings import Finding, Severity

SOURCE = ".github/checksums.toml"


def unrecorded(rows: Mapping[str, Mapping[str, Any]]) -> list[Finding]:
    """A warning that names the plugin archives without a recorded checksum; empty if all have one. `rows`: recorded
    archives, by file name.
    """
    names = [archive_name(name, pin) for name, pin in pinned().items()]
    without = [each for each in names if not rows.get(each, {}).get("program")]
    if not without:
        return []
    problem = f"No checksum of {', '.join(without)} is recorded: a deployment from this machine stops."
    fix = f"{RECORD} `make azure-tools` records and installs them."
    return [Finding(Severity.WARNING, "plugin", f"{len(without)} plugins", problem, fix, SOURCE)]
