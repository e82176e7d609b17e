"""A team's own project in a folder, in which the platform is a dependency."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from physical_ai.repository import PROJECT_FILE, ROOT
from physical_ai.settings import Loaded, load

STACK = "dev-westus2"
PROGRAM = "from components.platform.program import deploy\n\nplatform = deploy()\n"


@dataclass(frozen=True)
class TeamProject:
    """Folder of a project with one stack, which sets what the platform's own stack file of this name sets."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> TeamProject:
        (folder / "stacks").mkdir(parents=True)
        shutil.copy(ROOT / PROJECT_FILE, folder)
        (folder / "__main__.py").write_text(PROGRAM)
        shutil.copy(ROOT / "stacks" / f"Pulumi.{STACK}.yaml", folder / "stacks")
        return cls(folder)

    def write(self, path: str, text: str) -> None:
        """Writes a file of the project."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    @property
    def stacks(self) -> Path:
        return self.folder / "stacks"

    def load(self, stack: str = STACK) -> Loaded:
        return load(stack, root=self.stacks, values=self.folder / "values")
