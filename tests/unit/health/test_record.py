"""The record of acceptance: what one run writes, the next and its readers read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from workbench.health.acceptance.record import (
    CheckResult,
    NodeResult,
    Unreadable,
    Verdict,
    condition,
    config_map,
    read,
)

RESULT = NodeResult(
    node="aks-h100gpu-1-vmss000000",
    node_uid="uid-1",
    boot_id="boot-1",
    pool="h100gpu",
    sku="Standard_NC40ads_H100_v5",
    level="full",
    time=datetime(2026, 11, 23, 8, 0, tzinfo=UTC),
    checks=[CheckResult("bandwidth", "passed", "54.2 GB/s", {"h2d_gb_s": 54.2})],
    baseline={"bandwidth": {"h2d_gb_s": 54.2}},
)


def test_what_is_written_is_read() -> None:
    assert read(config_map(RESULT)) == RESULT


@pytest.mark.parametrize("data", [{}, {"result.json": "{"}, {"result.json": '{"node": "x"}'}])
def test_another_config_map_is_no_record(data: dict[str, str]) -> None:
    with pytest.raises(Unreadable, match="acceptance-n"):
        read({"metadata": {"name": "acceptance-n"}, "data": data})


@pytest.mark.parametrize(
    ("verdicts", "passed"),
    [
        ([], False),
        (["skipped"], False),
        (["passed"], True),
        (["passed", "skipped"], True),
        (["passed", "no-verdict"], False),
        (["passed", "failed"], False),
    ],
)
def test_only_passed_checks_make_a_node_pass(verdicts: list[Verdict], passed: bool) -> None:
    result = replace(RESULT, checks=[CheckResult(f"c{i}", each, "") for i, each in enumerate(verdicts)])
    assert result.passed is passed
    assert condition(result)["status"] == str(passed)
