"""Lints the GitHub workflow files and audits their security: `python -m tests.support.lint_github_workflows`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from physical_ai.repository import ROOT
from simulator.home import Home
from simulator.tools import LINTERS, BuildFailed, toolbox
from workbench.cli.console import err

FAILED = 1
AUDIT = (str(Path(sys.executable).with_name("zizmor")), "--offline", "--quiet", "--config", ".github/zizmor.yml")
"""Command line of zizmor, which audits without requests to GitHub. Its configuration says which audits do not apply."""


def main() -> int:
    """Exit code of the first linter that finds something. Actionlint uses the shellcheck that is installed beside
    Python.
    """
    try:
        tools = toolbox(Home.of_user().tools, families=LINTERS)
    except BuildFailed as problem:
        err.print(str(problem), markup=False, style="red")
        return FAILED
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    command = [tools.path("actionlint"), "-color"] if err.is_terminal else [tools.path("actionlint")]
    # The files are arguments, so that actionlint needs no Git repository.
    files = sorted((ROOT / ".github" / "workflows").glob("*.yaml"))
    linted = subprocess.run([*command, *files], cwd=ROOT, env={**os.environ, "PATH": path}, check=False).returncode
    return linted or subprocess.run([*AUDIT, str(ROOT / ".github")], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
