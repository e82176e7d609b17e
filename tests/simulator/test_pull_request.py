"""A change on its way into the base: every stack it affects simulated and previewed, and nothing left of it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from physical_ai.repository import ROOT
from simulator.home import Home
from tests.simulator.physai import physai
from workbench.cli.pull_request.revisions import Repository

CHANGED, NEW = "dev-westus2", "dev-swedencentral"
SMALL = "  physical-ai:osmo: {mode: namespaces}\n"
"""Without OSMO's charts, which take time and do not change."""
OLD_SIZE, NEW_SIZE = "Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"


def git(*arguments: str, **environment: str) -> str:
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false")
    ran = subprocess.run(
        ["git", *identity, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.strip()


def committed(folder: Path, index: Path, *parents: str) -> str:
    """A commit of a folder's files that no branch knows of."""
    git("--work-tree", str(folder), "add", "--all", "--force", GIT_INDEX_FILE=str(index))
    tree = git("write-tree", GIT_INDEX_FILE=str(index))
    return git("commit-tree", tree, "-m", "x", *(part for parent in parents for part in ("-p", parent)))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """The checkout's files in a folder of their own."""
    repository = Repository(ROOT)
    repository.export(repository.head(None)[1], tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def scratch(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where temporary folders are made. When the test has ended nothing is left there, or in the home, or runs."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    before = git("status", "--porcelain")
    yield folder
    assert list(folder.iterdir()) == []
    assert not list(home.folder.glob("simulations/*"))
    assert git("status", "--porcelain") == before
    folders = [str(process.info["cwd"]) for process in psutil.process_iter(["cwd"])]  # None where it is not ours
    assert not [each for each in folders if each.startswith(str(folder))]


def add_a_stack_with_a_mistake(files: Path) -> None:
    wrong = "config: {physical-ai:pools: {h100gpu: {sku: Standard_NC40ads_H100_v6}}}\n"
    (files / "stacks" / f"Pulumi.{NEW}.yaml").write_text(wrong)


@pytest.mark.deep  # in `make test`: a clone's in test_workflows_from_a_clone.py, words in test_pull_request_comment.py
def test_a_mistake_in_a_new_stack_is_in_the_comment_and_nothing_is_left(
    files: Path, scratch: Path, tmp_path: Path
) -> None:
    base = committed(files, tmp_path / "index")
    add_a_stack_with_a_mistake(files)
    head = committed(files, tmp_path / "index", base)
    shown = physai("pr-preview", "--base", base, "--head", head, expect=1).out
    assert "1 stack affected" in shown
    assert f"`{NEW}` | **the preview of the head failed**" in shown
    assert f"stacks/Pulumi.{NEW}.yaml" in shown
    assert "Standard_NC40ads_H100_v6" in shown
    assert str(scratch) not in shown


@pytest.mark.deep
def test_a_change_is_previewed_against_the_simulated_base_and_reported_in_one_comment(
    files: Path, scratch: Path, tmp_path: Path
) -> None:
    """In `make test`: the command on answers of both sides in tests/unit/cli/test_pr_preview_command.py, the preview of
    a pool that is replaced in test_stack.py."""
    stack = files / "stacks" / f"Pulumi.{CHANGED}.yaml"
    stack.write_text(f"{stack.read_text().rstrip()}\n{SMALL}")
    base = committed(files, tmp_path / "index")
    stack.write_text(stack.read_text().replace("h100gpu:\n", f"h100gpu:\n      sku: {NEW_SIZE}\n"))
    add_a_stack_with_a_mistake(files)
    head = committed(files, tmp_path / "index", base)

    output = tmp_path / "preview" / "comment.md"  # in a folder that is not there, as in a fresh checkout
    answer = physai("pr-preview", "--base", base, "--head", head, "--output", str(output), expect=1)

    assert answer.out == ""
    shown = output.read_text()
    assert output.with_name(f"{CHANGED}.svg").exists()
    replaced = next(line for line in shown.splitlines() if line.startswith("| **replace** |"))
    assert "AgentPool `physical-ai-h100gpu-nodes`" in replaced
    assert f"`{OLD_SIZE}` → `{NEW_SIZE}` (replaces)" in replaced
    assert "1 node lost" in replaced
    assert "to create" not in shown, "the head did not find what the base had deployed"
    assert "2 stacks affected" in shown
    assert f"`{NEW}` | **the preview of the head failed**" in shown
    assert f"stacks/Pulumi.{NEW}.yaml" in shown
    assert "Standard_NC40ads_H100_v6" in shown
    assert str(scratch) not in shown
