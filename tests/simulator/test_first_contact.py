"""The stages of a first contact in the simulator, with its own commands as processes."""

from __future__ import annotations

import json

import pytest

from simulator.home import Home
from tests.simulator.physai import physai
from workbench.cli.first_contact import Folder
from workbench.first_contact.stages import Subject, left_out, stages

STACK = "quickstart-westus2"


@pytest.mark.deep
def test_it_is_stopped_at_the_cluster_and_goes_on_to_the_record(home: Home) -> None:
    """From a simulator that has run nothing. `tests/unit/cli/test_cli_first.py` stops at each stage."""
    physai("first", STACK, "--simulated", "--yes", "--until", "cluster")
    assert physai("status", STACK, "--json").pool("rtxprogpu")["nodes"] == 0
    said = physai("first", STACK, "--simulated", "--yes")
    folder = Folder.of(STACK, simulated=True)
    entries = json.loads(folder.state.read_text())["entries"]
    rehearsed = Subject(STACK, True, "", "", ("h100", "rtxpro"))
    left = {each.name for each in stages() if left_out(each, rehearsed)}
    assert {name: each["state"] for name, each in entries.items()} == {
        each.name: "left-out" if each.name in left else "passed" for each in stages()
    }
    assert said.out.count("COMPLETED") >= 3  # a task on each platform with GPUs, and one with an output
    assert "2 nodes passed" in said.out
    recording = folder.path / f"{STACK}.physai.gz"
    assert physai("gates", STACK, "--from", str(recording), "--json").json["open"] is True
    physai("down", STACK)
