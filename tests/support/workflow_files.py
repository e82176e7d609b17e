"""The repository's GitHub workflow files as data, and the pieces of them that tests look at."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"


@dataclass(frozen=True)
class Workflow:
    """File of `.github/workflows`."""

    path: Path

    @cached_property
    def document(self) -> dict[str, Any]:
        # YAML 1.1 reads the key `on` as true; GitHub does not.
        return {("on" if key is True else key): value for key, value in yaml.safe_load(self.text).items()}

    @property
    def text(self) -> str:
        return self.path.read_text()

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def events(self) -> set[str]:
        on: Any = self.document["on"]
        return {on} if isinstance(on, str) else set(on)

    @property
    def jobs(self) -> dict[str, dict[str, Any]]:
        return self.document["jobs"]

    def steps(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Name of the job, and the step, for every step of the workflow."""
        for name, job in self.jobs.items():
            for step in job.get("steps") or []:
                yield name, step

    def step(self, name: str) -> dict[str, Any]:
        (found,) = [step for _, step in self.steps() if step.get("name") == name]
        return found


def script(name: str) -> ModuleType:
    """Imports a script of the workflows as a module."""
    spec = importlib.util.spec_from_file_location(name, GITHUB / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def workflows() -> list[Workflow]:
    return [Workflow(path) for path in sorted((GITHUB / "workflows").iterdir())]


def actions() -> list[Path]:
    """Composite actions of the repository itself."""
    return sorted((GITHUB / "actions").glob("*/action.yaml"))
