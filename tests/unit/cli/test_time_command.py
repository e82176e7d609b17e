"""`physai time`: the time to the first GPU of a stack, with the minutes of a recording, and its budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.recorded_cluster import AT, STACK
from tests.unit.cli.test_cli_commands import call
from tests.unit.recordings.test_node_durations import recording
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.writing import write


def file_of(folder: Path, *, simulated: bool) -> Path:
    lists = recording().lists
    entries: list[Entry] = [
        head(STACK, AT, "t", simulated=simulated),
        *({"kind": "list", "path": path, "items": list(items)} for path, items in lists.items()),
    ]
    write(made(entries), folder / "it.gz")
    return folder / "it.gz"


def steps(out: str) -> dict[str, Any]:
    pools = {each["pool"]: each for each in json.loads(out)["firstGpu"]["pools"]}
    return {each["step"]: each for each in pools["h100gpu"]["node"]["steps"]}


def test_a_recording_of_the_stack_gives_its_minutes(tmp_path: Path) -> None:
    code, out, _ = call("time", STACK, "--from", str(file_of(tmp_path, simulated=False)), "--json")
    assert code == 0
    found = steps(out)
    assert (found["driver"]["known"], found["driver"]["minutes"]) == ("measured", [4.5, 4.5])
    assert found["driver"]["source"].startswith("it.gz, ")


def test_a_recording_of_a_simulated_cluster_does_not_count(tmp_path: Path) -> None:
    code, out, err = call("time", STACK, "--from", str(file_of(tmp_path, simulated=True)), "--json")
    assert code == 0
    assert "do not count here" in err
    assert {each["known"] for each in steps(out).values()} == {"published", "estimate"}


def test_another_file_and_another_pool_are_refused(tmp_path: Path) -> None:
    (tmp_path / "no.gz").write_text("no recording")
    assert call("time", STACK, "--from", str(tmp_path / "no.gz"))[0] == 2
    code, _, err = call("time", STACK, "--pool", "none")
    assert code == 2
    assert "it has h100gpu, rtxprogpu" in err


BUDGETS = [
    pytest.param(30, 0, "ok: ", marks=pytest.mark.deep),
    pytest.param(20, 0, "warning: ", marks=pytest.mark.deep),
    (2, 3, "error: "),
]
"""In `make test`: the one that fails a pipeline."""


@pytest.mark.parametrize(("minutes", "code", "said"), BUDGETS)
def test_a_budget_that_even_the_fast_case_exceeds_ends_in_code_3(minutes: int, code: int, said: str) -> None:
    found = call("time", STACK, "--pool", "h100gpu", "--set", f"timeToFirstGpu.nodeMinutes={minutes}")
    assert found[0] == code
    assert f"{said}One more node: 6 to 30 minutes" in found[1]


def test_a_shipped_stack_is_checked_against_the_budget_of_its_environment() -> None:
    code, out, _ = call("check", STACK, "--offline", "--json", "--set", "health.admit=accepted")
    rows = [each for each in json.loads(out)["findings"] if each["topic"] == "time-to-first-gpu"]
    assert code in (0, 3)
    assert [each["status"] for each in rows] == ["warning", "warning"]
    assert "budget 31" in rows[1]["message"]
