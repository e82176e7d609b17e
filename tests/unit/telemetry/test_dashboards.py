"""Dashboards: each panel has data, none depends on what a vGPU lacks, and the JSON is what Grafana imports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.generator.alerts import FILE as ALERTS
from physical_ai import safe_yaml
from physical_ai.settings import existing, load
from physical_ai.settings.facts.telemetry import rule_parameters
from physical_ai.telemetry.dashboards import Dashboard, Panel, dashboards, filled
from physical_ai.telemetry.dashboards.of_stack import of_stack
from physical_ai.telemetry.parameters import Override, Parameters, PoolFacts
from physical_ai.telemetry.promql import metrics
from physical_ai.telemetry.rendering import rule_file
from physical_ai.telemetry.rule_rows import alert_rows
from tests.support.alert_series import H100, RTX, always, busy, dcgm, healthy, rising
from tests.support.promtool import promtool
from tests.support.rule_tests import needed, read_by_tests
from tests.support.stack_series import healthy_series
from workbench.costs.usage import gpu_hour_prices

FIELDS = (
    "DCGM_FI_PROF_SM_ACTIVE",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
)
TASK = 'namespace="osmo-workflows",pod="train",container="task"'
QUEUED = 'namespace="osmo-workflows",pod="queued"'
COUNTERS = (
    f"container_cpu_usage_seconds_total{{{TASK}}}",
    'kb_event_watch_count_total{event_type="pod"}',
    'backend_listener_queue_event_count_total{event_type="pod"}',
    'event_processing_times_seconds_sum{event_type="pod"}',
    'event_processing_times_seconds_count{event_type="pod"}',
    'backend_job_execution_time_seconds_sum{job_type="CreateGroup"}',
    'backend_job_execution_time_seconds_count{job_type="CreateGroup"}',
    'osmo_backend_event_count_total{type="pod"}',
    'osmo_backend_event_processing_time_seconds_total{type="pod"}',
)
GAUGES = (
    f"container_memory_working_set_bytes{{{TASK}}}",
    f'kube_pod_container_resource_requests{{{TASK},resource="cpu"}}',
    f'kube_pod_container_resource_requests{{{TASK},resource="memory"}}',
    'kube_pod_labels{namespace="osmo-workflows",pod="train",label_osmo_workflow_id="nightly-1",'
    'label_osmo_task_name="train",label_physical_ai_pool="h100gpu"}',
    'up{job="osmo-operator/osmo-agents",pod="osmo-operator-backend-listener-0"}',
    'up{job="osmo-control-plane/osmo-service",pod="osmo-service-0"}',
    'up{job="osmo-control-plane/osmo-agent",pod="osmo-agent-0"}',
    'backend_listener_queue_length_count{queue_type="send_queue_pod"}',
    'osmo_tasks_count{status="RUNNING",pool="default",user="me"}',
    'osmo_service_worker_job_queue_length_count{job_type="FREQUENT"}',
    'osmo_backend_worker_job_queue_length_count{job_type="default:FREQUENT"}',
    "osmo_delayed_job_length_count",
)


ANY = {"cluster": ".*"}


def panel_of(name: str, title: str) -> Panel:
    """A panel of a dashboard, as it is in the files."""
    found = next(each for each in dashboards() if each.name == name)
    return next(each for each in found.panels() if each.title == title)


def series() -> dict[str, str]:
    """A busy cluster, with the fields that only dashboards read."""
    found = {**healthy(), **{busy(name): always(0.5) for name in FIELDS}}
    found |= dict.fromkeys(COUNTERS, rising(60)) | dict.fromkeys(GAUGES, always(1))
    found[dcgm("DCGM_FI_DEV_POWER_USAGE")] = always(300)
    return found


def expressions(tmp_path: Path, given: dict[str, str], tests: list[dict[str, Any]]) -> None:
    """Asserts what expressions result in, with the recorded series of the default stack."""
    inputs = [{"series": name, "values": values} for name, values in given.items()]
    test = {"interval": "1m", "input_series": inputs, "promql_expr_test": tests}
    groups = safe_yaml.load(rule_file(rule_parameters(load("dev-westus2").settings)))["groups"]
    (tmp_path / "rules.yaml").write_text(safe_yaml.dump({"groups": needed(groups, read_by_tests([test]))}))
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump({"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}))
    answer = promtool("test", "rules", file)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_every_query_of_every_panel_returns_data(tmp_path: Path) -> None:
    """In one run: most of its time is that of the rules. A failure names the query."""
    tests: list[dict[str, Any]] = [
        {
            "expr": f"count({dashboard.filled(query)}) > bool 0",
            "eval_time": "120m",
            "exp_samples": [{"labels": "{}", "value": 1}],
        }
        for dashboard in dashboards()
        for panel in dashboard.panels()
        for query in panel.queries
    ]
    expressions(tmp_path, series(), tests)


@pytest.mark.deep  # in `make test`: every panel of the default stack, above
def test_no_panel_of_any_stack_is_empty_while_it_is_healthy(tmp_path: Path) -> None:
    """One run of promtool over files of their own, each with the records and the panels of a stack."""
    files, given_stacks = list[Path](), shown_stacks()
    # Of stacks that show the same panels, one.
    distinct = {tuple(each.document for each in of_stack(given)): name for name, given in given_stacks.items()}
    assert len(distinct) >= 5
    for name in distinct.values():
        given = given_stacks[name]
        (tmp_path / f"{name}.rules.yaml").write_text(recording_file(given))
        inputs = [{"series": each, "values": f"{value:g}x40"} for each, value in healthy_series(given).items()]
        tests: list[dict[str, Any]] = [
            {"expr": f"count({expression}) > bool 0", "eval_time": "38m", "exp_samples": [{"labels": "{}", "value": 1}]}
            for dashboard in of_stack(given)
            for panel in dashboard.panels()
            for expression in [" or ".join(f"({dashboard.filled(query, span='30m')})" for query in panel.queries)]
        ]
        files.append(tmp_path / f"{name}.yaml")
        test = {"interval": "1m", "input_series": inputs, "promql_expr_test": tests}
        document = {"rule_files": [f"{name}.rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
        files[-1].write_text(yaml.safe_dump(document))
    answer = promtool("test", "rules", *files)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def shown_stacks() -> dict[str, Parameters]:
    """Each committed stack, and kinds of pools that none has."""
    found = {name: rule_parameters(load(name).settings) for name in existing()}
    base = found["dev-westus2"]
    ports = PoolFacts("ndgpu", {"nvidia.com/gpu": 8}, 8, 2, False, False, False, infiniband=True)
    amd = PoolFacts("mi300x", {"amd.com/gpu": 8}, 8, 2, False, False, False, amd=True)
    vgpus = tuple(pool for pool in base.pools if pool.virtual)
    kinds = {"infiniband": (*base.pools, ports), "amd": (amd,), "vgpu": vgpus}
    found |= {name: replace(base, pools=pools) for name, pools in kinds.items()}
    return found


def recording_file(given: Parameters) -> str:
    """The stack's records without its alerts, which no healthy panel needs."""
    groups = safe_yaml.load(rule_file(given))["groups"]
    kept = [{**group, "rules": [each for each in group["rules"] if "record" in each]} for group in groups]
    return safe_yaml.dump({"groups": [group for group in kept if group["rules"]]})


def test_a_stack_shows_what_it_has_with_its_own_thresholds_and_runbooks() -> None:
    given = shown_stacks()
    titles = {name: {panel.title for each in of_stack(given[name]) for panel in each.panels()} for name in given}
    assert "vGPU licences" in titles["dev-westus2"]
    assert "vGPU licences" not in titles["onprem-lab"]
    assert "Symbol errors" in titles["infiniband"]
    assert {"Junction temperature", "Nodes with GPUs"} <= titles["amd"]
    assert "Temperature" not in titles["amd"] | titles["vgpu"]
    own = replace(
        given["dev-westus2"], overrides={"GPUTooHot": Override(threshold=80)}, runbooks="https://w.example/r/"
    )
    (panel,) = [panel for each in of_stack(own) for panel in each.panels() if panel.title == "Temperature"]
    assert [step.value for step in panel.steps] == [None, 80]
    assert [link.url for link in panel.links] == ["https://w.example/r/alerts.md#GPUTooHot"]
    default = alert_rows()["GPUTooHot"].threshold
    assert default is not None
    assert panel_of("fleet", "Temperature").steps[-1].value == default.default


def test_a_link_of_every_panel_leads_to_the_section_of_its_alert() -> None:
    page = ALERTS.read_text(encoding="utf-8")
    linked = [link.title for each in dashboards() for panel in each.panels() for link in panel.links]
    assert len(linked) > 10
    assert [name for name in {*linked, *alert_rows()} if f'<a id="{name}"></a>' not in page] == []
    assert panel_of("status", "Alerts that fire").runbook.endswith("alerts.md#${__value.raw}")


def test_clocks_are_limited_by_reasons_and_not_by_a_mean_of_bits(tmp_path: Path) -> None:
    """One of a task's two GPUs has the bits of heat and of an idle GPU: 0x21."""
    panel = panel_of("osmo-workflow", "Clock limited")
    bits = busy("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS")
    given = {**series(), bits: always(0x21), bits.replace('gpu="0"', 'gpu="1"'): always(0x1)}
    checks = [
        {
            "expr": filled(query.expression, ANY),
            "eval_time": "10m",
            "exp_samples": [{"labels": '{task="nightly-1/train"}', "value": value}],
        }
        for query, value in zip(panel.queries, (0.5, 0, 0), strict=True)
    ]
    expressions(tmp_path, given, checks)


@pytest.mark.parametrize("dashboard", dashboards(), ids=lambda each: each.name)
def test_choices_come_from_series_that_every_node_has(dashboard: Dashboard) -> None:
    queries = [variable.query.removeprefix("label_values(").rpartition(",")[0] for variable in dashboard.variables]
    known = {"kube_node_info", "kube_pod_info", "kube_pod_labels", "physical_ai:node_pool"}
    assert all(metrics(each) <= known for each in queries)


def test_gpu_hours_are_those_of_the_samples(tmp_path: Path) -> None:
    """A task holds one GPU for two hours and is busy for 90 % of them."""
    panel = panel_of("fleet", "GPU-hours by namespace")
    found = (filled(query.expression, ANY, span="2h") for query in panel.queries)
    checks = [
        {"expr": f"round({each}, 0.01)", "eval_time": "180m", "exp_samples": [{"labels": labels, "value": value}]}
        for each, value in zip(found, (2.0, 2.0, 1.8), strict=True)
        for labels in ['{namespace="osmo-workflows"}']
    ]
    expressions(tmp_path, healthy(), checks)


@pytest.mark.parametrize(("gpus", "nodes"), [(0, 0), (1, 1), (3, 2)], ids=["none", "one more", "beyond the maximum"])
def test_the_nodes_that_are_wanted_follow_from_what_waits(gpus: int, nodes: int, tmp_path: Path) -> None:
    """Pods that wait name their pool in a label: an RTX pool of 0 to 2 nodes with a GPU each."""
    waiting = {
        f'kube_pod_status_phase{{{QUEUED},phase="Pending"}}': always(1),
        f'kube_pod_container_resource_requests{{{QUEUED},resource="nvidia_com_gpu"}}': always(gpus),
        f'kube_pod_labels{{{QUEUED},label_physical_ai_pool="rtxprogpu"}}': always(1),
    }
    wanted = [
        {"labels": f'physical_ai:nodes_wanted{{pool="{pool}"}}', "value": value}
        for pool, value in (("h100gpu", 1), ("rtxprogpu", nodes))
    ]
    check = {"expr": "physical_ai:nodes_wanted", "eval_time": "10m", "exp_samples": wanted}
    expressions(tmp_path, {**healthy(), **(waiting if gpus else {})}, [check])


def test_the_cost_is_that_of_the_hours_at_the_price_of_the_pool(tmp_path: Path) -> None:
    settings = load("dev-westus2").settings
    panel = panel_of("fleet", "USD by pool")
    price = gpu_hour_prices(settings)["h100gpu"]
    checks = [
        {
            "expr": f"round({filled(query.expression, ANY | {'pool': 'h100gpu'}, span='2h')}, 0.01)",
            "eval_time": "180m",
            "exp_samples": [{"labels": '{pool="h100gpu"}', "value": round(hours * price, 2)}],
        }
        for query, hours in zip(panel.queries, (2.0, 2.0, 1.8, 0.2), strict=True)
    ]
    expressions(tmp_path, healthy(), checks)


def test_tasks_have_the_names_of_their_workflow_or_of_their_pod(tmp_path: Path) -> None:
    debug = 'namespace="default",pod="debug"'
    given = {
        **series(),
        f'kube_pod_status_phase{{{debug},phase="Running"}}': always(1),
        f'kube_pod_container_resource_requests{{{debug},node="{RTX}",resource="nvidia_com_gpu"}}': always(2),
    }
    names = [{"labels": f'{{task="{name}"}}', "value": 1} for name in ("debug", "nightly-1/train")]
    check = {"expr": "max by (task) (physical_ai:gpu_tasks)", "eval_time": "10m", "exp_samples": names}
    expressions(tmp_path, given, [check])


@pytest.mark.parametrize("dashboard", dashboards(), ids=lambda each: each.name)
def test_the_json_is_complete(dashboard: Dashboard) -> None:
    found: dict[str, Any] = json.loads(dashboard.document)
    panels = [each for each in found["panels"] if each["type"] != "row"]
    assert [each["title"] for each in panels] == [each.title for each in dashboard.panels()]
    assert len({each["id"] for each in found["panels"]}) == len(found["panels"])
    assert all(target["datasource"]["uid"] == "${datasource}" for each in panels for target in each["targets"])
    places = [each["gridPos"] for each in found["panels"]]
    assert len({(each["x"], each["y"]) for each in places}) == len(places)
    assert all(each["x"] + each["w"] <= 24 for each in places)
    assert len({each.uid for each in dashboards()}) == len(dashboards())


def test_a_chosen_value_replaces_its_variable() -> None:
    assert filled('a{node=~"aks-($pool)-.+"}', {"pool": "h100gpu"}) == 'a{node=~"aks-(h100gpu)-.+"}'
    assert filled("sum_over_time(a[$__range])", span="7d") == "sum_over_time(a[7d])"
    assert {H100, RTX} <= {
        name.partition('node="')[2].partition('"')[0] for name in healthy() if "kube_node_info" in name
    }
