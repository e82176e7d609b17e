"""A small checkout of three distributions, which a release is rehearsed of in seconds."""

from __future__ import annotations

import subprocess
from pathlib import Path

from docs.generator.release.left import notes_file

IDENTITY = (
    "-c",
    "user.name=x",
    "-c",
    "user.email=x@example.com",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "tag.gpgsign=false",
)
PROJECT = """\
[project]
name = "{name}"
version = "{version}"
license = "Apache-2.0"
license-files = ["LICENSE"]
requires-python = ">=3.11"
dependencies = [{needs}]

[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[tool.hatch.build.targets.wheel]
only-include = ["{package}"]

[tool.hatch.build.targets.sdist]
only-include = ["{package}"]
"""
CHANGES = """\
# Changelog

## Unreleased

- Something that nobody has yet.

## 1.2.3 - 2026-11-28

### Added

- A pool of GPUs.

## 1.2.2 - 2026-11-01

- Less.
"""
PINS = """\
aiohttp==3.14.5 \\
    --hash=sha256:00
    # via kubernetes
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:00
    # via physical-ai-workbench (workbench/pyproject.toml)
kubernetes==37.0.2 \\
    --hash=sha256:00
    # via
    #   -c requirements-dev.txt
    #   physical-ai (pyproject.toml)
"""


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *IDENTITY, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write(folder: Path, version: str = "1.2.3") -> Path:
    """Writes the files of the checkout, and commits them."""
    for name, own, package, needs in (
        ("physical-ai", ".", "physical_ai", ""),
        ("physical-ai-workbench", "workbench", "bench", f'"physical-ai=={version}"'),
        ("physical-ai-simulator", "simulator", "model", f'"physical-ai=={version}"'),
    ):
        (folder / own / package).mkdir(parents=True)
        (folder / own / package / "__init__.py").write_text('"""A package."""\n')
        (folder / own / "LICENSE").write_text("Apache License\n")
        text = PROJECT.format(name=name, version=version, package=package, needs=needs)
        (folder / own / "pyproject.toml").write_text(text)
    (folder / "CHANGELOG.md").write_text(CHANGES)
    (folder / "requirements-deploy.txt").write_text(PINS)
    notes = folder / notes_file(version)
    notes.parent.mkdir(parents=True)
    notes.write_text(f"version: {version}\ndate: 2026-11-28\n")
    (folder / ".gitignore").write_text("__pycache__/\n/dist/\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, "Start")
    return folder


def commit(folder: Path, message: str) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--date=2026-11-28T12:00:00Z", "-m", message)
