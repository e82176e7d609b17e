"""Wheels and source distributions of a commit, built so that the same commit gives the same files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from docs.generator.release.checkout import Commit
from docs.generator.release.problems import NotReleasable

DISTRIBUTIONS = {"physical-ai": ".", "physical-ai-workbench": "workbench", "physical-ai-simulator": "simulator"}
"""Folder of each distribution in the checkout."""
BUILD_SECONDS = 600


def build(commit: Commit, exported: Path, folder: Path) -> list[Path]:
    """Builds a wheel and a source distribution of each distribution into `folder`, and returns their paths.

    `exported`: the commit's files, so that nothing of the checkout beside them is packed. The time of every file in the
    archives is the commit's (SOURCE_DATE_EPOCH, reproducible-builds.org). No package index is asked: hatchling is that
    of the environment.

    Raises NotReleasable if a build fails.
    """
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(commit.time), "PYTHONDONTWRITEBYTECODE": "1"}
    for name, own in DISTRIBUTIONS.items():
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist", "-d", str(folder)]
        try:
            subprocess.run(
                command,
                cwd=exported / own,
                env=environment,
                capture_output=True,
                text=True,
                check=True,
                timeout=BUILD_SECONDS,
            )
        except subprocess.CalledProcessError as problem:
            said = (problem.stderr or problem.stdout).strip().splitlines()
            last = said[-1] if said else "hatchling failed"
            raise NotReleasable(f"{own}/pyproject.toml\n  {name} cannot be built: {last}") from None
        except (OSError, subprocess.TimeoutExpired) as problem:
            raise NotReleasable(f"{own}/pyproject.toml\n  {name} cannot be built: {problem}") from None
    return sorted(folder.iterdir())
