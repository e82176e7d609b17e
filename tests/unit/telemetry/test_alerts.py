"""promtool on the rules: they are valid, each fires and stays quiet when it should, a healthy cluster has no alert."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from physical_ai.settings import existing, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.parameters import Parameters, PoolFacts
from physical_ai.telemetry.rendering import rule_file, rule_groups
from physical_ai.telemetry.rule_rows import alert_rows
from tests.support.alert_cases import CASES, Case
from tests.support.alert_series import H100, MI300X, RTX, always, amd, busy, healthy, then
from tests.support.promtool import promtool
from tests.support.rule_tests import needed, promtool_file, read_by_tests

STACK = "dev-westus2"
BUSY = busy("DCGM_FI_PROF_GR_ENGINE_ACTIVE")


def with_everything(given: Parameters) -> Parameters:
    """No committed stack has a pool with InfiniBand or of AMD's GPUs, or by claims, or a health mode that acts."""
    pool = PoolFacts("ndgpu", {"nvidia.com/gpu": 1}, 1, 9, False, False, False, infiniband=True)
    amd = PoolFacts("mi300x", {"amd.com/gpu": 8}, 8, 9, False, False, False, amd=True)
    mig = PoolFacts("sliced", {"nvidia.com/gpu": 7}, 1, 9, False, False, False, instances=7)
    claimed = PoolFacts("claimed", {}, 2, 9, False, False, False, claims=True)
    return replace(given, pools=(*given.pools, replace(pool, nvlink=True), amd, mig, claimed), quarantines=True)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    file = tmp_path / "rules.yaml"
    # JSON is YAML, and written in a tenth of the time.
    groups = rule_groups(with_everything(rule_parameters(load(STACK).settings)))
    file.write_text(json.dumps({"groups": [{"name": name, "rules": rules} for name, rules in groups.items()]}))
    return file


@pytest.mark.parametrize("stack", existing())
def test_the_rules_of_every_stack_are_valid(stack: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(rule_file(rule_parameters(load(stack).settings)))
    answer = promtool("check", "rules", "--lint=all", "--lint-fatal", file)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_each_alert_fires(rules: Path) -> None:
    """The first case of each, since promtool makes a database for each."""
    first = {case.alert: case for case in reversed(CASES) if case.labels}
    run_cases(rules, tuple(first.values()))


@pytest.mark.deep  # in `make test`: a case of each above, a healthy cluster below
def test_each_alert_fires_and_stays_quiet(rules: Path) -> None:
    run_cases(rules, CASES)


def run_cases(rules: Path, cases: Sequence[Case]) -> None:
    """Each with the rules that it depends on: promtool evaluates all rules of a file for each minute of each test."""
    files, every = list[Path](), json.loads(rules.read_text())["groups"]
    for alert in alert_rows():
        own = rules.with_name(f"{alert}.yaml")
        own.write_text(json.dumps({"groups": needed(every, lambda rule, name=alert: rule.get("alert") == name)}))
        files.append(_written(own, [_alert_test(case) for case in cases if case.alert == alert]))
    answer = promtool("test", "rules", *files)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_every_alert_has_a_case_of_each_kind() -> None:
    assert {case.alert for case in CASES if case.labels} == set(alert_rows())
    assert {case.alert for case in CASES if not case.labels} == set(alert_rows())


def test_a_test_that_expects_the_wrong_label_fails(rules: Path) -> None:
    fires = next(case for case in CASES if case.labels.get("node") == H100)
    assert not passes(rules, [_alert_test(replace(fires, labels={"node": RTX}))])
    assert not passes(rules, [_alert_test(replace(fires, labels={}))])


def test_a_healthy_cluster_has_no_alert(rules: Path) -> None:
    """After the time in which the slowest alert of the cases fires."""
    slowest = max(case.minutes for case in CASES)
    check(rules, [_test("healthy", healthy(), [("count(ALERTS) or vector(0)", slowest, 0)])])


def test_gpus_are_counted_as_asked_held_busy_and_idle(rules: Path) -> None:
    series, waits = healthy(), 'namespace="osmo-workflows",pod="waits"'
    idle = {**series, BUSY: then(0.9, 60, 0)}
    waiting = {
        **series,
        f'kube_pod_status_phase{{{waits},phase="Pending"}}': always(1),
        f'kube_pod_container_resource_requests{{{waits},resource="nvidia_com_gpu"}}': always(2),
    }
    cordoned = {**series, f'kube_node_spec_taint{{node="{H100}",key="node.kubernetes.io/unschedulable"}}': always(1)}
    held = f'physical_ai:gpus_held{{namespace="osmo-workflows",pod="train",node="{H100}",pool="h100gpu"}}'
    tests = [
        _test(
            "held",
            series,
            [
                ("sum(physical_ai:gpus_asked)", 60, 1),
                (f"sum({held})", 60, 1),
                ('sum(physical_ai:gpus_busy{namespace="osmo-workflows",pod="train",pool="h100gpu"})', 60, 0.9),
                ("sum(physical_ai:gpus_idle) or vector(0)", 60, 0),
                ('sum(physical_ai:gpus_capacity{pool="rtxprogpu"})', 60, 1),
                ("sum(physical_ai:gpus_unschedulable) or vector(0)", 60, 0),
            ],
        ),
        _test(
            "idle",
            idle,
            [("sum(physical_ai:gpus_idle) or vector(0)", 70, 0), ("sum(physical_ai:gpus_idle)", 100, 1)],
        ),
        _test(
            "AMD's",
            {**series, amd("gfx_activity", exported_namespace="ml", exported_pod="rocm"): always(80)},
            [
                ('sum(physical_ai:gpus_busy{namespace="ml",pod="rocm",pool="mi300x"})', 60, 0.8),
                (f'sum(physical_ai:gpus_capacity{{node="{MI300X}"}})', 60, 8),
            ],
        ),
        _test("waiting", waiting, [("sum(physical_ai:gpus_asked)", 60, 3), ("sum(physical_ai:gpus_held)", 60, 1)]),
        _test("cordoned", cordoned, [('sum(physical_ai:gpus_unschedulable{pool="h100gpu"})', 60, 1)]),
    ]
    every = json.loads(rules.read_text())["groups"]
    rules.write_text(json.dumps({"groups": needed(every, read_by_tests(tests))}))
    check(rules, tests)


def check(rules: Path, tests: list[dict[str, Any]]) -> None:
    answer = _run(rules, tests)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def passes(rules: Path, tests: list[dict[str, Any]]) -> bool:
    return _run(rules, tests).returncode == 0


def _run(rules: Path, tests: list[dict[str, Any]]) -> Any:
    return promtool("test", "rules", _written(rules, tests))


def _written(rules: Path, tests: list[dict[str, Any]]) -> Path:
    file = rules.with_name(f"{rules.stem}-tests.yaml")
    file.write_text(promtool_file(rules, tests))
    return file


def _alert_test(case: Case) -> dict[str, Any]:
    series = {name: values for name, values in healthy().items() if not name.startswith(case.without or "-")}
    labels = {"alertname": case.alert, "alertstate": "firing", **case.labels}
    selector = ",".join(f'{key}="{value}"' for key, value in labels.items())
    firing = f"count(ALERTS{{{selector}}}) or vector(0)"
    every = f'count(ALERTS{{alertname="{case.alert}",alertstate="firing"}}) or vector(0)'
    expected = 1 if case.labels else 0
    name = f"{case.alert} {'fires' if case.labels else 'is quiet'} after {case.minutes} min"
    return _test(name, {**series, **case.changes}, [(firing, case.minutes, expected), (every, case.minutes, expected)])


def _test(name: str, series: dict[str, str], samples: list[tuple[str, int, float]]) -> dict[str, Any]:
    return {
        "name": name,
        "interval": "1m",
        "input_series": [{"series": each, "values": values} for each, values in series.items()],
        "promql_expr_test": [
            {"expr": expression, "eval_time": f"{minutes}m", "exp_samples": [{"labels": "{}", "value": value}]}
            for expression, minutes, value in samples
        ],
    }
