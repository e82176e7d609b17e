"""Values on which the platform depends although the program does not set them: refused, or named with their cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.compat import known_keys
from physical_ai.catalog.compat.needs import RULE, about, judge_needs, needs
from physical_ai.catalog.compat.tables import key_table
from physical_ai.planning.chart_values import Owned
from physical_ai.planning.owned_values import NVIDIA_DRIVER, OWNED_VALUES
from physical_ai.planning.plan import make_plan
from physical_ai.readiness.model import GATES
from physical_ai.settings import SettingsError, load
from tests.support.cases import in_one_test
from tests.support.covering_stacks import derived
from tests.support.gpu_settings import given_settings
from tests.support.judged_values import CHARTS, errors, known, nested

SWITCH = re.compile(r"(^|\.)(enabled?|create\w*|install|deployCR|render)$")
COUNT = re.compile(r"(?i)replicas?(Count)?$")
NAME = re.compile(r"(^|\.)(name|fullname|namespace)Override$")


@pytest.mark.parametrize(
    ("path", "value", "gates"),
    [
        ("nfd.enabled", False, {"nfd"}),
        ("nfd.enabled", None, set()),
        ("nfd.enabled", "false", {"nfd"}),
        ("toolkit.enabled", False, {"toolkit", "validator"}),
        ("toolkit.enabled", 0, {"toolkit"}),
        ("gfd.enabled", False, {"allocatable"}),
        ("sandboxWorkloads.enabled", True, {"deploy-labels"}),
        ("sandboxWorkloads.defaultWorkload", "vm-passthrough", {"deploy-labels"}),
        ("operator.runtimeClass", "other", {"toolkit"}),
        ("operator.runtimeClass", "", {"toolkit"}),
        ("hostPaths.driverInstallDir", "/opt/driver", {"driver-validation"}),
        ("hostPaths.rootFS", "/host", {"toolkit"}),
        ("clusterPolicy.deployCR", False, {"labels"}),
        ("node-feature-discovery.worker.enable", False, {"nfd"}),
        ("node-feature-discovery.worker.nodeSelector", {"disk": "fast"}, {"nfd"}),
        ("node-feature-discovery.master.replicaCount", 0, set()),
        ("node-feature-discovery.fullnameOverride", "nfd", set()),
        ("node-feature-discovery.master.config.noPublish", True, {"nfd"}),
        ("toolkit.env", [{"name": "CONTAINERD_RUNTIME_CLASS", "value": "other"}], {"validator"}),
        ("devicePlugin.env", [{"name": "MIG_STRATEGY", "value": "mixed"}], {"allocatable"}),
        ("migManager.env", [{"name": "WITH_REBOOT", "value": "false"}], {"allocatable"}),
        ("validator.plugin", None, set()),
        ("hostPaths", None, set()),
        ("toolkit", None, set()),
        ("gfd", False, set()),
        ("toolkit", [], set()),
        ("daemonsets.labels", ["a"], set()),
        ("toolkit.env", {"A": "b"}, set()),
    ],
)
def test_a_value_that_switches_the_gpu_stack_off_is_refused(
    tmp_path: Path, path: str, value: Any, gates: set[str]
) -> None:
    folder = tmp_path / "values" / "gpu-operator"
    folder.mkdir(parents=True)
    (folder / "values.yaml").write_text(f"# of ours\n{yaml.safe_dump(nested(path, value))}")
    with pytest.raises(SettingsError) as caught:
        make_plan(given_settings().settings, tmp_path / "values")
    fault = caught.value.faults[0]
    assert fault.file == "values/gpu-operator/values.yaml"
    assert fault.line is not None
    assert path.startswith(fault.where) or fault.where.startswith(path)
    assert fault.fix
    assert fault.source
    said = " ".join(each.problem for each in caught.value.faults)
    assert all(gate in said for gate in gates)


@in_one_test(
    ("chart", "path", "value"),
    [
        ("kai-scheduler", "scheduler.enabled", False),
        ("kai-scheduler", "binder", None),
        ("kai-scheduler", "global.nodePoolLabelKey", "team"),
        ("kai-scheduler", "operator.replicaCount", 0),
        ("backend-operator", "global.enableClusterRoles", False),
        ("backend-operator", "services.backendWorker.serviceName", "mine"),
        ("service", "services.router.scaling.minReplicas", 0),
        ("service", "services.worker.serviceName", "mine"),
        ("kube-prometheus-stack", "prometheusOperator.enabled", False),
        ("kube-prometheus-stack", "kubeStateMetrics.enabled", False),
        ("kube-prometheus-stack", "crds.enabled", "false"),
        ("kube-prometheus-stack", "namespaceOverride", "other"),
        ("cert-manager", "cainjector.enabled", False),
        ("cert-manager", "webhook.replicaCount", 0),
        ("cert-manager", "global.rbac.create", False),
        ("slurm-operator", "webhook.enabled", False),
        ("slurm-operator", "operator.replicas", 0),
        ("slurm", "slurmKey.create", False),
        ("slurm", "controller.external", True),
        ("gpu-operator-charts", "controllerManager.replicas", 0),
        ("gpu-operator-charts", "kmm.enabled", False),
        ("nvsentinel", "janitor", {"x": 1}),
        ("nvsentinel", "labeler.replicaCount", 0),
        ("longhorn", "nameOverride", "mine"),
        ("metallb", "speaker.enabled", False),
        ("metallb", "loadBalancerClass", "metallb"),
        ("network-operator", "operator.admissionController.enabled", True),
        ("network-operator", "nfd.enabled", True),
        ("dra-driver-nvidia-gpu", "kubeletPlugin.affinity", {"nodeAffinity": {}}),
        ("dra-driver-nvidia-gpu", "webhook.enabled", True),
        ("gha-runner-scale-set-controller", "replicaCount", 0),
        ("gha-runner-scale-set", "containerMode", {"type": "dind"}),
        ("opentelemetry-collector", "replicaCount", "0"),
        ("opentelemetry-collector", "configMap.create", False),
    ],
)
def test_the_same_of_every_other_chart(chart: str, path: str, value: Any) -> None:
    assert errors(chart, path, value)


@in_one_test("chart", CHARTS)
def test_no_switch_count_or_name_of_a_chart_is_left_without_a_word(chart: str) -> None:
    """Each is set by the program, or is a row that refuses, warns, or says why it costs nothing."""
    owned = Owned(OWNED_VALUES[chart])
    paths = [path for path in known(chart) if SWITCH.search(path) or COUNT.search(path) or NAME.search(path)]
    left = [path for path in paths if owned.owner_of_any(path) is None and not above(chart, path)]
    assert left == []


def above(chart: str, path: str) -> bool:
    """Whether a row is about a path, or a section around it."""
    steps = path.split(".")
    return any(about(chart, ".".join(steps[:end])) for end in range(1, len(steps) + 1))


def test_every_gate_names_the_values_that_would_close_it_for_ever() -> None:
    named = {gate for need in needs() if need.severity != "info" for gate in need.gates}
    assert named == set(GATES)


def test_every_path_in_the_rows_is_a_key_of_its_charts() -> None:
    for need in needs():
        for chart in set(need.charts) - {"*", NVIDIA_DRIVER}:
            keys = {
                key: kind for name, each in pinned_charts() if name == chart for key, kind in of(name, each).items()
            }
            sections = {key[:end] for key in keys for end, letter in enumerate(key) if letter == "."}
            for path in need.paths:
                steps = path.split(".")
                free = any(keys.get(".".join(steps[:end])) in ("map", "list") for end in range(1, len(steps)))
                assert path in keys or path in sections or free or "*" in path, (chart, path)


def of(chart: str, each: str) -> Mapping[str, str]:
    if each.startswith("v0.20"):
        return {}  # pinned for reference alone
    return known_keys(each) if chart == "gpu-operator" else key_table(chart, each).known


def test_a_pattern_in_the_rows_matches_a_key_of_some_chart() -> None:
    for need in needs():
        charts = CHARTS if "*" in need.charts else need.charts
        for path in need.paths:
            if "*" in path and need.severity != "info":
                assert any(
                    path in each.paths for chart in charts for key in known(chart) for each in about(chart, key)
                ), path


def test_what_a_row_keeps_it_allows_and_what_a_chart_sets_costs_nothing() -> None:
    for need in needs():
        for kept in need.keep or ():
            assert need.allows(kept)
        assert need.allows(None) is (need.least is None and "" in (need.keep or ("",)))
        assert need.costs.endswith(".")
    for chart in CHARTS:
        for _, values in derived()[chart]:
            found = [
                each
                for each in judge_needs(chart, values)
                if Owned(OWNED_VALUES[chart]).owner_of_any(each.where) is None
            ]
            assert found == []


@pytest.mark.parametrize(
    ("path", "value", "cost"),
    [
        ("dcgmExporter.enabled", False, "no metrics of GPUs"),
        ("nodeStatusExporter.enabled", False, "have no metric"),
        ("driver.upgradePolicy.autoUpgrade", False, "rollout"),
        ("daemonsets.updateStrategy", "OnDelete", "rollout"),
        ("operator.cleanupCRD", True, "every ClusterPolicy"),
        ("devicePlugin.env", [{"name": "DP_DISABLE_HEALTHCHECKS", "value": "all"}], "fatal Xid"),
    ],
)
def test_what_is_allowed_is_named_with_what_it_costs(tmp_path: Path, path: str, value: Any, cost: str) -> None:
    folder = tmp_path / "values" / "gpu-operator"
    folder.mkdir(parents=True)
    (folder / "values.yaml").write_text(yaml.safe_dump(nested(path, value)))
    warnings = make_plan(given_settings().settings, tmp_path / "values").warnings
    assert [each.rule for each in warnings] == ["chart-value-needed"]
    assert cost in str(warnings[0])


def test_every_command_that_loads_the_stack_can_name_it(tmp_path: Path) -> None:
    folder = tmp_path / "values" / "gpu-operator"
    folder.mkdir(parents=True)
    (folder / "values.yaml").write_text("dcgmExporter: {enabled: false}\n")
    found = [each for each in load("dev-westus2", values=tmp_path / "values").warnings if each.where.startswith("dcgm")]
    assert [(each.line, each.rule) for each in found] == [(1, "chart-value-needed")]


@pytest.mark.parametrize("file", ["nvidia-driver.yaml", "pools/h100gpu.yaml"])
def test_the_files_of_drivers_and_pools_are_judged_too(tmp_path: Path, file: str) -> None:
    path = tmp_path / "values" / "gpu-operator" / file
    path.parent.mkdir(parents=True)
    own = {"upgradePolicy": {"autoUpgrade": False}}
    path.write_text(yaml.safe_dump({"driver": own} if "pools" in file else own))
    (warning,) = make_plan(given_settings().settings, tmp_path / "values").warnings
    assert "rollout" in warning.problem
    mine = {"env": [{"name": "GPU_MODULE_PARAMETERS_DIGEST", "value": "x"}]}
    path.write_text(yaml.safe_dump({"driver": mine} if "pools" in file else mine))
    with pytest.raises(SettingsError) as caught:
        make_plan(given_settings().settings, tmp_path / "values")
    assert "moduleParameters" in str(caught.value)


@pytest.mark.parametrize(("replicas", "rules"), [(0, [RULE]), (1, []), (4, [])])
def test_any_number_of_replicas_but_none_collects_the_labels_of_deleted_nodes(replicas: int, rules: list[str]) -> None:
    written = {"node-feature-discovery": {"gc": {"replicaCount": replicas}}}
    assert [each.rule for each in judge_needs("gpu-operator", written)] == rules
