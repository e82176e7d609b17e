"""Build hook of the program's wheel: files of the checkout's top folder, which `sources` cannot map."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FILES = ("__main__.py", "Pulumi.yaml", "requirements-deploy.txt", "requirements-dev.txt")
INSTALLED = "physical_ai/installed"


class WheelFiles(BuildHookInterface[Any]):
    """Adds the files to a wheel, and nothing to an editable installation, which finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "standard":
            build_data["force_include"] |= {str(Path(self.root) / name): f"{INSTALLED}/{name}" for name in FILES}
