"""Every step of every workflow, in its order, in a fresh clone: what git does not have, a step has to make."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from docs.generator.commands import commands
from tests.simulator.pipeline import Job
from tests.support.clone_runner import CloneRunner, bytecode, commands_of, origin
from tests.support.github_assertions import SUBJECT, Service, serving
from tests.support.workflow_files import workflows
from workbench.cli.pull_request.comment import MARKER

pytestmark = pytest.mark.xdist_group("workflows from a clone")

WORKFLOWS = {workflow.name: workflow for workflow in workflows()}
STACK = "dev-westus2"
IDENTITY = {
    "AZURE_CLIENT_ID": "client",
    "AZURE_TENANT_ID": "tenant",
    "AZURE_SUBSCRIPTION_ID": "subscription",
    "AZURE_SUBJECT": SUBJECT,
    "PULUMI_STATE": "azblob://state-dev?storage_account=stphysicalaidev",
}
INPUTS = {"inputs__stack": STACK, "inputs__environment": "dev", "inputs__gates": ""}
UP = {**INPUTS, "needs__preview__outputs__removals": "[]"}
MATRIX = {"matrix__stack__name": STACK, "matrix__stack__environment": "dev"}
CALLS = {(name, environment) for name in ("deploy", "team-deploy") for environment in ("dev", "staging", "prod")}
"""Jobs without steps: they call deploy-stack, or its counterpart for teams."""
OF_TEAMS = {("team-pull-request", "checks"), ("team-pull-request", "preview")}
"""Jobs that run in a team's repository, whose commands `tests/simulator/test_team_repository.py` types."""
OF_RELEASES = {("release", job) for job in ("build", "attest", "publish", "notes")}
"""Jobs of a tag, which `test_release_workflow.py` runs."""
JOBS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "deploy plan": ("deploy", "plan", {}),
    "deploy reviewed": ("deploy", "reviewed", {"github__token": "t"}),
    "preview": ("deploy-stack", "preview", {**INPUTS, "inputs__add-runner-address": "false"}),
    "preview of a hosted runner": ("deploy-stack", "preview", {**INPUTS, "inputs__add-runner-address": "true"}),
    "up": ("deploy-stack", "up", {**UP, "inputs__add-runner-address": "false"}),
    "up of a hosted runner": ("deploy-stack", "up", {**UP, "inputs__add-runner-address": "true"}),
    "destroy": ("destroy", "destroy", {"inputs__stack": STACK, "inputs__confirm": STACK}),
    "drift plan": ("drift", "plan", {}),
    "drift look": ("drift", "look", MATRIX),
    "drift issue": ("drift", "issue", {"needs__look__result": "success"}),
    "deploy plan of a team": ("team-deploy", "plan", {}),
    "deploy reviewed of a team": ("team-deploy", "reviewed", {"github__token": "t"}),
    "preview of a team": ("team-deploy-stack", "preview", {**INPUTS, "inputs__add-runner-address": "false"}),
    "up of a team": ("team-deploy-stack", "up", {**UP, "inputs__add-runner-address": "true"}),
    "drift plan of a team": ("team-drift", "plan", {}),
    "drift look of a team": ("team-drift", "look", MATRIX),
    "drift issue of a team": ("team-drift", "issue", {"needs__look__result": "success"}),
    "main": ("main", "test", {}),
    "weekly": ("weekly", "deep", {}),
    "pull request checks": ("pull-request", "checks", {}),
}
COMMANDS: dict[tuple[str, ...], Any] = {words[1:]: command for words, command in commands()}
COMMENT = {"github__event__workflow_run__id": "1", "github__token": "t"}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return origin(tmp_path_factory.mktemp("origin") / "repository")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bytecode(tmp_path_factory.mktemp("bytecode"))


@pytest.fixture
def runner(repository: Path, compiled: Path, tmp_path: Path) -> Iterator[CloneRunner]:
    for name in ("jobs", "artifacts"):
        (tmp_path / name).mkdir()
    with serving(Service()) as github:
        known = {"dev": IDENTITY, "dev-preview": IDENTITY}
        yield CloneRunner(tmp_path / "jobs", known, github.address, repository, tmp_path / "artifacts", compiled)


def run(runner: CloneRunner, workflow: str, job: str, **names: Any) -> Job:
    return runner.run(WORKFLOWS[workflow], job, **names)


def test_every_job_is_here() -> None:
    here = {(workflow, job) for workflow, job, _ in JOBS.values()} | CALLS | OF_TEAMS | OF_RELEASES
    every = {(workflow.name, job) for workflow in WORKFLOWS.values() for job in workflow.jobs}
    assert every == here | {("pull-request", "preview"), ("pull-request-comment", "comment")}


RARE = (
    "deploy plan",
    "preview",
    "preview of a hosted runner",
    "up of a hosted runner",
    "drift plan",
    "drift look",
    *(name for name in JOBS if name.endswith("of a team")),
)
"""Left out of `make test`: each is almost another one. In `make test`: the preview of a pull request, below; the lists
of stacks in test_workflow_scripts.py; and the jobs of teams, whose set-up is generated and one for all, as files in
test_team_workflows.py."""


@pytest.mark.parametrize(
    ("workflow", "job", "names"),
    [pytest.param(*each, id=name, marks=pytest.mark.deep if name in RARE else ()) for name, each in JOBS.items()],
)
def test_each_step_of_a_job_runs(runner: CloneRunner, workflow: str, job: str, names: dict[str, Any]) -> None:
    ran = run(runner, workflow, job, **names)
    assert "Traceback" not in "".join(ran.printed)
    for words in commands_of(ran):
        parse(words)


def parse(words: list[str]) -> None:
    """Raises click's error for a command of `physai` that does not exist with these options and arguments."""
    for length in (2, 1):
        if (command := COMMANDS.get(tuple(words[:length]))) is not None:
            command.make_context(words[length - 1], words[length:])
            return
    raise AssertionError(f"no command {words}")


def test_a_pull_request_that_changes_a_stack_gets_its_comment(runner: CloneRunner, repository: Path) -> None:
    shared = {"github": runner.github, "repository": repository, "artifacts": runner.artifacts}
    shared["bytecode"] = runner.bytecode
    changed = CloneRunner(runner.folder, {}, **shared, branch="change")
    preview = run(changed, "pull-request", "preview", github__base_ref="main")
    assert MARKER in preview.summary
    assert STACK in preview.summary
    comment = run(runner, "pull-request-comment", "comment", **COMMENT)
    assert (comment.folder / "preview" / "comment.md").read_text() == preview.summary
    assert comment.names["steps.fetch.outcome"] == "success"


def test_a_pull_request_without_an_artifact_gets_no_comment(runner: CloneRunner) -> None:
    comment = run(runner, "pull-request-comment", "comment", **COMMENT)
    assert comment.names["steps.fetch.outcome"] == "failure"
