"""The reference on premises, value for value: rendered, checked, or among what no setting can express."""

from __future__ import annotations

import datetime
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from parts.in_cluster_data.plan import in_cluster_objects
from physical_ai.catalog import machine, server
from physical_ai.catalog.hardware import on_premises
from physical_ai.findings import Severity
from physical_ai.repository import ROOT
from physical_ai.settings import STACKS, Loaded, Overlay, SettingsError, load
from physical_ai.settings.rules.compat import judge
from tests.support import existing_cluster as world
from tests.support.cases import in_one_test
from workbench.preflight.existing import Wanted, judge_cluster

RECORD, NOW = "onprem-2026-03", "onprem"
DOCUMENT = (ROOT / f"docs/decisions/{RECORD}.md").read_text()
DEVIATIONS = DOCUMENT.partition("### What no setting can express")[2]
SITE: dict[str, Any] = {
    # A stack with a control plane of its own. Its pools stand for classes of nodes.
    "cluster": {"upgrades": {"channel": "none"}},
    "dataServices": {"postgres": None, "redis": None, "source": "inCluster"},
    "loadBalancer": {"metallb": {"addresses": ["192.168.9.10-192.168.9.20"]}},
    "pools": {"h100gpu": {"driver": {"moduleParameters": {"nvidia-uvm": {"uvm_disable_hmm": "1"}}}}},
}


def loaded(profile: str) -> Loaded:
    return load("dev-southeastasia", [Overlay("--set", {"profile": profile, **SITE})])


@pytest.fixture(scope="module")
def record() -> Loaded:
    return loaded(RECORD)


UVM = {"nvidia-uvm": {"uvm_disable_hmm": "1"}}


def on_site(root: Path, profile: str) -> Loaded:
    """A stack on an existing cluster with the reference's classes of nodes."""
    stacks = Path(shutil.copytree(STACKS, root / profile))
    (stacks / "Pulumi.reference-lab.yaml").write_text("config: {}\n")
    # One ClusterPolicy has one set of parameters.
    hgx = {"moduleParameters": UVM} if profile == RECORD else {}
    given = {
        "profile": profile,
        "target": {"kind": "existing", "context": "lab"},
        "cpuPool": {"sku": "rtx-pro-server", "scale": {"count": 3}, "nodeSelector": {"site/role": "services"}},
        "loadBalancer": {"metallb": {"addresses": ["10.0.9.200-10.0.9.220"], "avoid": ["10.233.0.0/16"]}},
        "pools": {
            "hgx": {
                "sku": "hgx-b200",
                "driver": {"source": "operator", **hgx},
                "scale": {"count": 1},
                "nodeSelector": {"site/server": "hgx"},
            },
            "rtx": {
                "sku": "rtx-pro-server",
                "driver": {"source": "operator", "moduleParameters": UVM},
                "scale": {"count": 2},
                "nodeSelector": {"site/server": "rtx"},
            },
        },
    }
    return load("reference-lab", [Overlay("--set", given)], stacks)


@pytest.mark.parametrize(("profile", "version"), [(RECORD, "v25.7.0"), (NOW, "v26.7.0")])
def test_on_a_cluster_of_its_own_the_reference_is_complete(tmp_path: Path, profile: str, version: str) -> None:
    found = on_site(tmp_path, profile)
    pools = found.settings.pools
    gpus = [(machine(pool.sku).gpu, pool.scale.most) for pool in pools.values()]
    assert sum(gpu.count * count for gpu, count in gpus if gpu is not None) == 24
    assert not {each.where for each in found.warnings} & {"storage.longhorn.defaultClass", "loadBalancer.metallb"}
    network = found.plan.parts["network_operator"]
    operator, policy = network.releases[0], network.after[0]["spec"]
    assert (operator.chart.version, operator.values["nfd"]) == (version, {"enabled": False})
    assert "ofedDriver" not in policy
    assert {"multus", "cniPlugins"} <= set(policy["secondaryNetwork"])
    assert policy["nvIpam"]["version"].endswith(version)
    pool = found.plan.parts["cluster_services"].release("metallb").objects[0]
    assert pool["spec"]["addresses"] == ["10.0.9.200-10.0.9.220"]
    maps = found.plan.gpu.config_maps
    parameters = {name for name, files in maps.items() if files.get("nvidia-uvm.conf") == "uvm_disable_hmm=1\n"}
    assert parameters == ({"gpu-driver-modules"} if profile == RECORD else {"gpu-driver-modules-rtx"})
    assert set(found.plan.gpu.drivers) == (set() if profile == RECORD else {"hgx", "rtx"})


def release(found: Loaded, name: str) -> dict[str, Any]:
    return dict(found.plan.parts["cluster_services"].release(name).values)


def test_charts_are_those_of_the_reference(record: Loaded) -> None:
    charts = {each.name: each.version for each in record.plan.charts}
    assert charts["gpu-operator"] == "v25.3.4"
    assert charts["longhorn"] == "1.7.2"
    assert charts["metallb"] == "0.15.3"
    assert charts["kube-prometheus-stack"] == "82.4.3"


def test_the_gpu_operator_has_the_reference_s_components_and_driver(record: Loaded) -> None:
    plan = record.plan.gpu
    values = plan.values
    assert not plan.drivers  # one ClusterPolicy
    assert values["driver"]["version"] == "580.82.07"
    assert values["cdi"] == {"enabled": False}
    for operand in ("devicePlugin", "dcgmExporter", "gfd", "toolkit"):
        assert values.get(operand, {}).get("enabled", True) is True  # the chart's default
    name = values["driver"]["kernelModuleConfig"]["name"]
    assert plan.config_maps[name] == {"nvidia-uvm.conf": "uvm_disable_hmm=1\n"}


def test_longhorn_is_the_default_class_with_three_replicas_and_snapshots(record: Loaded) -> None:
    values = release(record, "longhorn")
    assert values["persistence"]["defaultClass"] is True
    assert values["persistence"]["defaultClassReplicaCount"] == 3
    assert "node-role.kubernetes.io/control-plane" in values["defaultSettings"]["taintToleration"]
    plan = record.plan.parts["cluster_services"].release("longhorn")
    assert [each["kind"] for each in plan.objects] == ["VolumeSnapshotClass"]


def test_state_and_data_of_osmo_are_on_longhorn_s_volumes(record: Loaded) -> None:
    objects = in_cluster_objects(record.settings)
    assert objects is not None
    assert {each["spec"]["storageClassName"] for each in objects.claims} == {"longhorn"}
    assert len(objects.claims) == 3
    assert objects.snapshots is not None
    assert objects.snapshots.snapshot_class is None  # Longhorn's own, which its release brings
    assert "longhorn-snapshots" in str(objects.snapshots)


def judged(given: Any) -> set[tuple[str, Severity]]:
    settings = loaded(NOW).settings
    pools = {
        world.B200: settings.pools["h100gpu"].model_copy(update={"sku": "hgx-b200"}),
        world.RTX: settings.pools["h100gpu"].model_copy(update={"sku": "rtx-pro-server"}),
    }
    wanted = settings.model_copy(update={"pools": pools})
    selectors = {name: {"physical-ai/class": name} for name in pools}
    found = judge_cluster(Wanted(wanted, selectors), given, datetime.date(2025, 11, 20))
    return {(each.rule, each.severity) for each in found}


NODES: list[Any] = world.reference()["nodes"]
INFO = "status/nodeInfo"


def test_what_is_installed_outside_the_stack_is_in_the_catalogue() -> None:
    reference, hgx, rtx = on_premises(), server("hgx-b200"), server("rtx-pro-server")
    assert (reference.os, reference.os_release) == ("Ubuntu", "24.04")
    assert reference.kernels == ("6.8.0-84", "6.8.0-85")
    assert (reference.installer.name, reference.installer.version) == ("Kubespray", "2.28.0")
    assert (reference.kubernetes, reference.containerd, reference.cuda) == ("1.32.5", "2.0.5", "13.0")
    assert (reference.control_planes, reference.virtual_ip) == (3, "kube-vip")
    assert reference.runai_kubernetes == ("1.30", "1.33")
    assert hgx.firmware is not None
    assert (hgx.firmware.tool, hgx.firmware.bundle) == ("nvfwupd 2.0.8", "25.09.1")
    assert hgx.firmware.vbios == "97.00.6E.00.07"
    assert [(each.shape, each.gpu.count if each.gpu else 0) for each in (hgx, rtx)] == [
        ("2-8-9-400", 8),
        ("2-8-5-200", 8),
    ]


WRONG: list[tuple[str, dict[str, Any], str, Severity]] = [
    ("kernel", {"nodes": world.changed(NODES, "hgx1", f"{INFO}/kernelVersion", "6.14.0-1")}, "kernel", Severity.INFO),
    ("system", {"nodes": world.changed(NODES, "hgx1", f"{INFO}/osImage", "Ubuntu 22.04")}, "system", Severity.WARNING),
    (
        "runtime",
        {"nodes": world.changed(NODES, "hgx1", f"{INFO}/containerRuntimeVersion", "x://1")},
        "runtime",
        Severity.ERROR,
    ),
    ("planes", {"nodes": NODES[1:]}, "control-plane", Severity.WARNING),
    ("etcd", {"system_pods": world.reference()["system_pods"][1:]}, "etcd", Severity.WARNING),
    ("kube-vip", {"system_pods": world.reference()["system_pods"][:3]}, "virtual-ip", Severity.UNKNOWN),
    ("rails", {"nodes": world.changed(NODES, "hgx1", "status/allocatable", {"rdma/a": "1"})}, "rails", Severity.ERROR),
    (
        "OFED",
        {"nodes": world.changed(NODES, "hgx1", "metadata/annotations", {"physical-ai/nic-driver": "5.8"})},
        "nic-driver",
        Severity.WARNING,
    ),
    (
        "firmware",
        {"nodes": world.changed(NODES, "hgx1", "metadata/annotations", {"physical-ai/firmware-bundle": "25.01"})},
        "firmware",
        Severity.WARNING,
    ),
    ("VBIOS", {"evidence": [world.evidence("hgx1", "97.00.00.00.01")]}, "vbios", Severity.WARNING),
    ("GPUs", {"nodes": [*NODES[:4], world.rtx(1, labels={"nvidia.com/gpu.count": "7"})]}, "gpu", Severity.ERROR),
    ("Run:ai", {"deployments": [world.named("runai-scheduler", "runai")]}, "scheduler", Severity.ERROR),
]


@in_one_test(("change", "rule", "severity"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_what_no_setting_holds_is_checked(change: dict[str, Any], rule: str, severity: Severity) -> None:
    assert (rule, severity) in judged(world.found(**change))
    assert f"`{rule}`" in DOCUMENT


def test_the_reference_s_cluster_passes_but_for_its_kubernetes() -> None:
    assert {each for each in judged(world.found(classes=[])) if each[1] is Severity.ERROR} == {
        ("operator", Severity.ERROR)
    }


STATED = (
    "24.04", "6.8.0-84", "6.8.0-85", "Kubespray 2.28.0", "1.32.5", "containerd 2.0.5", "kube-vip", "580.82.07", "13.0",
    "v25.3.4", "uvm_disable_hmm=1", "Network Operator v25.7.0", "OFED", "OVS", "Multus", "nv-ipam", "Longhorn 1.7.2",
    "3 replicas", "82.4.3", "MetalLB 0.15.3", "nvfwupd 2.0.8", "25.09.1", "97.00.6E.00.07", "Run:ai", "1.30 to 1.33",
    "2-8-9-400", "2-8-5-200", "HGX B200", "RTX PRO",
)  # fmt: skip


@in_one_test("value", STATED)
def test_the_page_discusses_every_value(value: str) -> None:
    statements = DOCUMENT.partition("## Statements")[2].partition("## The profile")[0]
    assert value in statements


@pytest.mark.parametrize(
    "value",
    [
        "Kubespray 2.28.0",
        "containerd 2.0.5",
        "kube-vip",
        "6.8.0-84",
        "all rails to one switch",
        "nvfwupd 2.0.8",
        "Run:ai",
    ],
)
def test_what_is_not_rendered_is_a_deviation_with_its_reason(value: str) -> None:
    rows = [line for line in DEVIATIONS.splitlines() if line.startswith("|") and value in line.split("|")[1]]
    assert len(rows) == 1
    assert len(rows[0].split("|")[2].strip()) > 20


def leaves(data: Any, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Every value that a layer sets, as the document writes it."""
    if isinstance(data, dict) and data:
        for key, value in data.items():
            yield from leaves(value, f"{prefix}.{key}" if prefix else key)
    elif data is not None:
        yield prefix, str(data).lower() if isinstance(data, bool) else str(data)


def test_the_document_lists_every_value_of_the_profile_and_no_other() -> None:
    profile = yaml.safe_load((ROOT / f"stacks/layers/profile/{RECORD}.yaml").read_text())
    documented = re.findall(r"^\| `([\w.-]+)` \| `([^`]*)` \|$", DOCUMENT, re.MULTILINE)
    assert dict(documented) == dict(leaves(profile))
    assert len(documented) == len(dict(documented))


def test_a_record_is_never_deployed_to_azure(record: Loaded) -> None:
    with pytest.raises(SettingsError) as caught:
        record.for_azure()
    assert {"record", "cluster.kubernetesVersion"} <= {fault.where for fault in caught.value.faults}


def test_what_has_left_support_since_is_found() -> None:
    rules = {each.rule for each in judge(loaded(RECORD).settings, datetime.date(2026, 11, 23)) if each.is_error}
    assert {"operator-end-of-support", "kubernetes-end-of-support"} <= rules
    assert not [each for each in judge(loaded(NOW).settings, datetime.date(2026, 11, 23)) if each.is_error]


def test_the_profile_of_today_sets_what_the_record_sets() -> None:
    old, new = (yaml.safe_load((ROOT / f"stacks/layers/profile/{each}.yaml").read_text()) for each in (RECORD, NOW))
    assert not new.get("record")
    assert set(dict(leaves(old))) - {"record", "gpuOperator.migStrategy"} == set(dict(leaves(new)))
    assert new["storage"] == old["storage"]
    assert new["dataServices"] == old["dataServices"]
