"""A stack on a cluster that exists already: what it may have, and which of its classes cannot be."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.repository import STACKS
from physical_ai.settings import Loaded, Overlay, SettingsError, load
from physical_ai.settings.facts.gpu import gpu_resources
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.osmo import platforms
from physical_ai.settings.facts.pools import node_pools, pool_selector
from physical_ai.settings.models.base import NotAzure

LAB: Mapping[str, Any] = {
    "target": {"kind": "existing", "context": "lab"},
    "cluster": {"kubernetesVersion": "1.36"},
    "cpuPool": {
        "sku": "cpu-server",
        "nodeSelector": {"node-role.kubernetes.io/control-plane": ""},
        "tolerate": ["node-role.kubernetes.io/control-plane:NoSchedule"],
        "scale": {"count": 3},
    },
    "pools": {
        "b200": {
            "sku": "hgx-b200",
            "nodeSelector": {"example.com/server": "hgx-b200"},
            "driver": {"source": "operator"},
            "scale": {"count": 1},
        },
        "rtxpro": {
            "sku": "rtx-pro-server",
            "nodeSelector": {"example.com/server": "rtx-pro-server"},
            "driver": {"source": "host"},
            "scale": {"count": 2},
        },
    },
}


@pytest.fixture
def stacks(tmp_path: Path) -> Path:
    root = tmp_path / "stacks"
    shutil.copytree(STACKS, root)
    config = {f"physical-ai:{key}": value for key, value in LAB.items()}
    (root / "Pulumi.any-lab.yaml").write_text(yaml.safe_dump({"config": config}))
    return root


def loaded(root: Path, change: Mapping[str, Any] | None = None, stack: str = "any-lab") -> Loaded:
    return load(stack, [Overlay("change", change or {})], root)


def faults(root: Path, change: Mapping[str, Any], stack: str = "any-lab") -> dict[str, str]:
    with pytest.raises(SettingsError) as refused:
        loaded(root, change, stack)
    return {fault.where.removeprefix("physical-ai:"): f"{fault.problem} {fault.fix}" for fault in refused.value.faults}


def test_pools_are_classes_of_nodes(stacks: Path) -> None:
    settings = loaded(stacks).settings
    assert list(node_pools(settings)) == ["cpu", "b200", "rtxpro"]
    per_node = {name: gpu_resources(pool)["nvidia.com/gpu"] for name, pool in settings.pools.items()}
    assert sum(per_node[name] * settings.pools[name].scale.most for name in per_node) == 24
    assert pool_selector("b200", settings.pools["b200"]) == {"agentpool": "b200"}
    labels = pool_labels("rtxpro", settings.pools["rtxpro"])
    assert labels["nvidia.com/gpu.deploy.driver"] == "pre-installed"
    assert {item.name: item.pool for item in platforms(settings)} == {"cpu": "cpu", "b200": "b200", "rtxpro": "rtxpro"}


def test_services_tolerate_the_taints_of_their_nodes_in_every_chart(stacks: Path) -> None:
    plan = loaded(
        stacks,
        {
            "osmo": {"mode": "platform", "login": "dev", "access": {"login": "dev"}},
            "dataServices": {"source": "inCluster"},
            "monitoring": {"metrics": "kube-prometheus", "traces": {"endpoint": "https://otlp.contoso.com"}},
            "health": {"mode": "detect"},
        },
    ).plan
    prometheus = plan.parts["kube_prometheus"].release("release").values
    assert plan.control_plane is not None
    releases = [
        plan.gpu.values["operator"],
        plan.gpu.values["node-feature-discovery"]["master"],
        *(release.values["global"] for release in plan.osmo),
        plan.control_plane.values["services"]["router"],
        prometheus["prometheusOperator"],
        prometheus["prometheus"]["prometheusSpec"],
        prometheus["grafana"],
        prometheus["kube-state-metrics"],
        plan.parts["traces"].release("release").values,
    ]
    toleration = {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}
    assert all(each["tolerations"] == [toleration] for each in releases)
    assert all(each["nodeSelector"] == {"agentpool": "cpu"} for each in releases)
    assert plan.parts["nvsentinel"].release("release").values["global"]["systemNodeTolerations"] == [toleration]


def test_what_only_azure_has_is_refused_by_name(stacks: Path) -> None:
    found = faults(
        stacks,
        {
            "network": {
                "addressSpace": "10.0.0.0/8",
                "systemSubnet": "10.0.0.0/24",
                "podCidr": "10.244.0.0/16",
                "serviceCidr": "10.245.0.0/16",
                "dnsServiceIp": "10.245.0.10",
            },
            "access": {"deployers": [{"principalId": "00000000-0000-0000-0000-000000000001"}]},
            "tags": {"a": "b"},
            "systemPool": {"sku": "Standard_D4ds_v5", "scale": {"count": 1}},
            "cluster": {"tier": "Standard"},
            "monitoring": {"metrics": "azure"},
            "dataServices": {"source": "azure"},
            "pools": {"b200": {"subnet": "10.0.1.0/24", "priority": "Spot", "zones": ["1"]}},
        },
    )
    assert set(found) == {
        "network",
        "access",
        "tags",
        "systemPool",
        "cluster.tier",
        "monitoring.metrics",
        "dataServices.source",
        "pools.b200.subnet",
        "pools.b200.priority",
        "pools.b200.zones",
    }
    assert all("cluster exists already" in text for text in found.values())


def test_a_stack_on_azure_has_no_classes(stacks: Path) -> None:
    change = {"pools": {"h100gpu": {"nodeSelector": {"a": "b"}}}}
    assert "no effect" in faults(stacks, change, "dev-westus2")["pools.h100gpu.nodeSelector"]


def test_a_stack_on_azure_has_no_context(stacks: Path) -> None:
    assert "one that exists" in faults(stacks, {"target": {"context": "lab"}}, "dev-westus2")["target"]


def test_a_stack_on_azure_needs_its_own_sections(stacks: Path) -> None:
    found = faults(stacks, {"network": None, "pools": {"h100gpu": {"subnet": None}}}, "dev-westus2")
    assert found["network"].startswith("'network' is missing.")
    assert found["pools.h100gpu.subnet"].startswith("'subnet' is missing.")


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"pools": {"b200": {"sku": "hgx-b100"}}}, "pools.b200.sku", "servers.yaml"),
        ({"pools": {"b200": {"sku": "Standard_NC40ads_H100_v5"}}}, "pools.b200.sku", "servers.yaml"),
        ({"pools": {"b200": {"sku": "cpu-server"}}}, "pools.b200.sku", "has no GPU"),
        ({"pools": {"b200": {"driver": {"source": "aks"}}}}, "pools.b200.driver.source", "operator, host"),
        (
            {"pools": {"b200": {"driver": {"source": "host", "version": "580.82.07"}}}},
            "pools.b200.driver.version",
            "no",
        ),
        ({"pools": {"b200": {"scale": {"count": 0}}}}, "pools.b200.scale.count", "at least one"),
        ({"pools": {"b200": {"scale": {"count": None, "min": 0, "max": 2}}}}, "pools.b200.scale", "No autoscaler"),
        ({"pools": {"b200": {"nodeSelector": None}}}, "pools.b200.nodeSelector", "missing"),
        ({"pools": {"b200": {"nodeSelector": {"example.com/server": None}}}}, "pools.b200.nodeSelector", "every node"),
        ({"pools": {"b200": {"nodeSelector": {"agentpool": "x"}}}}, "pools.b200.nodeSelector.agentpool", "platform"),
        (
            {"pools": {"b200": {"nodeSelector": {"nvidia.com/gpu.present": "true"}}}},
            "pools.b200.nodeSelector",
            "comes and goes",
        ),
        (
            {"pools": {"b200": {"nodeSelector": {"example.com/server": "rtx-pro-server"}}}},
            "pools.b200.nodeSelector",
            "same nodes",
        ),
        ({"cpuPool": {"tolerate": ["control-plane"]}}, "cpuPool.tolerate[0]", "not a taint"),
        ({"target": {"context": None}}, "target.context", "happens to be selected"),
    ],
)
def test_what_a_class_cannot_be(stacks: Path, change: Mapping[str, Any], place: str, words: str) -> None:
    found = faults(stacks, change)
    assert any(where.startswith(place) and words in text for where, text in found.items()), found


def test_only_the_stack_file_has_a_target(stacks: Path) -> None:
    base = stacks / "layers/base.yaml"
    base.write_text(f"{base.read_text()}\ntarget: {{kind: existing, context: lab}}\n")
    found = faults(stacks, {}, "dev-westus2")
    assert "Write it in the stack file" in found["target"]


def test_settings_of_azure_cannot_be_read_by_mistake(stacks: Path) -> None:
    settings = loaded(stacks).settings
    with pytest.raises(NotAzure, match="network"):
        _ = settings.network
    with pytest.raises(NotAzure, match="tier"):
        _ = settings.cluster.tier


def test_a_class_of_run_ai_s_nodes_gets_no_second_scheduler(stacks: Path) -> None:
    label = "node-role.kubernetes.io/runai-gpu-worker"
    change: dict[str, Any] = {"pools": {"b200": {"nodeSelector": {label: "true"}}}, "osmo": {"mode": "backend"}}
    found = faults(stacks, change)
    assert list(found) == [f'pools.b200.nodeSelector["{label}"]']
    assert "Run:ai schedules on the nodes with this label" in found[f'pools.b200.nodeSelector["{label}"]']
    assert loaded(stacks, {**change, "osmo": {"mode": "namespaces"}}).settings.pools["b200"]
