"""A first contact that is killed in the simulator, at a stage that deploys and at one that runs a workflow."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simulator.home import Home
from simulator.simulation import Simulation
from tests.simulator.physai import COMMAND, killed_at, physai
from tests.support.waiting import until
from workbench.cli.first_contact import Folder
from workbench.first_contact.stages import Subject, left_out, stages

STACK = "quickstart-westus2"
FIRST = ("first", STACK, "--simulated", "--yes")
SECONDS = 900


def entries() -> dict[str, Any]:
    file = Folder.of(STACK, simulated=True).state
    return json.loads(file.read_text())["entries"] if file.exists() else {}


def gpu_nodes() -> int:
    """Nodes of all pools that begin without any."""
    found = Simulation(STACK).cloud_resources().values()
    pools = [each["outputs"] for each in found if each["type"].endswith(":AgentPool")]
    return sum(int(each.get("count") or 0) for each in pools if each["name"].endswith("gpu"))


def killed_alone(stage: str, sign: Callable[[], object], said: Path) -> None:
    """Runs the command, and kills it alone as soon as the stage shows a sign. The stage's own command goes on."""
    with (
        said.open("w") as output,
        subprocess.Popen([*COMMAND, *FIRST], stdout=output, stderr=output, start_new_session=True) as process,
    ):
        ready = lambda: process.poll() is not None or (stage in entries() and sign())  # noqa: E731 - a condition
        until(ready, f"{stage} shows no sign", state=entries, seconds=SECONDS)
        assert process.poll() is None, f"ended before {stage}: {said.read_text()[-3000:]}"
        process.kill()


@pytest.mark.deep
@pytest.mark.usefixtures("saved_at_each_step")
def test_it_is_killed_at_two_stages_and_goes_on_to_the_record(home: Home, tmp_path: Path) -> None:
    killed_at("created AgentPool", *FIRST)
    before = entries()
    assert before["cluster"]["state"] == "running"
    killed_alone("nodes", gpu_nodes, tmp_path / "said.txt")
    between = entries()
    assert between["cluster"]["state"] == "passed"
    assert between["nodes"]["state"] == "running"
    assert between["preview"] == before["preview"]
    physai(*FIRST)
    rehearsed = Subject(STACK, True, "", "", ("h100", "rtxpro"))
    left = {each.name for each in stages() if left_out(each, rehearsed)}
    after = entries()
    assert {name: each["state"] for name, each in after.items()} == {
        each.name: "left-out" if each.name in left else "passed" for each in stages()
    }
    assert {name: after[name] for name in ("preview", "cluster", "access")} == {
        name: between[name] for name in ("preview", "cluster", "access")
    }
    folder = Folder.of(STACK, simulated=True)
    assert len(list(folder.path.glob("*-cluster-*.txt"))) == 2
    recording = folder.path / f"{STACK}.physai.gz"
    assert physai("gates", STACK, "--from", str(recording), "--json").json["open"] is True
    physai("down", STACK)
