"""`physai goodput`: what it prints, its JSON, and what it says of pools and options that it cannot use."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from physical_ai.settings import Overlay, load
from tests.unit.cli.test_cli_commands import call
from workbench.cli import goodput as sources
from workbench.goodput.model import Fleet
from workbench.goodput.pools import NotCounted, PoolLoad, pool_loads
from workbench.goodput.simulation import Year

USUAL = "{nodes: 16, busy: 1, taskHours: 72, taskGpus: 8, checkpointMinutes: 30}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found = tmp_path / "load.yaml"
    found.write_text(f"pools: {{h100gpu: {{priority: Regular, usualLoad: {USUAL}}}}}\n")
    return found


def documented(*arguments: str) -> dict[str, Any]:
    code, out, err = call("goodput", "dev-westus2", *arguments, "--json")
    assert code == 0, err
    return json.loads(out)


def test_the_document(file: Path) -> None:
    found = documented("-f", str(file))
    assert found["schemaVersion"] == 1
    (pool,) = found["pools"]
    assert (pool["name"], pool["nodes"], pool["gpusPerNode"], pool["jobs"], pool["spot"]) == (
        "h100gpu",
        16,
        1,
        2,
        False,
    )
    useful = pool["useful"]
    assert 0.5 < useful["low"] <= useful["value"] <= useful["high"] < 1
    total = useful["value"] + pool["notWanted"] + sum(each["share"]["value"] for each in pool["losses"])
    assert total == pytest.approx(1, abs=1e-3)
    shares = [each["share"]["value"] for each in pool["losses"]]
    assert shares == sorted(shares, reverse=True)
    assert pool["usdPerUsefulGpuHour"]["value"] > 6.98
    assert pool["checkpoint"]["minutes"] == 30
    assert pool["checkpoint"]["ifUnwritten"]["value"] < 0
    won = [each["gpuHoursPerMonth"]["value"] for each in pool["changes"]]
    assert won == sorted(won, reverse=True)
    assert {each["setting"].partition(":")[0] for each in pool["changes"]} >= {
        "pools.h100gpu.priority", "pools.h100gpu.scale", "health.acceptance.diagnoseIdle", "health.mode",
    }  # fmt: skip
    assert all(each["source"] and each["date"] for each in pool["rates"])
    assert [each["pool"] for each in found["notCounted"]] == ["rtxprogpu"]
    assert pool["simulated"] is None
    assert documented("-f", str(file)) == found


def test_spot_machines_are_worth_less_time_and_cost_less(file: Path) -> None:
    regular = documented("-f", str(file))["pools"][0]
    spot = documented("-f", str(file), "--set", "pools.h100gpu.priority=Spot")["pools"][0]
    assert spot["usefulOfWanted"]["value"] < regular["usefulOfWanted"]["value"]
    assert spot["usdPerUsefulGpuHour"]["value"] < regular["usdPerUsefulGpuHour"]["value"]
    assert spot["losses"][0]["cause"] in {"evictions", "capacity"}
    assert spot["checkpoint"]["bestMinutes"]["value"] < regular["checkpoint"]["bestMinutes"]["value"]
    (change,) = (each for each in spot["changes"] if each["change"] == "Regular machines")
    gained = (regular["useful"]["value"] - spot["useful"]["value"]) * 16 * 730
    assert change["gpuHoursPerMonth"]["value"] == pytest.approx(gained, rel=0.02)


def test_the_text(file: Path) -> None:
    code, out, err = call("goodput", "dev-westus2", "-f", str(file), "--rates")
    assert code == 0
    for text in (
        "dev-westus2 h100gpu: 16 nodes with 1 H100 NVL; 2 × 8 GPUs for 72 hours",
        "of the GPU time that work asks for",
        "if checkpoints are not written: -",
        "node-faults: 5 (2.34 to 6.5) per 1,000 days of a node with 8 GPUs",
        "arXiv:2410.21680",
        "without a source: ",
    ):
        assert text in out
    assert "rtxprogpu is not counted: pools.rtxprogpu.usualLoad is absent" in err


def test_a_stack_without_a_usual_load_says_what_to_write() -> None:
    code, out, err = call("goodput", "dev-westus2")
    assert (code, out) == (2, "")
    assert "pools.h100gpu.usualLoad is absent" in err
    assert "{nodes: 4, busy: 0.9, taskHours: 6, taskGpus: 2, checkpointMinutes: 30}" in err
    assert "stacks/Pulumi.dev-westus2.yaml" in err


@pytest.mark.parametrize(
    ("given", "note"),
    [
        ("taskHours: 6", "checkpointMinutes is absent: it is assumed that tasks write no checkpoint"),
        ("taskHours: 6, checkpointMinutes: 600", "no checkpoint is ever written; write a smaller number"),
        ("taskHours: 6, checkpointMinutes: 2", "writing a checkpoint can take as long (148.8 seconds)"),
    ],
)
def test_checkpoints_that_are_not_written_are_named(given: str, note: str) -> None:
    code, out, _ = call("goodput", "dev-westus2", "--set", f"pools.h100gpu.usualLoad={{nodes: 4, {given}}}")
    assert code == 0
    assert note in " ".join(out.split())


def test_a_load_that_does_not_fit_says_why() -> None:
    def found(text: str) -> list[PoolLoad] | list[NotCounted]:
        loaded = load("dev-westus2", [Overlay.assign([f"pools.h100gpu.usualLoad={text}"])])
        loads, without = pool_loads(loaded.settings)
        return loads or [each for each in without if each.pool == "h100gpu"]

    (problem,) = found("{nodes: 1, taskHours: 1, taskGpus: 2}")
    assert isinstance(problem, NotCounted)
    assert "taskGpus 2 is more than the busy GPUs of 1 nodes" in problem.problem
    (fits,) = found("{nodes: 2, taskHours: 1, taskGpus: 2}")
    assert isinstance(fits, PoolLoad)
    assert fits.jobs == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--assume", "restart=x"], "'x' is not a number"),
        (["--assume", "nothing=1"], "the names are acceptance, checkpoint-stall"),
        (["--days", "0"], "--days"),
    ],
)
def test_options_that_are_wrong(arguments: list[str], text: str, file: Path) -> None:
    code, _, err = call("goodput", "dev-westus2", "-f", str(file), *arguments)
    assert code == 2
    assert text in " ".join(err.split())


def test_a_simulation_is_beside_the_estimate_and_continued(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = tmp_path / "state.json"
    arguments = ("-f", str(file), "--simulate", "--days", "200", "--state", str(state))
    run = Year.run

    def interrupted(year: Year, events: int) -> bool:
        if year.now > 0:
            raise KeyboardInterrupt
        return run(year, 50)

    monkeypatch.setattr(Year, "run", interrupted)
    monkeypatch.setattr(sources, "KEPT_EVERY", 0.0)
    code, _, err = call("goodput", "dev-westus2", *arguments)
    assert code == 130
    assert "of 200 of h100gpu; the same command is continued from its last state" in " ".join(err.split())
    monkeypatch.setattr(Year, "run", run)
    assert 0 < StateOf(state).now < 200 * 24
    found = documented(*arguments)["pools"][0]
    whole = documented("-f", str(file), "--simulate", "--days", "200")["pools"][0]
    assert found["simulated"] == whole["simulated"]
    assert found["simulated"]["useful"]["value"] == pytest.approx(found["useful"]["value"], abs=0.05)
    assert call("goodput", "dev-westus2", *arguments, "--seed", "2")[0] == 2


class StateOf:
    """The kept simulation of the pool h100gpu."""

    def __init__(self, file: Path) -> None:
        given = json.loads(file.read_text())["pools"]["h100gpu"]
        self.now: float = given["now"]
        self.fleet = Fleet(**given["fleet"])
