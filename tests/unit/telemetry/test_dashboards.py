"""Dashboards: each panel has data, none depends on what a vGPU lacks, and the JSON is what Grafana imports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.dashboards import DASHBOARDS, Dashboard, document
from physical_ai.telemetry.dashboards.model import filled
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rendering import rule_file
from tests.support.alert_cases import H100, RTX, always, busy, dcgm, healthy
from tests.support.promtool import promtool

FIELDS = (
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_DEV_FB_USED",
)
MORE = (*FIELDS, "DCGM_FI_PROF_PCIE_RX_BYTES", "DCGM_FI_DEV_SM_CLOCK")


def series() -> dict[str, str]:
    """A busy cluster, with the fields that only dashboards read."""
    found = {**healthy(), **{busy(name): always(0.5) for name in MORE}}
    found[dcgm("DCGM_FI_DEV_POWER_USAGE")] = always(300)
    return found


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda each: each.name)
def test_every_query_of_every_panel_returns_data(dashboard: Dashboard, tmp_path: Path) -> None:
    (tmp_path / "rules.yaml").write_text(rule_file(rule_parameters(load("dev-westus2").settings)))
    tests: list[dict[str, Any]] = [
        {
            "expr": f"count({filled(query.expression)}) > bool 0",
            "eval_time": "120m",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for panel in dashboard.panels()
        for query in panel.queries
    ]
    given = [{"series": name, "values": values} for name, values in series().items()]
    test = {"interval": "1m", "input_series": given, "promql_expr_test": tests}
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}))
    answer = promtool("test", "rules", file)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda each: each.name)
def test_choices_come_from_series_that_every_node_has(dashboard: Dashboard) -> None:
    assert all(metrics(variable.series) <= {"kube_node_info", "kube_pod_info"} for variable in dashboard.variables)


def test_gpu_hours_are_those_of_the_samples(tmp_path: Path) -> None:
    """A task holds one GPU for two hours and is busy for 90 % of them."""
    (tmp_path / "rules.yaml").write_text(rule_file(rule_parameters(load("dev-westus2").settings)))
    panel = next(each for each in DASHBOARDS[0].panels() if each.title == "GPU-hours by namespace")
    held, busy_hours = (filled(query.expression, span="2h") for query in panel.queries)
    checks = [
        {"expr": f"round({each}, 0.01)", "eval_time": "180m", "exp_samples": [{"labels": labels, "value": value}]}
        for each, value in ((held, 2.0), (busy_hours, 1.8))
        for labels in ['{namespace="osmo-workflows"}']
    ]
    given = [{"series": name, "values": values} for name, values in healthy().items()]
    test = {"interval": "1m", "input_series": given, "promql_expr_test": checks}
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}))
    answer = promtool("test", "rules", file)
    assert answer.returncode == 0, answer.stdout + answer.stderr


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda each: each.name)
def test_the_json_is_complete(dashboard: Dashboard) -> None:
    found: dict[str, Any] = json.loads(document(dashboard))
    panels = [each for each in found["panels"] if each["type"] != "row"]
    assert [each["title"] for each in panels] == [each.title for each in dashboard.panels()]
    assert len({each["id"] for each in found["panels"]}) == len(found["panels"])
    assert all(target["datasource"]["uid"] == "${datasource}" for each in panels for target in each["targets"])
    places = [tuple(each["gridPos"].values()) for each in found["panels"]]
    assert len(set(places)) == len(places)
    assert all(left + width <= 24 for left, _, width, _ in places)
    assert "$$" not in json.dumps(found)


def test_a_chosen_value_replaces_its_variable() -> None:
    assert filled('a{node=~"aks-($pool)-.+"}', {"pool": "h100gpu"}) == 'a{node=~"aks-(h100gpu)-.+"}'
    assert filled("sum_over_time(a[$__range])", span="7d") == "sum_over_time(a[7d])"
    assert {H100, RTX} == {
        name.partition('node="')[2].partition('"')[0] for name in healthy() if "kube_node_info" in name
    }
