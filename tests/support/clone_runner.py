"""Runner of GitHub jobs that begin with a clone, so that only files exist that are in git or that a step has made."""

from __future__ import annotations

import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from physical_ai.repository import PACKAGES, ROOT
from tests.simulator.pipeline import Job, Runner, StepFailed
from tests.support.github_assertions import BEARER
from tests.support.github_expressions import filled
from workbench.cli.pull_request.trees import Repository

IDENTITY = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
MAKE = """
case "$1" in
  .venv/.ready)
    test -f "${2#REQUIREMENTS=}" || { echo "no such file: $2" >&2; exit 2; }
    mkdir -p .venv/bin
    cp "$RUNNER_TEMP"/venv/* .venv/bin
    touch .venv/.ready ;;
  *) exec %s --dry-run --old-file .venv/.ready "$@" >/dev/null ;;
esac"""
"""Stand-in of `make`. It copies the test's environment in place of `.venv`; for each other target it asks the real
`make` whether the target and its prerequisites exist.
"""
SUDO = """while [ "${1#--}" != "$1" ]; do shift; done; exec "$@" """
AZ = """case "$*" in
  "aks show"*) echo null ;;
  "login "* | "account set"*) ;;
  *) echo "az $* is not known here" >&2; exit 2 ;;
esac"""
REVIEWED = json.dumps({"protection_rules": [{"type": "required_reviewers", "reviewers": [{"type": "Team"}]}]})
GH = f"""[ "$1" = api ] && echo {shlex.quote(REVIEWED)}"""
CALLS = "physai-calls"
PHYSAI = """case "$1" in preview | pr-preview) %s -m tests.support.clone_commands "$@" ;; esac
[ "$*" != "tools --delivery" ] || echo "$RUNNER_TEMP/bin"
{ for word in "$@"; do printf '%%s\\037' "$word"; done; echo; } >> "$RUNNER_TEMP/%s" """
"""Stand-in of `physai`. It runs previews, and writes every call down for `commands_of`."""
PROGRAMS = """case "$1 $2" in *".github/scripts/pulumi_programs.py install") echo "$RUNNER_TEMP/bin"; exit ;; esac"""
"""Answer of the script that installs Pulumi's programs. The programs themselves are verified in another test."""
PREVIEW = json.dumps({"config": {}, "steps": [], "duration": 0, "changeSummary": {"same": 1}})
PULUMI = f"""case "$1" in
  login) test -s "$AZURE_FEDERATED_TOKEN_FILE" || {{ echo "the backend has no login" >&2; exit 2; }} ;;
  preview) echo {shlex.quote(PREVIEW)} ;;
  up | refresh | destroy) case "$*" in *--yes*) ;; *) echo "a job answers no question" >&2; exit 2 ;; esac ;;
  *) echo "pulumi $* is not known here" >&2; exit 2 ;;
esac"""


def commands_of(job: Job) -> list[list[str]]:
    """Words of each call of `physai` in a job."""
    return [line.split("\x1f")[:-1] for line in job.file(CALLS).read_text().splitlines()]


def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), *IDENTITY, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def origin(folder: Path) -> Path:
    """Creates a repository with this checkout's files on `main`, and a branch `change` that changes a stack."""
    repository = Repository(ROOT)
    repository.export(repository.head(None)[1], folder)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message=main")
    git(folder, "checkout", "--quiet", "-b", "change")
    stack = folder / "stacks" / "Pulumi.dev-westus2.yaml"
    stack.write_text(f"{stack.read_text().rstrip()}\n  physical-ai:tags: {{team: vision}}\n")
    git(folder, "commit", "--quiet", "--all", "--message=change")
    return folder


BY_HASH = (0b11).to_bytes(4, "little")
"""Flags of bytecode that Python uses where the source has the hash beside it (PEP 552), whenever it was written."""


def bytecode(folder: Path) -> Path:
    """Writes the bytecode of this checkout's modules into a folder, for clones, in which each job would compile all
    that it imports. Modules that were not imported yet, or have changed since, are left out.
    """
    for package in (*PACKAGES, "tests/support", "tests/golden", "docs/generator"):
        for source in (ROOT / package).rglob("*.py"):
            cached = Path(importlib.util.cache_from_source(str(source)))
            if not cached.is_file():
                continue
            made, known, text = cached.read_bytes(), source.stat(), source.read_bytes()
            magic, written = made[:4], (int(known.st_mtime), known.st_size)
            if made[4:16] != b"".join(number.to_bytes(4, "little") for number in (0, *written)):
                continue
            place = folder / cached.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(magic + BY_HASH + importlib.util.source_hash(text) + made[16:])
    return folder


@dataclass(frozen=True)
class CloneRunner(Runner):
    """Runner whose jobs each clone `repository`, and share the folder `artifacts`."""

    repository: Path = Path()
    artifacts: Path = Path()
    bytecode: Path = Path()
    branch: str = "main"

    def script(self, text: str) -> str:
        return text

    def _prepare(self, job: Job) -> None:
        commands, venv = job.folder / "bin", job.folder / "venv"
        for folder in (commands, venv, job.workspace):
            folder.mkdir(parents=True)
        python = f'PYTHONPATH="$GITHUB_WORKSPACE" exec {shlex.quote(sys.executable)}'
        written = {
            venv / "python": f'{PROGRAMS}\n{python} "$@"',
            venv / "physai": PHYSAI % (python, CALLS),
            commands / "python3": f'exec {shlex.quote(sys.executable)} -I "$@"',
            commands / "pulumi": PULUMI,
            commands / "make": MAKE % shutil.which("make"),
            commands / "sudo": SUDO,
            commands / "az": AZ,
            commands / "gh": GH,
        }
        for path, text in written.items():
            path.write_text(f"#!/bin/sh\n{text}\n")
            path.chmod(0o755)
        path = os.pathsep.join((str(commands), "/usr/local/bin", "/usr/bin", "/bin"))
        job.environment |= {
            "PATH": path,
            "HOME": str(job.folder),
            "PHYSAI_HOME": str(job.folder / "home"),
            "PULUMI_HOME": str(job.folder / "pulumi"),
            "RUNNER_TEMP": str(job.folder),
            "GITHUB_WORKSPACE": str(job.workspace),
            "GITHUB_REPOSITORY": "acme/platform",
            "GITHUB_STEP_SUMMARY": str(job.file("summary")),
            "ACTIONS_ID_TOKEN_REQUEST_URL": self.github,
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": BEARER,
        }

    def given(self, job: Job, action: str, inputs: Mapping[str, Any]) -> None:
        if action in ("actions/upload-artifact", "actions/download-artifact"):
            inputs = {key: filled(str(each), job.names) for key, each in inputs.items()}
        place = job.workspace / str(inputs.get("path", ""))
        if action == "actions/checkout":
            job.workspace.rmdir()
            words = ("clone", "--quiet", "--shared", "--branch", self.branch, str(self.repository), str(job.workspace))
            git(self.repository, *words)
            shutil.copytree(self.bytecode, job.workspace, copy_function=os.link, dirs_exist_ok=True)
        elif action == "actions/upload-artifact":
            if not place.exists():
                raise StepFailed(f"{action}: no files were found with the path {inputs['path']}")
            shutil.copytree(place, self.artifacts / inputs["name"])
        elif action == "actions/download-artifact":
            found = sorted(self.artifacts.glob(inputs.get("name") or inputs["pattern"]))
            if not found:
                raise StepFailed(f"{action}: no artifact {inputs}")
            for each in found:
                shutil.copytree(each, place, dirs_exist_ok=True)
        elif action == "actions/github-script":
            assert inputs["script"]  # run by Node in tests of its own
        else:
            super().given(job, action, inputs)
