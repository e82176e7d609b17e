"""The README's short way: few commands, each of which exists. A deep test of the simulator types them."""

from __future__ import annotations

import subprocess

from tests.support.documentation import ROOT
from tests.support.quickstart import block, section, typed
from tests.support.shell_blocks import split
from workbench.cli.main import run

STACK = "quickstart-westus2"
MOST = 15


def test_a_finished_workflow_is_fifteen_commands_away() -> None:
    commands = typed()
    assert len(commands) <= MOST, commands
    assert commands[0].startswith("git clone ")
    assert commands[-1].startswith("osmo workflow query ")


def test_they_are_about_the_one_stack_and_need_no_placeholder_to_be_filled_in() -> None:
    named = {word for words in split(block()) for word in words if "westus2" in word}
    assert named == {STACK}
    assert "yaml" not in block().replace("cuda-smoke.yaml", "")


def test_the_page_says_what_was_not_run_and_what_the_stack_must_not_be() -> None:
    text = " ".join(section().split())
    assert "they have never been run on Azure" in text
    assert "**This is no stack for production**" in text


def test_the_workflow_fits_the_stack() -> None:
    (submit,) = (words for words in split(block()) if words[:3] == ("osmo", "workflow", "submit"))
    assert run(["lint", submit[3], *submit[6:], "--stack", STACK]) == 0


def test_the_tools_come_from_verified_archives() -> None:
    (words,) = (words for words in split(block()) if words[0] == "make")
    shown = subprocess.run(
        ["make", "--no-print-directory", "-n", words[1], "READY="], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for part in ("pulumi_programs.py record", "pulumi_programs.py install", "physai tools --delivery"):
        assert part in shown.stdout
