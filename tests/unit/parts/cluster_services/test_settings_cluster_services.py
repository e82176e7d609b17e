"""Longhorn and MetalLB: off by default, values from settings, and the rules that keep them from harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from parts.cluster_services.model import bounds
from parts.cluster_services.plan import cluster_services_plan
from parts.part import ReleasePlan
from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.compat import check_chart
from physical_ai.settings import Loaded, Overlay, SettingsError, load

LONGHORN: dict[str, Any] = {"storage": {"longhorn": {"defaultClass": False}}}
METALLB: dict[str, Any] = {"loadBalancer": {"metallb": {"addresses": ["192.168.7.10-192.168.7.20", "192.168.8.0/28"]}}}


def loaded(given: dict[str, Any]) -> Loaded:
    return load("dev-westus2", [Overlay("--set", given)])


def releases(given: dict[str, Any]) -> tuple[ReleasePlan, ...]:
    return loaded(given).plan.parts["cluster_services"].releases


def problems(given: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SettingsError) as caught:
        loaded(given)
    return {fault.where: fault.problem for fault in caught.value.faults}


def longhorn(**given: Any) -> dict[str, Any]:
    return {"storage": {"longhorn": {"defaultClass": False, **given}}}


def metallb(*addresses: str, **given: Any) -> dict[str, Any]:
    return {"loadBalancer": {"metallb": {"addresses": list(addresses), **given}}}


def test_neither_is_installed_unless_asked_for() -> None:
    assert "cluster_services" not in loaded({}).plan.parts


def test_longhorn_follows_the_settings() -> None:
    (plan,) = releases(longhorn(replicas=2, nodes=4, dataPath="/srv/longhorn"))
    assert (plan.chart.name, plan.chart.version, plan.namespace) == ("longhorn", "1.7.2", "longhorn-system")
    assert plan.values["persistence"] == {
        "defaultClass": False,
        "defaultClassReplicaCount": 2,
        "reclaimPolicy": "Delete",
    }
    settings = plan.values["defaultSettings"]
    assert (settings["defaultReplicaCount"], settings["defaultDataPath"]) == (2, "/srv/longhorn")
    assert settings["createDefaultDiskLabeledNodes"] is True
    assert settings["deletingConfirmationFlag"] is False
    assert settings["upgradeChecker"] is False  # of the file
    assert settings["taintToleration"].startswith("node-role.kubernetes.io/control-plane:NoSchedule;nvidia.com/gpu:")
    keys = {each["key"] for each in plan.values["longhornManager"]["tolerations"]}
    assert {"node-role.kubernetes.io/control-plane", "nvidia.com/gpu"} <= keys
    (snapshots,) = plan.objects
    assert (snapshots["kind"], snapshots["driver"]) == ("VolumeSnapshotClass", "driver.longhorn.io")
    (without,) = releases(longhorn(snapshots=False))
    assert without.objects == ()


def test_metallb_announces_by_arp_and_has_the_pool() -> None:
    (plan,) = releases({**METALLB})
    assert (plan.chart.name, plan.chart.version, plan.namespace) == ("metallb", "0.15.3", "metallb-system")
    assert plan.values["frrk8s"] == {"enabled": False}
    assert plan.values["speaker"]["frr"] == {"enabled": False}
    pool, advertisement = plan.objects
    assert pool["spec"]["addresses"] == METALLB["loadBalancer"]["metallb"]["addresses"]
    assert advertisement["spec"] == {"ipAddressPools": [pool["metadata"]["name"]]}
    limited = metallb("192.168.8.0/28", interfaces=["bond0"])
    (other,) = releases(limited)
    assert other.objects[1]["spec"]["interfaces"] == ["bond0"]


def test_the_charts_are_among_those_that_are_pulled() -> None:
    charts = [(each.name, each.version) for each in loaded({**LONGHORN, **METALLB}).plan.charts]
    assert {("longhorn", "1.7.2"), ("metallb", "0.15.3")} <= set(charts)


@pytest.mark.parametrize(
    ("chart", "version", "values", "where"),
    [
        ("longhorn", "1.7.2", {"persistence": {"defaultClassReplicas": 3}}, "persistence.defaultClassReplicas"),
        ("longhorn", "1.7.2", {"persistence": {"reclaimPolicy": "Recycle"}}, "persistence.reclaimPolicy"),
        ("longhorn", "1.7.2", {"enableUI": False}, "enableUI"),
        ("metallb", "0.15.3", {"configInline": {"address-pools": []}}, "configInline"),
        ("metallb", "0.15.3", {"speaker": {"tolerations": [], "hostNetwork": True}}, "speaker.hostNetwork"),
    ],
)
def test_keys_that_a_chart_ignores_are_refused(chart: str, version: str, values: dict[str, Any], where: str) -> None:
    found = [each.where for each in check_chart(chart, version, values) if each.severity == "error"]
    assert found == [where]


def test_a_file_may_not_set_what_follows_from_settings(tmp_path: Path) -> None:
    for chart, text in (
        ("longhorn", "defaultSettings: {deletingConfirmationFlag: true}"),
        ("metallb", "frrk8s: {enabled: true}"),
    ):
        folder = tmp_path / "cluster_services"
        folder.mkdir(exist_ok=True)
        (folder / f"{chart}-values.yaml").write_text(text)
    plan, faults = cluster_services_plan(loaded({**LONGHORN, **METALLB}).settings, tmp_path)
    assert [(fault.where, fault.fix) for fault in faults] == [
        ("defaultSettings.deletingConfirmationFlag", "Set storage.longhorn.deletable instead."),
        ("frrk8s.enabled", "Leave it out: addresses are announced by ARP."),
    ]
    assert plan is not None
    assert plan.release("longhorn").values["defaultSettings"]["deletingConfirmationFlag"] is False


def test_more_replicas_than_nodes_are_refused() -> None:
    found = problems(longhorn(replicas=4, nodes=3))
    assert "4 replicas need as many nodes" in found["storage.longhorn.replicas"]
    assert loaded(longhorn(replicas=3, nodes=3))


def test_a_single_replica_is_doubtful() -> None:
    assert "storage.longhorn.replicas" in {each.where for each in loaded(longhorn(replicas=1)).warnings}


def test_azure_never_gets_a_second_default_class() -> None:
    found = loaded(longhorn(defaultClass=True))
    problem = {each.where: each.problem for each in found.warnings}["storage.longhorn.defaultClass"]
    assert "default StorageClass already" in problem
    with pytest.raises(SettingsError, match="default StorageClass already"):
        found.for_azure()


def test_nri_is_refused_where_the_runtime_is_cri_o() -> None:
    assert loaded({"gpuOperator": {"runtime": "crio"}})
    found = problems({"gpuOperator": {"runtime": "crio", "nri": True}})
    assert "works with containerd only" in found["gpuOperator.nri"]


@pytest.mark.parametrize(
    ("given", "where", "what"),
    [
        (metallb("10.40.0.200-10.40.0.210"), "addresses[0]", "network.addressSpace"),
        (metallb("192.168.9.0/28", "10.244.7.0/28"), "addresses[1]", "network.podCidr"),
        (metallb("192.168.9.0/28", avoid=["192.168.9.8/30"]), "addresses[0]", "loadBalancer.metallb.avoid"),
        (metallb("192.168.9.0/28", "192.168.9.15-192.168.9.30"), "addresses[1]", "MetalLB refuses both"),
        (metallb("192.168.9.20-192.168.9.10"), "addresses[0]", "not a range"),
        (metallb("192.168.9.300/28"), "addresses[0]", "not a range"),
        (metallb("192.168.9.3/28"), "addresses[0]", "not a range"),
    ],
)
def test_addresses_that_are_in_use_are_refused(given: dict[str, Any], where: str, what: str) -> None:
    found = problems(given)
    assert what in found[f"loadBalancer.metallb.{where}"]


def test_a_pool_needs_addresses() -> None:
    assert "a Service none" in problems(metallb())["loadBalancer.metallb.addresses"]


def test_azure_never_gets_metallb() -> None:
    found = loaded({**METALLB})
    assert "forward no ARP" in {each.where: each.problem for each in found.warnings}["loadBalancer.metallb"]
    with pytest.raises(SettingsError, match="forward no ARP"):
        found.for_azure()


@pytest.mark.parametrize("text", ["10.0.0.1-10.0.0.0", "10.0.0.0/33", "10.0.0.1/24", "a-b"])
def test_what_is_no_range_has_no_bounds(text: str) -> None:
    assert bounds(text) is None


def test_the_older_chart_of_prometheus_can_be_chosen() -> None:
    metrics = {"metrics": "kube-prometheus"}
    pins = [version for name, version in pinned_charts() if name == "kube-prometheus-stack"]
    for version in pins:
        plan = loaded({"monitoring": {**metrics, "kubePrometheusVersion": version}}).plan.parts["kube_prometheus"]
        assert plan.release("release").chart.version == version
    plan = loaded({"monitoring": metrics}).plan.parts["kube_prometheus"]
    assert plan.release("release").chart.version == pins[-1]
    assert "monitoring.kubePrometheusVersion" in problems(
        {"monitoring": {**metrics, "kubePrometheusVersion": "82.4.2"}}
    )
