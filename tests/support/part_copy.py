"""A copy of the repository with a made-up part, in which tests make the mistakes of a new contributor."""

from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from docs.generator.part_skeleton import files
from physical_ai.repository import ROOT

NAME, CHART, VERSION, DAY = "made_up", "made-up", "1.2.3", datetime.date(2026, 11, 28)
COPIED = ("parts", "physical_ai")
LINKED = ("workbench", "simulator", "components", "manifests", "values", "stacks", "agents")
"""Folders that the copy contains as links. No test changes them, and their code does not derive the repository's path
from its own.
"""
COLD = (
    "workbench.cli.main",
    "physical_ai.catalog.compat",
    "physical_ai.telemetry.rule_rows",
    "physical_ai.untrusted.text",
)
WARM = ("workbench.cli.main", "physical_ai.settings.loading", "physical_ai.planning.plan")


@dataclass
class PartCopy:
    """The copy, and the processes that run commands in it."""

    root: Path
    servers: dict[tuple[str, ...], subprocess.Popen[str]] = field(
        default_factory=dict[tuple[str, ...], "subprocess.Popen[str]"]
    )

    @property
    def parts(self) -> Path:
        return self.root / "parts"

    @property
    def folder(self) -> Path:
        return self.parts / NAME

    def listed(self) -> None:
        """Adds the made-up part to the list of parts."""
        registry = self.parts / "registry.py"
        registry.write_text(registry.read_text().replace("NAMES = (\n", f'NAMES = (\n    "{NAME}",\n'))

    def filled(self) -> None:
        """Replaces all placeholders that the skeleton leaves to its author."""
        for file in filter(Path.is_file, self.folder.iterdir()):
            file.write_text(re.sub(r"‹[^›]*›", "example.com/made-up:1", file.read_text()))

    def answer(self, *arguments: str, loaded: Sequence[str] = ()) -> tuple[int, str]:
        """Exit code and output of a command for a stack with the part.

        `loaded`: modules that the process imports in advance, which saves most of the time. Empty where a test changes
        one of the modules.
        """
        server = self.servers.get(tuple(loaded)) or self._started(tuple(loaded))
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps([*arguments, "--set", "parts={madeUp: {}}"]) + "\n")
        server.stdin.flush()
        code, text = json.loads(server.stdout.readline())
        return code, text

    def _started(self, loaded: tuple[str, ...]) -> subprocess.Popen[str]:
        script = ROOT / "tests" / "support" / "fork_server.py"
        words = [sys.executable, str(script), str(self.root), *loaded]
        self.servers[loaded] = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self.servers[loaded]


@contextmanager
def part_copy(root: Path) -> Generator[PartCopy]:
    """Creates the copy. Its made-up part has the files that the skeleton generates, and is not in the list of parts
    yet.
    """
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name)  # with its bytecode: to compile all takes seconds
    for name in LINKED:
        (root / name).symlink_to(ROOT / name)
    for each in ("__main__.py", "Pulumi.yaml", "pyproject.toml"):
        shutil.copy(ROOT / each, root)
    copy = PartCopy(root)
    copy.folder.mkdir()
    for file, text in files(NAME, CHART, VERSION, DAY).items():
        (copy.folder / file).write_text(text)
    try:
        yield copy
    finally:
        for server in copy.servers.values():
            assert server.stdin is not None
            server.stdin.close()
            server.wait()
