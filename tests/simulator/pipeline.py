"""Runs the jobs of this repository's GitHub workflows step by step, as a runner does, against a simulation.

A step, a command or an expression that is not known here is an error.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from physical_ai.repository import ROOT
from tests.support.github_expressions import filled, value
from tests.support.shell_blocks import split
from tests.support.workflow_files import GITHUB, Workflow

GIVEN = (
    "actions/checkout",
    "actions/setup-python",
    "actions/cache",
    "actions/upload-artifact",
)
"""Actions that provide what the test has: a checkout, Python, the commands."""
OURS = ("pulumi", ".venv/bin/physai")
SHELL = (
    ".venv/bin/python",
    "python3",
    "make",
    "mkdir",
    "set",
    "nohup",
    "echo",
    "exit",
    "[[",
    "if",
    "then",
    "fi",
    "tee",
    "cat",
    "sudo",
)
"""Everything else that a step runs."""
FIRST_WORDS = (*OURS, *SHELL)
_ARRAY = re.compile(r"\w+=\([^)]*\)")
LOCAL = "./.github/actions/"


class StepFailed(AssertionError):
    """A step of a job ended with an error; the text has its name and what it printed."""


@dataclass
class Job:
    """A job while it runs: what its expressions can name, its environment variables, and what it leaves."""

    names: dict[str, Any]
    environment: dict[str, str]
    folder: Path
    printed: list[str] = field(default_factory=list[str])
    groups: list[int] = field(default_factory=list[int])

    def file(self, name: str) -> Path:
        path = self.folder / name
        path.touch()
        return path

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    @property
    def summary(self) -> str:
        return self.file("summary").read_text()


@dataclass(frozen=True)
class Runner:
    """`variables` are those of each GitHub environment; `github` is the address that hands out assertions."""

    folder: Path
    variables: Mapping[str, Mapping[str, str]]
    github: str

    def run(self, workflow: Workflow, name: str, **names: Any) -> Job:
        """Runs one job. `names` are values for its expressions, with `__` for a dot: `inputs__stack`.

        Raises:
            StepFailed: at the first step that ends with an error, after those that run then all the same.
        """
        definition = workflow.jobs[name]
        given = {key.replace("__", "."): each for key, each in names.items()}
        folder = self.folder / f"{workflow.name}-{name}-{len(list(self.folder.iterdir()))}"
        job = Job({"github.ref": "refs/heads/main", "runner.temp": str(folder), **given}, {}, folder)
        self._prepare(job)
        if environment := definition.get("environment"):
            known = self.variables[filled(environment, job.names)]
            job.names |= {f"vars.{key}": each for key, each in known.items()}
        job.environment |= {key: filled(str(each), job.names) for key, each in definition.get("env", {}).items()}
        try:
            self._steps(job, definition["steps"])
        finally:
            for group in job.groups:
                with suppress(ProcessLookupError):
                    os.killpg(group, signal.SIGKILL)
        outputs: Mapping[str, str] = definition.get("outputs", {})
        job.names |= {f"needs.{name}.outputs.{key}": filled(each, job.names) for key, each in outputs.items()}
        return job

    def script(self, text: str) -> str:
        """The script of a step, as it is run here: on the commands of the test's own environment."""
        return text.replace(".venv/bin/", "")

    def _prepare(self, job: Job) -> None:
        workspace, commands = job.folder / "workspace", job.folder / "bin"
        for folder in (workspace, commands):
            folder.mkdir(parents=True)
        (workspace / ".github").symlink_to(GITHUB)
        for command in ("pulumi", "physai"):
            words = [sys.executable, "-m", "tests.simulator.pipeline_commands", command]
            _script(commands / command, f'PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.join(words)} "$@"')
        installs = '[ "$1 $2" != ".github/scripts/pulumi_programs.py install" ] || { echo "$RUNNER_TEMP/bin"; exit; }'
        python = f'PYTHONPATH={shlex.quote(str(ROOT))} exec {shlex.quote(sys.executable)} "$@"'
        _script(commands / "python", f"{installs}\n{python}")
        for name in ("kubelogin", "helm"):
            _script(commands / name, "exit 0")
        _script(commands / "make", 'test "$1" = .venv/.ready')
        inherited = {key: each for key, each in os.environ.items() if not key.startswith(("ARM_", "AZURE_", "PULUMI_"))}
        job.environment |= {
            **inherited,
            "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(job.folder),
            "PULUMI_HOME": str(job.folder / "pulumi"),
            "GITHUB_STEP_SUMMARY": str(job.file("summary")),
            "ACTIONS_ID_TOKEN_REQUEST_URL": self.github,
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "job",
        }

    def _steps(self, job: Job, steps: list[dict[str, Any]]) -> None:
        failed: StepFailed | None = None
        for step in steps:
            state = {
                "always()": True,
                "failure()": failed is not None,
                "cancelled()": False,
                "hashFiles": lambda path: "hash" if (job.workspace / path).exists() else "",
            }
            condition = step.get("if")
            if failed is not None and "()" not in str(condition):
                continue
            if condition is not None and not value(str(condition), job.names | state):
                continue
            outcome = "success"
            try:
                self._step(job, step)
            except StepFailed as problem:
                outcome = "failure"
                failed = failed or (None if step.get("continue-on-error") else problem)
            if "id" in step:
                job.names[f"steps.{step['id']}.outcome"] = outcome
        if failed is not None:
            raise failed

    def _step(self, job: Job, step: Mapping[str, Any]) -> None:
        action = str(step.get("uses", "")).partition("@")[0]
        if not action:
            self._shell(job, step)
        elif action.startswith(LOCAL):
            path = GITHUB / "actions" / action.removeprefix(LOCAL) / "action.yaml"
            definition: dict[str, Any] = yaml.safe_load(path.read_text())
            defaults = {key: each.get("default", "") for key, each in definition["inputs"].items()}
            inputs = {**defaults, **{key: filled(str(each), job.names) for key, each in step.get("with", {}).items()}}
            outer = dict(job.names)
            job.names |= {f"inputs.{key}": each for key, each in inputs.items()}
            self._steps(job, definition["runs"]["steps"])
            job.names = outer
        else:
            self.given(job, action, step.get("with", {}))

    def given(self, job: Job, action: str, inputs: Mapping[str, Any]) -> None:
        """An action of others. Its inputs are as the workflow has them, with their expressions."""
        assert action in GIVEN, f"the action {action} is not known here"

    def _shell(self, job: Job, step: Mapping[str, Any]) -> None:
        """Runs the step's script in bash, as GitHub does: with `pipefail` only where the step names its shell."""
        title = step.get("name") or step.get("id") or step["run"]
        for words in split(_ARRAY.sub("", step["run"])):
            assert words[0] in FIRST_WORDS, f"step '{title}': the command {words[0]} is not known here"
        script = self.script(step["run"])
        files = {name: job.file(f"{name}-{len(job.groups)}") for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH")}
        own = {key: filled(str(each), job.names) for key, each in step.get("env", {}).items()}
        environment = {**job.environment, **own, **{name: str(path) for name, path in files.items()}}
        options = ["--noprofile", "--norc", "-eo", "pipefail"] if "shell" in step else ["-e"]
        log = job.file("log")
        with (
            log.open("w") as out,
            subprocess.Popen(
                ["bash", *options, "-c", filled(script, job.names)],
                cwd=job.workspace,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as process,
        ):
            job.groups.append(process.pid)
        job.printed.append(log.read_text())
        job.environment |= _assignments(files["GITHUB_ENV"])
        added = files["GITHUB_PATH"].read_text().splitlines()
        job.environment["PATH"] = os.pathsep.join((*reversed(added), job.environment["PATH"]))
        if "id" in step:
            job.names |= {
                f"steps.{step['id']}.outputs.{key}": each for key, each in _assignments(files["GITHUB_OUTPUT"]).items()
            }
        if process.returncode:
            raise StepFailed(f"step '{title}' ended with {process.returncode}\n{job.printed[-1]}")


def stacks_of(plan: Job, environment: str) -> list[str]:
    """The stacks that the job `plan` found for an environment."""
    return json.loads(plan.names[f"needs.plan.outputs.{environment}"])


def _script(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)


def _assignments(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines())
