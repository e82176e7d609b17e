"""A change on its way into the base: every stack it affects simulated and previewed, and nothing left of it."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import psutil
import pytest

from physical_ai.repository import ROOT
from simulator.home import Home
from tests.simulator.physai import physai
from workbench.cli.pull_request.trees import Repository

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


def test_a_change_is_previewed_against_the_simulated_base_and_reported_in_one_comment(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = tmp_path / "files"
    repository = Repository(ROOT)
    repository.export(repository.head(None)[1], files)
    stack = files / "stacks" / f"Pulumi.{CHANGED}.yaml"
    stack.write_text(f"{stack.read_text().rstrip()}\n{SMALL}")
    base = committed(files, tmp_path / "index")
    stack.write_text(stack.read_text().replace("h100gpu:\n", f"h100gpu:\n      sku: {NEW_SIZE}\n"))
    wrong = "config: {physical-ai:pools: {h100gpu: {sku: Standard_NC40ads_H100_v6}}}\n"
    (files / "stacks" / f"Pulumi.{NEW}.yaml").write_text(wrong)
    head = committed(files, tmp_path / "index", base)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    before = git("status", "--porcelain")

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

    assert list(scratch.iterdir()) == []
    assert not list(home.folder.glob("simulations/*"))
    assert git("status", "--porcelain") == before
    folders = [str(process.info["cwd"]) for process in psutil.process_iter(["cwd"])]  # None where it is not ours
    assert not [folder for folder in folders if folder.startswith(str(scratch))]
