"""Provider plugins of the deployed program, and the file with the checksums that they are compared with."""

from __future__ import annotations

import platform
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

from physical_ai.repository import INSTALLED

CHECKSUMS = INSTALLED / ".github" / "checksums.toml"
"""File with the checksum of each plugin's archive, and of the program in the archive.
.github/scripts/pulumi_programs.py writes the file.
"""
PROVIDERS = ("azure-native", "kubernetes", "random")
RECORD = "Run .venv/bin/python .github/scripts/pulumi_programs.py record, and commit .github/checksums.toml."


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
    """Rows of the file with the checksums, by the name of the archive."""
    return tomllib.loads(file.read_text(encoding="utf-8")).get("archives", {})
