"""`physai pr-preview` on a repository of two commits, in which the code of each side answers as a simulation would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.home import HOME_VARIABLE
from tests.golden.regenerate import PREVIEWS
from tests.unit.cli.test_cli_commands import call
from tests.unit.cli.test_cli_picture import pool
from tests.unit.cli.test_pull_request_trees import Checkout
from workbench.cli.pull_request.comment import MARKER

STATUS = {"stack": "dev-westus2", "cluster": "aks-x", "pools": [pool()], "releases": []}
PROGRAM = f"""
import sys
ANSWERS = {{"up": {json.dumps(STATUS)!r}, "preview": {(PREVIEWS / "replacement.json").read_text()!r}}}
sys.exit(f"{{sys.argv[2]}} is no stack's name") if "-" not in sys.argv[2] else print(ANSWERS[sys.argv[1]])
"""
STACK = "stacks/Pulumi.dev-westus2.yaml"


class Repository(Checkout):
    """With a program that answers, and a branch that changes a stack."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.git("checkout", "--quiet", "main")
        for package in ("workbench", "workbench/cli"):
            (folder / package).mkdir()
            self.commit(f"{package}/__init__.py", "")
        (folder / "stacks").mkdir()
        self.commit("workbench/cli/__main__.py", PROGRAM)
        self.commit(STACK, "config: {}\n")
        self.git("checkout", "--quiet", "-B", "change")
        self.commit(STACK, "config: {physical-ai:protect: true}\n")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "repository")
    monkeypatch.setattr("physical_ai.repository.PROJECT", made.folder)
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return made


def test_the_folder_of_the_comment_is_made_before_pictures_are_drawn_into_it(
    repository: Repository, tmp_path: Path
) -> None:
    comment = tmp_path / "new" / "folder" / "comment.md"
    code, _, err = call("pr-preview", "--base", "main", "--head", "change", "-o", str(comment))
    assert code == 0, err
    assert comment.read_text().startswith(MARKER)
    assert (comment.parent / "dev-westus2.svg").read_text().startswith("<svg")
    assert "preview/" not in repository.git("status", "--porcelain")


@pytest.mark.parametrize("name", ["Pulumi.x.yaml", "Pulumi.[red]x.yaml", "Pulumi.[/x].yaml", "Pulumi.\x1b[31m.yaml"])
def test_a_file_that_is_no_stacks_fails_alone(repository: Repository, tmp_path: Path, name: str) -> None:
    file = repository.folder / "stacks" / name
    file.parent.mkdir(exist_ok=True)
    repository.commit(f"stacks/{name}", "config: {}\n")
    code, out, err = call("pr-preview", "--base", "main", "--head", "change")
    assert "### `dev-westus2`" in out
    assert "Traceback" not in err
    assert "\x1b" not in out
    is_stack = "/" not in name  # with a slash it is a folder
    assert code == is_stack, err
    assert ("is no stack's name" in out) is is_stack
