"""`physai compat`: what it prints, and how it ends."""

from __future__ import annotations

import json

import pytest

from physical_ai.catalog import newest_release
from workbench.cli.main import run

OLD = ["--set", "gpuOperator.version=v25.3.4"]
AT = ["--at", "2026-11-20"]
NEWEST = newest_release().version


def test_a_good_stack_ends_with_zero_and_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compat", "dev-westus2", *AT]) == 0
    printed = capsys.readouterr().out
    assert f"GPU Operator {NEWEST} (supported), Kubernetes 1.36" in printed
    assert "h100gpu" in printed
    assert "2 GPU pools: 0 errors, 0 warnings, 1 info" in printed


def test_an_error_exits_with_three_and_names_setting_fix_and_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compat", "dev-westus2", *AT, *OLD]) == 3
    printed = capsys.readouterr().out
    assert "error operator-end-of-support: gpuOperator.version (h100gpu, rtxprogpu)" in printed
    assert f"Use {NEWEST}." in printed
    assert "life cycle policy" in printed


@pytest.mark.parametrize(("severity", "code"), [("error", 0), ("warning", 3), ("info", 3)])
def test_the_severity_decides_the_exit_code(severity: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    deprecated = ["--set", "gpuOperator.version=v26.3.3"]
    assert run(["compat", *AT, "--severity", severity, *deprecated]) == code
    assert "operator-deprecated" in capsys.readouterr().out


def test_the_document_has_stable_keys_and_nothing_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compat", "dev-westus2", *AT, "--json", "--from", "v26.3.3"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert sorted(document) == ["date", "kubernetes", "operator", "pools", "schemaVersion", "stack", "verdicts"]
    assert document["operator"] == {"version": NEWEST, "lifecycle": "supported", "since": "2026-08-20"}
    assert [pool["name"] for pool in document["pools"]] == ["h100gpu", "rtxprogpu"]
    keys = ["fix", "message", "path", "pools", "rule", "severity", "source", "subject"]
    assert all(sorted(row) == keys for row in document["verdicts"])
    assert "upgrade-changes" in {row["rule"] for row in document["verdicts"]}


def test_a_downgrade_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compat", *AT, "--from", "v26.7.0", "--set", "gpuOperator.version=v26.3.3"]) == 3
    assert "upgrade-downgrade" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("day", "code", "rule"), [("2026-08-01", 0, ""), ("2027-07-01", 3, "kubernetes-end-of-support")]
)
def test_support_is_judged_at_the_day_requested(
    day: str, code: int, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compat", "--at", day, "--severity", "warning"]) == code
    printed = capsys.readouterr().out
    assert f"on {day}" in printed
    assert rule in printed


@pytest.mark.parametrize("option", [("--at", "tomorrow"), ("--severity", "fatal"), ("--from", "newest")])
def test_an_option_that_makes_no_sense_is_a_wrong_input(option: tuple[str, str]) -> None:
    assert run(["compat", *option]) == 2


@pytest.mark.parametrize(
    ("running", "code", "expected"),
    [
        (NEWEST, 0, "0 errors"),
        ("v26.7.0", 0, "0 errors"),
        ("v26.3.3", 0, "upgrade-changes"),
        ("v25.10.1", 3, f"Upgrade to v26.3.3, then {NEWEST}."),
    ],
)
def test_an_upgrade_is_judged_from_what_runs(
    running: str, code: int, expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compat", *AT, "--from", running]) == code
    assert expected in capsys.readouterr().out


@pytest.mark.parametrize(("stack", "code", "severity"), [("dev-westus2", 0, "warning"), ("prod-westus2", 3, "error")])
def test_production_refuses_a_release_with_an_advisory(
    stack: str, code: int, severity: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compat", stack, *AT, "--set", "gpuOperator.version=v26.7.0"]) == code
    assert f"{severity} operator-advisory: gpuOperator.version" in capsys.readouterr().out


def test_a_stack_without_gpu_pools_is_judged_by_what_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    none = [part for pool in ("h100gpu", "rtxprogpu") for part in ("--set", f"pools.{pool}=null")]
    assert run(["compat", *AT, *OLD, *none]) == 3
    assert "operator-end-of-support: gpuOperator.version\n" in capsys.readouterr().out


def test_a_release_that_does_not_exist_is_a_wrong_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compat", "--from", "v26.7"]) == 2
    assert run(["compat", "--set", "gpuOperator.version=v26.7.9"]) == 2
    assert "Did you mean 'v26.7." in capsys.readouterr().err
