"""Health modes: what each installs and limits, and each way in which the settings cannot work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.config import secret_faults
from parts.nvsentinel.limits import health_limits
from parts.nvsentinel.plan import FILE, nvsentinel_plan, quarantines
from physical_ai.kubernetes.cel import evaluate
from physical_ai.planning.gpu_admission import exempt
from physical_ai.repository import PARTS
from physical_ai.settings import Fault, Loaded, Overlay, SettingsError, load
from physical_ai.settings.facts.health import budget
from tests.support.admission import Admission, Request
from tests.support.cases import in_one_test

AZURE, STORE = "monitoring.metrics=azure", "health.datastoreSecret=store"
ALWAYS = "pools.h100gpu.scale={min: 1, initial: 1}"
MODULES = ("gpuHealthMonitor", "syslogHealthMonitor", "faultQuarantine", "nodeDrainer", "faultRemediation", "preflight")


def dev(*assignments: str) -> Loaded:
    return load("dev-westus2", [Overlay.assign([AZURE, ALWAYS, *assignments])])


def values(*assignments: str) -> Any:
    return dev(*assignments).plan.parts["nvsentinel"].release("release").values


def errors(*assignments: str) -> list[Fault]:
    with pytest.raises(SettingsError) as caught:
        load("dev-westus2", [Overlay.assign(assignments)])
    return caught.value.faults


def test_by_default_nothing_acts_and_nothing_is_installed() -> None:
    loaded = load("dev-westus2")
    assert loaded.settings.health.mode == "alert"
    assert "nvsentinel" not in loaded.plan.parts
    assert health_limits(loaded.settings) == []
    assert "nvsentinel" not in exempt(loaded.settings)


@pytest.mark.parametrize(
    ("mode", "on"),
    [
        ("detect", ["gpuHealthMonitor", "syslogHealthMonitor"]),
        ("taint", ["gpuHealthMonitor", "syslogHealthMonitor", "faultQuarantine"]),
        ("drain", ["gpuHealthMonitor", "syslogHealthMonitor", "faultQuarantine", "nodeDrainer"]),
    ],
)
def test_each_mode_installs_what_it_needs_and_no_more(mode: str, on: list[str]) -> None:
    store = [STORE] if mode != "detect" else []
    found = values(f"health.mode={mode}", *store)
    assert [name for name in MODULES if found["global"][name]["enabled"]] == on
    assert ("datastore" in found["global"]) == (mode != "detect")
    assert found["global"]["mongodbStore"]["enabled"] is False


def test_dcgm_gets_a_service_only_for_the_monitor() -> None:
    assert load("dev-westus2").plan.gpu.values["dcgm"] == {"enabled": False}
    assert dev("health.mode=detect").plan.gpu.values["dcgm"] == {"enabled": True}


def test_the_gpu_monitor_leaves_vgpu_nodes_alone() -> None:
    affinity = values("health.mode=detect")["gpu-health-monitor"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "physical-ai/gpu-driver", "operator": "NotIn", "values": ["grid"]}]


def test_collectors_find_a_runtime_class_only_where_there_is_one() -> None:
    assert values("health.mode=detect")["metadata-collector"]["runtimeClassName"] == "nvidia"
    with_nri = values("health.mode=detect", "gpuOperator.nri=true")
    assert with_nri["metadata-collector"]["runtimeClassName"] == ""


@pytest.mark.parametrize(("least", "nodes"), [(1, 1), (7, 1), (8, 2), (12, 3)])
def test_the_breaker_holds_the_budget_of_the_smallest_pool(least: int, nodes: int) -> None:
    scale = f"pools.h100gpu.scale={{min: {least}, initial: {least}, max: 20}}"
    breaker = values("health.mode=taint", STORE, scale)["fault-quarantine"]["circuitBreaker"]
    assert (breaker["enabled"], breaker["maxNodes"]) == (True, nodes)
    assert budget(least) == nodes


def test_a_drain_waits_and_never_deletes() -> None:
    drainer = values("health.mode=drain", STORE)["node-drainer"]
    assert drainer["userNamespaces"] == [{"name": "*", "mode": "AllowCompletion"}]
    assert "osmo-workflows" not in drainer["systemNamespaces"]


@pytest.mark.parametrize(
    ("agent", "code", "fatal", "leaves"),
    [
        ("syslog-health-monitor", "48", True, True),
        ("syslog-health-monitor", "45", True, False),  # a job was killed; NVSentinel takes it for fatal
        ("syslog-health-monitor", "31", False, False),
        ("gpu-health-monitor", "DCGM_FR_UNCONTAINED_ERROR", True, True),
        ("gpu-health-monitor", "DCGM_FR_PENDING_ROW_REMAP", True, False),
        ("gpu-health-monitor", "DCGM_FR_NVLINK_DOWN", True, False),
        ("nic-health-monitor", "48", True, False),
    ],
)
def test_a_node_leaves_service_for_faults_of_its_own_only(agent: str, code: str, fatal: bool, leaves: bool) -> None:
    assert quarantines(agent, (code,), fatal) is leaves
    event = {"agent": agent, "componentClass": "GPU", "isFatal": fatal, "errorCode": [code]}
    for driver, managed in (("operator", True), ("aks", True), ("grid", False), ("", False)):
        node = {"metadata": {"labels": {"physical-ai/gpu-driver": driver} if driver else {}}}
        found = [
            all(evaluate(rule["expression"], {"event": event, "node": node}) for rule in each["match"]["all"])
            for each in values("health.mode=taint", STORE)["fault-quarantine"]["ruleSets"]
        ]
        assert any(found) is (leaves and managed), driver


WRONG = [
    ((AZURE, "health.mode=taint"), "health.datastoreSecret", "has none", "datastoreSecret"),
    ((AZURE, "health.mode=drain"), "health.datastoreSecret", "has none", "mode: detect"),
    (("health.mode=taint", STORE), "health.mode", "no alert reports it", "monitoring.metrics"),
    ((AZURE, "health.mode=quarantine"), "health.mode", "not possible", "taint, drain"),
    (
        (AZURE, "health.mode=taint", STORE, "pools.h100gpu=null", "osmo.defaultPlatform=null"),
        "health.mode",
        "no node to act on",
        "mode: detect",
    ),
]


@pytest.mark.parametrize(("assignments", "path", "problem", "fix"), WRONG)
def test_what_cannot_work_is_an_error_with_its_path(
    assignments: tuple[str, ...], path: str, problem: str, fix: str
) -> None:
    if any("null" in each for each in assignments):
        with pytest.raises(SettingsError) as caught:
            load("dev-westus2", [Overlay.assign(assignments)])
        found = caught.value.faults
    else:
        found = errors(*assignments)
    assert any(path in fault.where and problem in fault.problem and fix in (fault.fix or "") for fault in found), [
        str(fault) for fault in found
    ]


@pytest.mark.parametrize(
    ("assignments", "problem"),
    [
        (("monitoring.metrics=none", "health.mode=detect"), "no alert reports them"),
        ((AZURE, "health.mode=detect", STORE), "has no effect"),
        ((AZURE, "health.mode=taint", STORE, "pools.h100gpu.scale={min: 0, initial: 0}"), "is restarted"),
    ],
)
def test_what_is_doubtful_is_a_warning(assignments: tuple[str, ...], problem: str) -> None:
    warnings = load("dev-westus2", [Overlay.assign([ALWAYS, *assignments])]).warnings
    assert any(problem in each.problem for each in warnings), [str(each) for each in warnings]


def test_the_datastore_s_secret_has_to_exist() -> None:
    loaded = dev("health.mode=taint", STORE)
    (fault,) = secret_faults(loaded, [])
    assert (fault.where, "no secret 'store'" in fault.problem) == ("health.datastoreSecret", True)
    assert secret_faults(loaded, ["store"]) == []


def test_limits_have_a_binding_for_each_pool_that_may_lose_a_node() -> None:
    found = health_limits(dev("health.mode=taint", STORE).settings)
    bindings = [each["metadata"]["name"] for each in found if each["kind"].endswith("Binding")]
    assert bindings == [
        "nvsentinel-one-node-h100gpu",
        "nvsentinel-one-repair-h100gpu",
        "nvsentinel-nodes",
        "nvsentinel-no-eviction",
    ]
    of_nodes = next(each for each in found if each["metadata"]["name"] == "nvsentinel-nodes")
    assert {"name": "pools", "expression": '["h100gpu"]'} in of_nodes["spec"]["variables"]


def test_where_nothing_acts_no_pool_may_lose_a_node() -> None:
    found = health_limits(dev("health.mode=detect").settings)
    assert not any(each["metadata"]["name"].endswith("-h100gpu") for each in found)
    of_nodes = next(each for each in found if each["metadata"]["name"] == "nvsentinel-nodes")
    assert {"name": "pools", "expression": "[]"} in of_nodes["spec"]["variables"]


def taints(*items: tuple[str, str]) -> dict[str, Any]:
    """A node of the pool with these taints, each a key and an effect."""
    spec = {"taints": [{"key": key, "effect": effect} for key, effect in items]} if items else {}
    return {"metadata": {"name": "node", "labels": {"agentpool": "h100gpu"}}, "spec": spec}


@in_one_test(
    ("before", "after", "refused"),
    [
        (taints(), taints(("gpu-fault", "NoExecute")), True),
        (taints(("gpu-fault", "NoSchedule")), taints(("gpu-fault", "NoExecute")), True),
        (taints(("lost", "NoExecute")), taints(("lost", "NoExecute"), ("gpu-fault", "NoExecute")), True),
        (taints(), taints(("gpu-fault", "NoSchedule")), False),
        (taints(("lost", "NoExecute")), taints(("lost", "NoExecute")), False),
        (taints(("lost", "NoExecute")), taints(), False),
    ],
)
@in_one_test("mode", [["detect"], ["taint", STORE], ["drain", STORE]], ids=lambda given: given[0])
def test_no_mode_lets_nvsentinel_set_a_taint_that_ends_pods(
    mode: list[str], before: dict[str, Any], after: dict[str, Any], refused: bool
) -> None:
    limits = Admission(health_limits(dev(f"health.mode={mode[0]}", *mode[1:]).settings))
    found = [
        limits.refusal(Request("UPDATE", "nodes", [group], after, before), {"Node": [before], "ConfigMap": []})
        for group in ("system:serviceaccounts:nvsentinel", "system:serviceaccounts:kube-system")
    ]
    assert found == ["nvsentinel-nodes" if refused else "", ""]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("global: {preflight: {enabled: true}}", "The program sets global.preflight itself"),
        ("janitor: {csp: {provider: azure}}", "nodes are repaired with `physai node replace`"),
        ("fault-quarantine: {circuitBreaker: {percentage: 90}}", "The program sets fault-quarantine.circuitBreaker"),
        ("node-drainer: {userNamespaces: []}", "The program sets node-drainer.userNamespaces"),
        ("global: {faultQuarantineModule: {enabled: true}}", "removed"),
        ("labeller: {replicaCount: 1}", "no key labeller"),
    ],
)
def test_a_wrong_key_of_the_values_file_is_an_error(text: str, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "values" / FILE
    file.parent.mkdir(parents=True)
    file.write_text(text)
    _, faults = nvsentinel_plan(dev("health.mode=taint", STORE).settings, tmp_path / "values")
    assert any(problem in fault.problem and fault.is_error for fault in faults), [str(each) for each in faults]


def test_the_values_file_has_no_faults() -> None:
    _, faults = nvsentinel_plan(dev("health.mode=drain", STORE).settings, PARTS)
    assert faults == []
