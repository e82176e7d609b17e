"""The table of docs/health-modes.md is what the modes do."""

from __future__ import annotations

from simulator.faults.catalogue import faults
from tests.golden.regenerate import COMMAND
from tests.support.health_table import table, written


def test_the_page_says_what_each_mode_does_about_each_fault() -> None:
    assert written() == table(), f"if that is meant: {COMMAND}"


def test_no_mode_ends_work_because_of_a_fault() -> None:
    rows = table().splitlines()[2:]
    assert len(rows) == len(faults())
    assert all(row.endswith("| keeps its Pods |") for row in rows)


def test_faults_of_the_node_take_it_out_of_service_and_those_of_a_job_do_not() -> None:
    rows = {row.split("`")[1]: row for row in table().splitlines()[2:]}
    assert "cordoned" in rows["xid-79"]
    assert "draining; drain-succeeded once" in rows["xid-79"]
    assert "cordoned" not in rows["xid-13"]
    assert "cordoned" not in rows["licence-lost"]
