"""Comparison of a recording with the beliefs: planted differences are found, exactly these, each with its home."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from physical_ai.catalog import seen, tolerated
from simulator.azure.nodes import capacity
from tests.support.cases import in_one_test
from tests.support.recorded_cluster import AT, STACK
from workbench.cli.main import run
from workbench.recordings.comparing import ABSENT, TOLERATED, Difference, differences
from workbench.recordings.form import Entry
from workbench.recordings.learning import new_rows, tolerated_row, written
from workbench.recordings.making import head, made
from workbench.recordings.reading import Recording, read
from workbench.recordings.writing import write

SIZE = "Standard_NC40ads_H100_v5"
SUBSCRIPTION = "/subscriptions/3f2b8c1e-9a4d-4f6e-8b7a-112233445566/resourceGroups/rg/providers"
POOL = f"{SUBSCRIPTION}/Microsoft.ContainerService/managedClusters/aks/agentPools/h100gpu"
GATEWAY = f"{SUBSCRIPTION}/Microsoft.Network/natGateways/ng"
Plant = Callable[[list[Entry]], object]


def node(number: int, gpus: str = "1") -> dict[str, Any]:
    name = f"aks-h100gpu-19345786-vmss00000{number}"
    return {
        "metadata": {"name": name, "uid": str(number), "labels": {
            "agentpool": "h100gpu", "kubernetes.azure.com/agentpool": "h100gpu", "kubernetes.azure.com/sku-cpu": "40",
            "node.kubernetes.io/instance-type": SIZE, "kubernetes.io/hostname": name, "nvidia.com/gpu.count": "1",
        }},
        "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
        "status": {
            "capacity": {"cpu": "40", "memory": "335544320Ki", "nvidia.com/gpu": gpus},
            "allocatable": {"cpu": "39580m", "memory": "330000000Ki", "nvidia.com/gpu": gpus},
            "nodeInfo": {"kernelVersion": "6.8.0-1041-azure", "containerRuntimeVersion": "containerd://2.3.2"},
        },
    }  # fmt: skip


def workload(name: str, image: str) -> dict[str, Any]:
    spec = {"containers": [{"name": "main", "image": image}], "serviceAccountName": "gpu"}
    return {"metadata": {"name": name, "namespace": "gpu-operator"}, "spec": {"template": {"spec": spec}}}


def entries() -> list[Entry]:
    """A cluster of two nodes, with an operator and two resources of Azure."""
    pool = {"id": POOL, "properties": {"vmSize": SIZE, "maxPods": 110, "count": 2, "osDiskSizeGB": 128,
                                       "provisioningState": "Succeeded"}}  # fmt: skip
    gateway = {"id": GATEWAY, "etag": "a", "sku": {"name": "Standard"}, "properties": {"idleTimeoutInMinutes": 4}}
    definition = {"metadata": {"name": "clusterpolicies.nvidia.com"}, "spec": {"versions": [{"name": "v1"}]}}
    return copy.deepcopy([
        head(STACK, AT, "t", simulated=False),
        {"kind": "discovery", "path": "/version", "answer": {"major": "1", "minor": "36"}},
        {"kind": "list", "path": "/api/v1/nodes", "items": [node(0, "0"), node(1)]},
        {"kind": "list", "path": "/apis/apps/v1/deployments", "items": [workload("gpu-operator", "nvcr.io/o:1")]},
        {"kind": "list", "path": "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "items": [definition]},
        {"kind": "azure", "id": POOL, "type": "Microsoft.ContainerService/managedClusters/agentPools", "body": pool},
        {"kind": "azure", "id": GATEWAY, "type": "Microsoft.Network/natGateways", "body": gateway},
    ])  # fmt: skip


def recording(*plants: Plant) -> Recording:
    given = entries()
    for plant in plants:
        plant(given)
    return Recording(Path("it.gz"), made(given))


def at(given: list[Entry], kind: str, key: str) -> Any:
    return next(each for each in given if each["kind"] == kind and key in (each.get("path", ""), each.get("id", "")))


def nodes(given: list[Entry]) -> list[Any]:
    return at(given, "list", "/api/v1/nodes")["items"]


def body(given: list[Entry], id_: str) -> Any:
    return at(given, "azure", id_)["body"]


NODES = "simulator/azure/nodes.py"
AGENT_POOL = "Microsoft.ContainerService/managedClusters/agentPools h100gpu"
PLANTED: dict[str, tuple[Plant, Difference]] = {
    "less memory": (
        lambda given: [each["status"]["capacity"].update(memory="329000000Ki") for each in nodes(given)],
        Difference("size", SIZE, "capacity.memory", "335544320Ki", "329000000Ki", NODES),
    ),
    "other reservation": (
        lambda given: [each["status"]["allocatable"].update(cpu="39000m") for each in nodes(given)],
        Difference("size", SIZE, "allocatable.cpu", "39580m", "39000m", "simulator/azure/reservations.py"),
    ),
    "more CPUs": (
        lambda given: [each["status"]["capacity"].update(cpu="48") for each in nodes(given)],
        Difference("size", SIZE, "capacity.cpu", "40", "48", "physical_ai/catalog/data/vm_sizes.yaml"),
    ),
    "a new label": (
        lambda given: [
            each["metadata"]["labels"].update({"kubernetes.azure.com/nvme": "true"}) for each in nodes(given)
        ],
        Difference("node", "h100gpu", "labels.kubernetes.azure.com/nvme", ABSENT, "true", NODES),
    ),
    "a taint": (
        lambda given: [each["spec"].update(taints=[]) for each in nodes(given)],
        Difference("node", "h100gpu", "taints", ["nvidia.com/gpu=present:NoSchedule"], [], NODES),
    ),
    "a kernel": (
        lambda given: [each["status"]["nodeInfo"].update(kernelVersion="6.8.0-1050-azure") for each in nodes(given)],
        Difference("node", "h100gpu", "nodeInfo.kernelVersion", "6.8.0-1041-azure", "6.8.0-1050-azure",
                   "physical_ai/catalog/data/gpu/node_images.yaml"),
    ),
    "a value that Azure fills in": (
        lambda given: body(given, POOL)["properties"].update(kubeletDiskType="OS"),
        Difference("azure", AGENT_POOL, "properties.kubeletDiskType", ABSENT, "OS",
                   "physical_ai/catalog/data/tolerated_differences.yaml"),
    ),
    "a default that is another": (
        lambda given: body(given, GATEWAY)["properties"].update(idleTimeoutInMinutes=10),
        Difference("azure", "Microsoft.Network/natGateways ng", "properties.idleTimeoutInMinutes", 4, 10,
                   "simulator/azure/outputs.py"),
    ),
    "an object that is missing": (
        lambda given: at(given, "list", "/apis/apps/v1/deployments")["items"].append(workload("dcgm", "nvcr.io/d:2")),
        Difference("object", "deployments gpu-operator/dcgm", "containers.main.image", ABSENT, "nvcr.io/d:2",
                   "simulator/charts/data"),
    ),
    "a definition's version": (
        lambda given: at(given, "list", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions")["items"][0]["spec"][
            "versions"
        ].append({"name": "v2"}),
        Difference("definition", "clusterpolicies.nvidia.com", "versions", ["v1"], ["v1", "v2"],
                   "simulator/charts/data"),
    ),
    "a version of Kubernetes": (
        lambda given: at(given, "discovery", "/version")["answer"].update(minor="37+"),
        Difference("version", "Kubernetes", "minor", "1.36", "1.37", "physical_ai/catalog/data/kubernetes.yaml"),
    ),
}  # fmt: skip


def test_a_cluster_is_as_it_is_believed() -> None:
    assert differences(recording(), recording()) == []


@in_one_test("planted", PLANTED)
def test_a_planted_difference_is_found_and_nothing_else(planted: str) -> None:
    plant, expected = PLANTED[planted]
    found = differences(recording(plant), recording())
    if expected.about == "object":  # an object is more than one value
        assert {each.subject for each in found} == {expected.subject}
        assert expected in found
    else:
        assert found == [expected]


def test_all_planted_differences_together_are_found() -> None:
    found = differences(recording(*(plant for plant, _ in PLANTED.values())), recording())
    expected = {each for _, each in PLANTED.values() if each.about not in ("object", "node", "definition")}
    assert {(each.about, each.subject, each.path) for each in found} >= {
        (each.about, each.subject, each.path) for _, each in PLANTED.values()
    }
    assert expected <= {each for each in found if isinstance(each.seen, (str, int))}
    assert len(found) == len(PLANTED) + 2  # the missing object has two more values


def volatile(given: list[Entry]) -> None:
    for each in nodes(given):
        each["metadata"]["name"] = each["metadata"]["name"].replace("19345786", "77777777")
        each["metadata"]["labels"] |= {
            "kubernetes.io/hostname": each["metadata"]["name"],
            "kubernetes.azure.com/cluster": "MC_other",
            "topology.kubernetes.io/zone": "westus2-3",
            "nvidia.com/gpu.count": "2",
        }
    nodes(given).reverse()
    nodes(given).append({**node(2, "0"), "spec": nodes(given)[0]["spec"]})
    body(given, GATEWAY).update(etag="b")
    body(given, POOL)["properties"].update(count=5, provisioningState="Updating")
    for each in given:
        if each["kind"] == "azure":
            each["id"] = each["id"].replace("112233445566", "665544332211")
            each["body"]["id"] = each["id"]


def test_what_differs_between_any_two_clusters_is_no_difference() -> None:
    assert differences(recording(volatile), recording()) == []


def test_a_pool_or_a_size_that_only_one_has_is_no_difference() -> None:
    def without(given: list[Entry]) -> None:
        nodes(given).clear()
        given[:] = [each for each in given if each.get("id") != POOL]

    assert differences(recording(without), recording()) == []


@pytest.fixture
def catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copies of the two files that are written to, which the catalogue reads."""
    for module, name in ((seen, "seen.yaml"), (tolerated, "tolerated_differences.yaml")):
        copied = tmp_path / name
        copied.write_text(module.FILE.read_text())
        monkeypatch.setattr(module, "FILE", copied)
    forget()
    return tmp_path


def forget() -> None:
    seen.seen_facts.cache_clear()
    tolerated.tolerated_differences.cache_clear()


@pytest.fixture(autouse=True)
def forgotten() -> Any:
    yield
    forget()


def test_what_is_written_is_what_the_simulator_then_believes(catalogue: Path) -> None:
    plants = [PLANTED[each][0] for each in ("less memory", "a value that Azure fills in", "a new label")]
    given = recording(*plants)
    lines = written(new_rows(differences(given, recording()), given))
    assert lines == ["3 rows of seen.yaml", "1 rows of tolerated_differences.yaml"]
    forget()
    size = tolerated_size()
    assert capacity(size, {"osDiskSizeGB": 128, "maxPods": 110})[0]["memory"] == "329000000Ki"
    row = seen.seen_facts()[-1]
    assert (row.how, str(row.date)) == ("seen", "2026-11-28")
    assert row.source.startswith("recording of dev-westus2, ")
    found = tolerated.tolerated("azure-native:containerservice:AgentPool", "kubeletDiskType", "OS", tolerated.ABSENT)
    assert found is not None
    assert found.reason == "Azure fills it in"
    type_ = "azure-native:containerservice:AgentPool"
    assert tolerated.tolerated(type_, "kubeletDiskType", "Temporary", tolerated.ABSENT) is None
    assert tolerated.tolerated(type_, "kubeletDiskType", "OS", "Temporary") is None
    again = new_rows(differences(given, recording()), given)
    assert not again[seen.FILE]


def tolerated_size() -> Any:
    from physical_ai import catalog

    return catalog.vm_size(SIZE)


def test_what_protects_a_resource_is_never_tolerated_by_a_recording(catalogue: Path) -> None:
    cluster = "Microsoft.ContainerService/managedClusters aks"
    paths = (
        "properties.publicNetworkAccess",
        "properties.apiServerAccessProfile.authorizedIPRanges",
        "properties.fqdn",
    )
    found = [Difference("azure", cluster, each, ABSENT, "x", TOLERATED) for each in paths]
    rows = new_rows(found, recording())
    assert len(rows[seen.FILE]) == 3
    assert not [each for each in rows[tolerated.FILE] if "ccess" in each["path"]]
    before = (catalogue / "seen.yaml").stat().st_ino
    written(rows)
    assert (catalogue / "seen.yaml").stat().st_ino != before
    assert sorted(each.name for each in catalogue.iterdir()) == ["seen.yaml", "tolerated_differences.yaml"]


def test_facts_are_not_written_from_a_simulated_recording(
    tmp_path: Path, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "it.gz"
    given = recording().entries
    write([{**given[0], "simulated": True}, *given[1:]], file)
    assert run(["compare", str(file), "--against", str(file), "--write"]) == 2
    assert "of a simulated cluster" in capsys.readouterr().err


def test_a_path_below_an_input_is_the_path_of_the_input() -> None:
    cluster = "Microsoft.ContainerService/managedClusters aks"
    given = Difference("azure", cluster, "properties.networkProfile.ipFamilies", ABSENT, ["IPv4"], "")
    row = tolerated_row(given, "a recording", "2026-11-28")
    assert row is not None
    assert (row["type"], row["path"]) == (
        "azure-native:containerservice:ManagedCluster", r"networkProfile\.ipFamilies")  # fmt: skip
    assert tolerated_row(Difference("azure", "Microsoft.X/y z", "a", ABSENT, 1, ""), "s", "2026-11-28") is None


def test_the_command_lists_the_differences_and_ends_with_three(
    tmp_path: Path, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / each for each in ("seen.gz", "believed.gz")]
    for file, given in zip(files, (recording(PLANTED["more CPUs"][0]), recording()), strict=True):
        write(given.entries, file)
    command = ["compare", str(files[0]), "--against", str(files[1])]
    assert run(command) == 3
    printed = capsys.readouterr().out
    assert "physical_ai/catalog/data/vm_sizes.yaml" in printed
    assert "1 differences" in printed
    assert run([*command, "--json", "--write"]) == 3
    document = json.loads(capsys.readouterr().out)
    assert [each["seen"] for each in document["differences"]] == ["48"]
    assert document["written"] == ["1 rows of seen.yaml"]
    [row] = yaml.safe_load((catalogue / "seen.yaml").read_text())
    assert row["seen"] == "48"
    assert run(["compare", str(files[1]), "--against", str(files[1])]) == 0
    assert read(files[0]).stack == STACK
