"""For every fault, alone and in pairs: what is red is named by every command, and all of them advise the same."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from physical_ai.readiness.nodes.signs import Alert
from physical_ai.readiness.objects import EVICTION_TAINT
from physical_ai.readiness.workloads import Workloads, doctor, explain
from simulator.faults import faults
from tests.support import fault_table
from tests.support.cases import in_one_test
from tests.support.fault_signs import POOL, Seen, pool_source, with_faults
from tests.support.readiness_objects import NODE

ALONE = [(name,) for name in faults()]
PAIRS = [pair for pair in combinations(faults(), 2) if pool_source(pair) is not None]


def contradictions(seen: Seen) -> list[str]:
    """What a person would find wrong when reading the commands one after the other."""
    found: list[str] = []
    why = seen.why()
    named = " | ".join(sign for each in why for sign in (*each.signs, each.evidence))
    found += [f"why does not name {sign}" for sign in seen.red if sign not in named]
    for where, others in (("pool", seen.why(POOL)), ("doctor", seen.doctor)):
        missing = {each.cause for each in why} - {each.cause for each in others}
        found += [f"{where} does not name {each}" for each in missing]
    fixes = {each.cause: each.fix for each in why}
    for cause, fix in seen.gates:
        if fix not in fixes.values():
            found.append(f"gates advises of {cause}: {fix}")
    for each in seen.evidence.findings:
        if fixes.get(each.cause) != each.fix:
            found.append(f"evidence advises of {each.cause}: {each.fix}")
    remedies = {each.remedy for each in why if each.remedy}
    if remedies != ({seen.evidence.advice} - {"none"}):
        found.append(f"why advises {remedies}, evidence {seen.evidence.advice}")
    return found


@in_one_test("names", ALONE, ids=lambda names: names[0])
def test_a_fault_is_named_by_every_command_with_one_remedy(names: tuple[str, ...]) -> None:
    seen = with_faults(*names)
    assert seen.red
    assert contradictions(seen) == []
    assert len({each.remedy for each in seen.why()} - {""}) <= 1


@in_one_test("names", ALONE, ids=lambda names: names[0])
def test_what_is_red_without_a_prometheus_is_named_as_well(names: tuple[str, ...]) -> None:
    seen = with_faults(*names)
    without = Seen(replace(seen.given, alerts=None))
    assert contradictions(without) == []
    assert bool(without.why()) >= (bool(without.red) or bool(without.given.pods))


@pytest.mark.deep
def test_pairs_of_faults_are_named_with_one_remedy() -> None:
    found = {pair: wrong for pair in PAIRS if (wrong := contradictions(with_faults(*pair)))}
    assert found == {}


def test_without_a_fault_all_is_green() -> None:
    seen = with_faults()
    assert (seen.red, seen.why(), seen.why(POOL), seen.doctor, seen.gates) == (set(), [], [], [], [])
    assert seen.evidence.advice == "none"


def test_no_fix_is_empty_or_only_waits_beside_an_alert_that_waited() -> None:
    for names in ALONE:
        for each in with_faults(*names).why():
            assert each.fix
            assert not each.fix.startswith("Wait")


def test_the_table_of_faults_is_fresh() -> None:
    assert fault_table.FILE.read_text(encoding="utf-8") == fault_table.page(), "run python -m tests.support.fault_table"


@in_one_test(
    ("key", "cause"),
    [("ToBeDeletedByClusterAutoscaler", "node-scaled-down"), (EVICTION_TAINT, "node-evicted"), ("", "node-deleted")],
)
@in_one_test("alert", ["GPUTelemetryAbsent", "GPUNodeMissingGPUs", "GPUNodeConditionBad"])
def test_what_ends_with_a_node_that_is_removed_needs_no_repair(key: str, cause: str, alert: str) -> None:
    seen = with_faults()
    if key:
        seen.given.nodes[0]["spec"]["taints"].append({"key": key, "effect": "NoSchedule"})
    else:
        seen.given.nodes[0]["metadata"]["deletionTimestamp"] = "2026-11-27T10:00:00Z"
    given = replace(seen.given, reports=(), alerts=[Alert(alert, {"node": NODE}, "summary")])
    (one,) = explain(NODE, given)[1]
    assert (one.cause, one.alerts) == (cause, (alert,))
    assert contradictions(Seen(given)) == []


def gone(**labels: str) -> Workloads:
    alert = Alert("GPUXidNodeFault", {"xid": "79", **labels}, "GPU 0 of it reported Xid 79")
    return Workloads(alerts=[alert], stack="dev-westus2")


def test_a_node_that_is_only_in_prometheus_can_be_asked_for() -> None:
    title, found = explain("aks-gone-0", gone(node="aks-gone-0", gpu="0"))
    assert title == "node aks-gone-0"
    assert [each.cause for each in found] == ["xid-79"]
    assert [each.subjects for each in doctor(gone(node="aks-gone-0"))] == [("node aks-gone-0",)]


@pytest.mark.parametrize("key", ["job_name", "pod", "deployment"])
def test_what_an_alert_of_the_user_names_can_be_asked_for(key: str) -> None:
    alert = Alert("KubeJobFailed", {"namespace": "lab", key: "nightly"}, "Job lab/nightly failed to complete")
    for name in ("nightly", "lab/nightly"):
        title, (found,) = explain(name, Workloads(alerts=[alert]))
        assert title.endswith(name)
        assert (found.cause, "failed to complete" in found.reason) == ("alert-KubeJobFailed", True)
    assert [each.first.cause for each in doctor(Workloads(alerts=[alert]))] == ["alert-KubeJobFailed"]


def test_an_alert_about_the_cluster_is_in_the_doctor() -> None:
    alert = Alert("ClusterTelemetryAbsent", {"severity": "critical"}, "No node is reported", "Look at the add-on.")
    (found,) = doctor(Workloads(alerts=[alert]))
    assert (found.first.cause, found.first.fix) == ("alert-ClusterTelemetryAbsent", "Look at the add-on.")


def test_an_alert_that_fires_is_named_at_its_pod() -> None:
    seen = with_faults("idle-job")
    pod = {"metadata": {"name": "idle-job", "namespace": "default"}, "spec": {"nodeName": NODE, "containers": []}}
    running = {**pod, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    given = Workloads(nodes=seen.given.nodes, pods=[running], alerts=seen.given.alerts, stack="dev-westus2")
    assert "gpu-idle" in [each.cause for each in explain("default/idle-job", given)[1]]


def test_an_alert_about_a_pod_that_has_left_is_named_beside_another_cause_of_its_node() -> None:
    labels = {"agentpool": POOL, "nvidia.com/mig.config.state": "failed"}
    node = {"metadata": {"name": NODE, "labels": labels}, "spec": {}, "status": {}}
    alert = Alert("GPUAllocatedButIdle", {"node": NODE, "exported_namespace": "lab", "exported_pod": "train-0"}, "idle")
    title, (found,) = explain("train-0", Workloads(nodes=[node], alerts=[alert], stack="dev-westus2"))
    assert (title, found.cause, found.alerts) == ("pod train-0", "gpu-idle", ("GPUAllocatedButIdle",))


def test_an_alert_about_a_pod_is_not_hidden_by_the_same_alert_of_another_node() -> None:
    """Of a Pod that nothing places on the node, the node's cause explains nothing."""
    seen = with_faults("idle-job")
    other = Alert("GPUAllocatedButIdle", {"exported_namespace": "lab", "exported_pod": "train-7"}, "idle for an hour")
    given = replace(seen.given, alerts=[*(seen.given.alerts or ()), other])
    assert "pod lab/train-7" in [name for each in doctor(given) for name in each.subjects]
