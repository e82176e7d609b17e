"""GPU-hours by workflow, against a day that was counted by hand."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
import yaml

from physical_ai import safe_yaml
from physical_ai.settings import load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.rendering import rule_file
from physical_ai.telemetry.usage import Sample, queries, usage
from physical_ai.telemetry.usage_report import report_queries
from simulator.metrics.telemetry import Telemetry
from tests.support.promtool import promtool
from tests.support.rule_tests import needed, read_by_tests
from tests.unit.cli.test_cli_commands import call
from workbench.cli.output.usage import as_csv
from workbench.cli.prometheus import PrometheusFailed, ask
from workbench.costs.usage import gpu_hour_prices

TRAIN = {"namespace": "osmo-workflows", "pod": "a-1", "pool": "h100gpu"}
SECOND = {**TRAIN, "pod": "a-2"}
DEBUG = {"namespace": "default", "pod": "shell", "pool": "rtxprogpu"}
RESULTS = {
    "labels": [
        Sample({**each, "label_osmo_workflow_id": "train-7", "label_kai_scheduler_queue": "research"}, 1)
        for each in ({"namespace": "osmo-workflows", "pod": name} for name in ("a-1", "a-2"))
    ],
    "asked": [
        Sample({"namespace": "osmo-workflows", "pod": "a-1"}, 9.0),
        Sample({"namespace": "default", "pod": "shell"}, 5.0),
    ],
    "held": [Sample(TRAIN, 8.0), Sample(SECOND, 4.0), Sample(DEBUG, 5.0)],
    "busy": [Sample(TRAIN, 6.0), Sample(SECOND, 3.5)],
    "idle": [Sample(DEBUG, 4.5)],
}


def test_pods_of_a_workflow_are_one_row_and_others_are_rows_of_their_own() -> None:
    train, shell = usage(RESULTS, {"h100gpu": 7.0})
    assert (train.workflow, train.pod, train.queue, train.pool) == ("train-7", "", "research", "h100gpu")
    assert (train.asked, train.held, train.busy, train.idle, train.usd) == (9.0, 12.0, 9.5, 0.0, 84.0)
    assert (shell.workflow, shell.pod, shell.held, shell.idle, shell.usd) == ("", "shell", 5.0, 4.5, None)


def test_a_pod_that_never_ran_has_no_pool() -> None:
    (row,) = usage({"asked": [Sample({"namespace": "n", "pod": "p"}, 2.0)]}, {"h100gpu": 7.0})
    assert (row.pool, row.asked, row.held, row.usd) == ("", 2.0, 0.0, None)


def test_values_as_text() -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(usage(RESULTS, {"h100gpu": 7.0})))))
    assert [(each["workflow"], each["pod"], each["held"], each["usd"]) for each in rows] == [
        ("train-7", "", "12.0", "84.0"),
        ("", "shell", "5.0", ""),
    ]


def test_a_node_is_divided_by_what_it_offers() -> None:
    prices = gpu_hour_prices(load("dev-westus2").settings)
    assert prices["h100gpu"] == 6.98


@pytest.mark.parametrize("span", ["7", "d", "-1d", "7 d", "7y"])
def test_a_time_of_another_form_is_refused(span: str) -> None:
    with pytest.raises(ValueError, match="is not a time"):
        queries(span)
    assert call("usage", "dev-westus2", f"--since={span}")[0] == 2


def test_a_prometheus_that_does_not_answer() -> None:
    with pytest.raises(PrometheusFailed, match="port-forward"):
        ask("http://127.0.0.1:1", queries("7d"))
    code, _, err = call("usage", "dev-westus2", "--prometheus", "http://127.0.0.1:1")
    assert code == 1
    assert "--prometheus http://127.0.0.1:1: no Prometheus can be read there" in err


def test_the_prometheus_of_a_simulated_stack_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Telemetry, "is_running", lambda self: True)
    monkeypatch.setattr(Telemetry, "prometheus", "http://127.0.0.1:2")
    assert "http://127.0.0.1:2: no Prometheus" in call("usage", "dev-westus2")[2]
    assert "http://127.0.0.1:1: no Prometheus" in call("usage", "dev-westus2", "--prometheus", "http://127.0.0.1:1")[2]
    monkeypatch.setattr(Telemetry, "is_running", lambda self: False)
    assert "`physai up STACK --telemetry` starts one" in call("usage", "dev-westus2")[2]


def test_a_scripted_day(tmp_path: Path) -> None:
    """A task waits for an hour, holds a GPU for eight hours, and uses half of it for four of them."""
    pod, node = 'namespace="osmo-workflows",pod="a-1"', "aks-h100gpu-1-vmss000000"
    placed = f'{pod},node="{node}",resource="nvidia_com_gpu"'
    busy = f'node="{node}",gpu="0",exported_namespace="osmo-workflows",exported_pod="a-1"'
    given = {
        f'kube_node_labels{{node="{node}",label_agentpool="h100gpu"}}': "1x1439",
        # Minutes: 60 without a node, 480 with one, then gone.
        f'kube_pod_status_phase{{{pod},phase="Pending"}}': "1x59 0x479 stale",
        f'kube_pod_status_phase{{{pod},phase="Running"}}': "0x59 1x479 stale",
        f'kube_pod_container_resource_requests{{{pod},resource="nvidia_com_gpu"}}': "1x59 stale",
        f"kube_pod_container_resource_requests{{{placed}}}": "_x60 1x479 stale",
        f"DCGM_FI_PROF_GR_ENGINE_ACTIVE{{{busy}}}": "_x60 0.5x239 0x239 stale",
    }
    # The task is idle from half an hour after its last use on.
    wanted = {"asked": 9.0, "held": 8.0, "busy": 2.0, "idle": 3.5}
    given |= {
        f'kube_node_status_capacity{{node="{node}",resource="nvidia_com_gpu"}}': "2x1439",
        f'kube_node_status_allocatable{{node="{node}",resource="nvidia_com_gpu"}}': "2x1439",
        f'kube_node_spec_taint{{node="{node}",key="node.kubernetes.io/unschedulable"}}': "_x1200 1x238",
        f'kube_node_info{{node="{node}"}}': "1x1439",
        f'kube_pod_labels{{{pod},label_kai_scheduler_queue="research"}}': "1x539 stale",
        f'kube_pod_status_phase{{{pod},phase="Failed"}}': "0x539 1x9 stale",
    }
    # GPU-hours of the node, and what stood under its taint at the end; the other queries are about the one Pod or node.
    reported = {"capacity": 48.0, "unschedulable": 8.0, "gpus": 1.0, "queues": 1.0, "placed": 1.0, "failed": 1.0,
                "nodes": 1.0, "pools": 1.0}  # fmt: skip
    absent = ("running", "succeeded", "evicted", "withheld")
    asked = report_queries("1d")
    assert {*wanted, *reported, *absent, "labels"} == set(asked)
    checks = [
        {
            "expr": f"round(sum({asked[name]}), 0.1)",
            "eval_time": "1439m",
            "exp_samples": [{"labels": "{}", "value": value}],
        }
        for name, value in {**wanted, **reported}.items()
    ]
    checks += [{"expr": asked[name], "eval_time": "1439m", "exp_samples": []} for name in absent]
    series = [{"series": name, "values": values} for name, values in given.items()]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": checks}
    groups = safe_yaml.load(rule_file(rule_parameters(load("dev-westus2").settings)))["groups"]
    (tmp_path / "rules.yaml").write_text(safe_yaml.dump({"groups": needed(groups, read_by_tests([test]))}))
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}))
    answer = promtool("test", "rules", file)
    assert answer.returncode == 0, answer.stdout + answer.stderr
