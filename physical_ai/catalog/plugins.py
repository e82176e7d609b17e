"""Provider plugins of the deployed program, and the file with the checksums that they are compared with."""

from __future__ import annotations

import platform
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from physical_ai.repository import INSTALLED, PROJECT, SCRIPTS, is_team_project

_FILE = ".github/checksums.toml"
CHECKSUMS = PROJECT / _FILE
"""The project's file with the checksum of each plugin's archive, and of the program in the archive.
.github/scripts/pulumi_programs.py writes the file.
"""
PLATFORM_CHECKSUMS = INSTALLED / _FILE
"""The same file as it comes with the platform."""
PROVIDERS = ("azure-native", "kubernetes", "random")
_SCRIPT = SCRIPTS.relative_to(PROJECT) if SCRIPTS.is_relative_to(PROJECT) else SCRIPTS
PROGRAMS = f".venv/bin/python {_SCRIPT}/pulumi_programs.py"
"""Command that records the checksums, and installs Pulumi's programs."""
RECORD = f"Run {PROGRAMS} record, and commit {_FILE}."


def archive_name(name: str, pin: str) -> str:
    """File name of the archive in which the publisher offers a plugin for this machine."""
    chip = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"pulumi-resource-{name}-v{pin}-{platform.system().lower()}-{chip}.tar.gz"


def pinned() -> dict[str, str]:
    """Version of each provider plugin, by the plugin's name. A plugin has the version of the Python package
    `pulumi-NAME`.
    """
    return {name: version(f"pulumi-{name}") for name in PROVIDERS}


def recorded(file: Path = CHECKSUMS) -> dict[str, dict[str, Any]]:
    """Rows with checksums by the name of the archive: those of `file`, and in a team's project, which need not have the
    file, also those that come with the platform.
    """
    if not is_team_project(PROJECT):
        return _rows(file)
    return _rows(PLATFORM_CHECKSUMS) | (_rows(file) if file.exists() else {})


def _rows(file: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads(file.read_text(encoding="utf-8")).get("archives", {})
