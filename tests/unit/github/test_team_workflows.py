"""The workflows that a team's repository calls: generated, with the steps of ours, and without our checkout's files."""

from __future__ import annotations

import re
from typing import Any

import pytest

from docs.generator.team_workflows import NAMES, PAGES, document, file
from physical_ai.repository import SCRIPTS
from tests.support.workflow_files import GITHUB, Workflow
from workbench.cli.new_project.files import CALLED

each_name = pytest.mark.parametrize("name", NAMES)


def ours(name: str) -> Workflow:
    return Workflow(GITHUB / "workflows" / f"{name}.yaml")


def scripts(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job.get("steps", []) if "run" in step]


@each_name
def test_each_is_the_generated_one(name: str) -> None:
    assert file(name).read_text() == document(name)
    assert set(PAGES) == {file(each) for each in NAMES}


@each_name
def test_its_jobs_are_ours_with_the_same_conditions_rights_and_environments(name: str) -> None:
    team = Workflow(file(name)).jobs
    assert list(team) == list(ours(name).jobs)
    for job, own in ours(name).jobs.items():
        for key in ("if", "needs", "permissions", "environment", "runs-on", "strategy", "with", "env", "outputs"):
            assert team[job].get(key) == own.get(key), f"{job}: {key}"
        uses = own.get("uses", "").replace("/deploy-stack.yaml", "/team-deploy-stack.yaml")
        assert team[job].get("uses", "") == uses


@each_name
def test_each_step_of_ours_is_in_it_in_the_same_order(name: str) -> None:
    team = Workflow(file(name)).jobs
    for job, own in ours(name).jobs.items():
        wanted = [re.sub(r"\.github/scripts/(\w+\.py)", r'"$SCRIPTS/\1"', each) for each in scripts(own)]
        found = iter(scripts(team[job]))
        assert all(each in found for each in wanted), job


@each_name
def test_it_reads_nothing_of_our_checkout_and_only_scripts_that_are_installed(name: str) -> None:
    text = file(name).read_text()
    assert re.findall(r"\./\.github/(?!workflows/team-)\S+", text) == []
    assert ".github/scripts" not in text
    assert "inputs.client-id" not in text
    named = set(re.findall(r'"\$SCRIPTS/(\w+\.py)"', text))
    assert named
    assert all((SCRIPTS / each).is_file() for each in named)
    for job in Workflow(file(name)).jobs.values():
        whole = "\n".join(scripts(job))
        assert "$SCRIPTS/" not in whole or whole.index("SCRIPTS=$scripts") < whole.index('"$SCRIPTS/')


@pytest.mark.parametrize("name", ["deploy", "drift"])
def test_the_caller_has_the_group_of_runs_and_the_called_one_has_none(name: str) -> None:
    """A called workflow in the group of its caller would wait for the caller, which waits for it."""
    assert "concurrency" not in Workflow(file(name)).document
    _, caller = CALLED[f"{name}.yaml"]
    assert caller["concurrency"] == ours(name).document["concurrency"]
    (job,) = caller["jobs"].values()
    assert job["uses"] == f"team-{name}.yaml"


def test_what_a_team_can_choose_on_request_is_what_ours_can() -> None:
    own = ours("deploy").document["on"]["workflow_dispatch"]["inputs"]["gates"]
    given = CALLED["deploy.yaml"][1]["on"]["workflow_dispatch"]["inputs"]["gates"]
    assert given == own
    called = Workflow(file("deploy")).document["on"]["workflow_call"]["inputs"]
    assert set(called) == set(CALLED["deploy.yaml"][1]["jobs"]["deploy"]["with"])
