"""The program on a cluster that exists already: what it declares, and what it refuses to take over."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import pulumi
import pytest
import yaml

from components.kubernetes.existing_cluster import open_cluster, read_cluster
from physical_ai.readiness.existing import FIELD_MANAGER, STACK_LABEL, Survey, changes
from physical_ai.readiness.existing_record import MARK_LABEL, wrong_cluster
from physical_ai.readiness.reader import Unreachable
from physical_ai.settings import Settings, load_config
from tests.unit.readiness.test_installed_operator import DRIVERS, NAMESPACE, POLICY
from tests.unit.settings.test_settings_existing import LAB
from workbench.mocks import azure_answers
from workbench.mocks.existing_answers import described_cluster
from workbench.mocks.recorder import Recorder, declared, run_program
from workbench.policies import Resource

ID = "00000000-0000-0000-0000-000000000000"
TODAY = datetime.date(2026, 11, 23)
WHOLE: Mapping[str, Any] = {
    **LAB,
    "osmo": {"mode": "platform", "login": "dev", "access": {"login": "dev"}},
    "dataServices": {"source": "inCluster"},
    "monitoring": {"metrics": "kube-prometheus"},
}


@cache
def lab() -> tuple[Resource, ...]:
    return declared("any-lab", WHOLE, preview=False, today=TODAY).resources


def settings(**sections: Any) -> Settings:
    return load_config("any-lab", {**WHOLE, **sections}).settings


def of_type(token: str) -> list[Resource]:
    return [each for each in lab() if each.type == token]


def test_nothing_of_azure_is_declared() -> None:
    assert [each.type for each in lab() if each.type.startswith("azure-native:")] == []
    releases = {each.inputs["name"] for each in of_type("kubernetes:helm.sh/v3:Release")}
    assert releases == RELEASES


RELEASES = {"gpu-operator", "kai-scheduler", "osmo-operator", "osmo", "kube-prometheus"}


def test_an_operator_that_is_used_gets_no_release_and_its_namespace_is_read_only() -> None:
    config = {**WHOLE, "gpuOperator": {"existing": "use"}}
    foreign = Survey(survey().nodes, [*survey().namespaces, NAMESPACE], [POLICY], DRIVERS)
    with mock.patch("workbench.mocks.recorder.described_cluster", return_value=("apiVersion: v1", foreign)):
        found = declared("any-lab", config, preview=False, today=TODAY).resources
    releases = {each.inputs["name"] for each in found if each.type == "kubernetes:helm.sh/v3:Release"}
    assert releases == RELEASES - {"gpu-operator"}
    assert not [each for each in found if each.type.endswith(":NVIDIADriver")]
    namespaces = {each.name for each in found if each.type == "kubernetes:core/v1:Namespace"}
    assert namespaces
    assert not [name for name in namespaces if name.endswith("-gpu-operator")]
    configs = {each.inputs["metadata"]["name"] for each in found if each.type == "kubernetes:core/v1:ConfigMap"}
    assert "gpu-pool-configs" in configs


def test_what_is_in_the_cluster_is_deleted_because_the_cluster_remains() -> None:
    inside = [each for each in lab() if each.type.startswith("kubernetes:")]
    assert len(inside) > 50
    assert all(not each.options.deleted_with and not each.options.replace_with for each in inside)


def test_nodes_get_what_their_class_has_by_a_field_manager_of_the_stack() -> None:
    found = {each.inputs["metadata"]["name"]: each.inputs for each in of_type("kubernetes:core/v1:NodePatch")}
    assert sorted(found) == ["b200-0", "cpu-0", "cpu-1", "cpu-2", "rtxpro-0", "rtxpro-1"]
    assert all(
        each["metadata"]["annotations"]["pulumi.com/patchFieldManager"] == FIELD_MANAGER for each in found.values()
    )
    b200, cpu = found["b200-0"], found["cpu-0"]
    assert b200["metadata"]["labels"]["agentpool"] == "b200"
    assert b200["metadata"]["labels"]["physical-ai/gpu-driver"] == "operator"
    assert b200["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert cpu["metadata"]["labels"] == {"agentpool": "cpu"}
    assert "spec" not in cpu


def test_the_state_keeps_which_cluster_it_is_and_the_namespaces_whose_they_are() -> None:
    (record,) = of_type("pulumi:index:Stash")
    assert record.inputs["input"]["cluster"] == survey().id
    assert record.options.ignore_changes == ("input",)
    marks = {each.inputs["metadata"]["labels"][MARK_LABEL] for each in of_type("kubernetes:core/v1:Namespace")}
    assert marks == {record.inputs["input"]["mark"]}
    assert len(marks.pop()) == 16


@pytest.mark.parametrize(
    ("cluster", "mark", "words"),
    [
        (ID, "a", ""),
        ("another", "a", "the uid another, and this one has 0000"),
        (ID, "b", "A stack any-lab is deployed in the cluster of the context lab already"),
    ],
)
def test_another_cluster_and_another_state_are_refused(cluster: str, mark: str, words: str) -> None:
    labels = {STACK_LABEL: "any-lab", MARK_LABEL: "a"}
    there = [*survey().namespaces, {"metadata": {"name": "gpu-operator", "labels": labels}}]
    older = {"metadata": {"name": "osmo-workflows", "labels": {STACK_LABEL: "any-lab"}}}
    problem = wrong_cluster("any-lab", "lab", {"cluster": cluster, "mark": mark}, Survey([], [*there, older]))
    assert words in problem
    assert bool(problem) is bool(words)


def test_a_state_of_another_cluster_declares_nothing_in_this_one() -> None:
    kept = {"cluster": "another", "mark": "a"}
    answer = ("record", {"input": kept, "output": kept})
    made = azure_answers.created

    def created(type_: str, name: str, inputs: dict[str, Any], subscription: str) -> tuple[str, dict[str, Any]]:
        return answer if type_ == "pulumi:index:Stash" else made(type_, name, inputs, subscription)

    recorder = Recorder(preview=False)
    with (
        mock.patch("workbench.mocks.recorder.created", created),
        pytest.raises(pulumi.RunError, match="deployed in another cluster"),
    ):
        run_program(recorder, "any-lab", WHOLE, simulated=True, today=TODAY)
    assert [each.type for each in recorder.declared_resources if "kubernetes:" in each.type and each.custom] == []


def test_the_login_is_in_no_input_and_no_output() -> None:
    (provider,) = of_type("pulumi:providers:kubernetes")
    assert provider.inputs["context"] == "lab"
    assert "apiVersion" not in str(provider.inputs["kubeconfig"])


def test_what_removes_the_remains_of_the_stack_is_deleted_last() -> None:
    target = {**WHOLE["target"], "leave": "nothing"}
    found = declared("any-lab", {**WHOLE, "target": target}, preview=False, today=TODAY).resources
    (cleanup,) = [each for each in found if each.inputs.get("name") == "cluster-cleanup"]
    assert cleanup.options.ignore_changes == ("values.found",)
    found_labels = {each["metadata"]["name"]: sorted(each["metadata"]["labels"]) for each in survey().nodes}
    record = cleanup.inputs["values"]["found"]
    assert record["taints"] == {each["metadata"]["name"]: [] for each in survey().nodes}
    assert {name: keys for name, keys in found_labels.items() if "example.com/server" in keys}.items() <= record[
        "labels"
    ].items()
    (config,) = [each for each in cleanup.inputs["values"]["objects"] if each["kind"] == "ConfigMap"]
    marks = json.loads(config["data"]["wanted.json"])["nodes"]
    given = {each.inputs["metadata"]["name"]: each.inputs for each in found if each.type.endswith(":NodePatch")}
    assert {name: each["labels"] for name, each in marks.items()} == {
        name: each["metadata"]["labels"] for name, each in given.items()
    }
    assert {name: each["annotations"] for name, each in marks.items()} == {
        name: each["metadata"]["annotations"] for name, each in given.items()
    }
    assert marks["b200-0"]["taints"] == ["nvidia.com/gpu=present:NoSchedule"]
    others = [each for each in found if each.type.startswith("kubernetes:") and each.type != cleanup.type]
    before = {"kubernetes:core/v1:NodePatch"}
    late = [
        each
        for each in others
        if each.type not in before and not any(urn.endswith(f"::{cleanup.name}") for urn in each.options.depends_on)
    ]
    assert [each.inputs["metadata"]["name"] for each in late] == ["physical-ai-cleanup"]


def survey() -> Survey:
    return described_cluster(settings(), "", "")[1]


def node(name: str, labels: Mapping[str, str], cpu: str = "224", taint: str = "") -> dict[str, Any]:
    key, _, effect = taint.partition(":")
    taints = [{"key": key, "effect": effect}] if taint else []
    metadata = {"name": name, "labels": dict(labels)}
    return {"metadata": metadata, "spec": {"taints": taints}, "status": {"capacity": {"cpu": cpu, "memory": "1Gi"}}}


def problems(*extra: dict[str, Any], without: str = "nothing") -> list[str]:
    kept = [each for each in survey().nodes if not each["metadata"]["name"].startswith(without)]
    return changes(settings(), Survey([*kept, *extra], survey().namespaces))[1]


RTX, B200 = {"example.com/server": "rtx-pro-server"}, {"example.com/server": "hgx-b200"}


def test_a_cluster_as_described_has_no_problems() -> None:
    assert problems() == []


@pytest.mark.parametrize(
    ("without", "extra", "words"),
    [
        ("b200", [], "No node is in the class b200"),
        ("nothing", [node("more", B200)], "has 2 nodes, and scale.count is 1"),
        ("rtxpro", [node("a", RTX), node("b", RTX, cpu="96")], "differ"),
        ("b200", [node("a", {**B200, "node-role.kubernetes.io/control-plane": ""})], "in two classes"),
        ("b200", [node("a", {**B200, "agentpool": "theirs"})], "another owner set it"),
        ("b200", [node("a", B200, taint="example.com/mine:NoSchedule")], "example.com/mine:NoSchedule"),
    ],
)
def test_classes_that_are_not_these_nodes(without: str, extra: list[dict[str, Any]], words: str) -> None:
    assert any(words in problem for problem in problems(*extra, without=without))


def test_a_label_that_the_stack_set_itself_may_change() -> None:
    of_ours = node("a", {**B200, "agentpool": "before"})
    fields = {"f:metadata": {"f:labels": {"f:agentpool": {}}}}
    of_ours["metadata"]["managedFields"] = [{"manager": FIELD_MANAGER, "fieldsV1": fields}]
    assert problems(of_ours, without="b200") == []


CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-11-27T20:00:00Z"}
GPU = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
NOT_ACCEPTED = {
    "key": "startup-taint.cluster-autoscaler.kubernetes.io/physical-ai-not-accepted",
    "value": "present",
    "effect": "NoSchedule",
}


def judged(taints: list[dict[str, Any]], *managers: str) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The list that is written to the node of the class b200, and what keeps it from that."""
    of_class = node("b200-1", B200)
    of_class["spec"] = {"taints": taints, "unschedulable": CORDON in taints}
    fields = {"f:spec": {"f:taints": {}}}
    of_class["metadata"]["managedFields"] = [{"manager": each, "fieldsV1": fields} for each in managers]
    kept = [each for each in survey().nodes if not each["metadata"]["name"].startswith("b200")]
    given, found = changes(settings(), Survey([*kept, of_class], survey().namespaces))
    return next(list(each.listed) for each in given if each.node == "b200-1"), found


def test_taints_of_a_nodes_state_stay_in_the_list_as_they_are() -> None:
    """Without them, the list differs from that of the controller that owns it: it would be refused."""
    for taints in ([GPU, CORDON], [CORDON, GPU], [GPU, NOT_ACCEPTED], [GPU]):
        assert judged(taints, "kube-controller-manager", FIELD_MANAGER) == (taints, [])
    assert judged([]) == ([GPU], [])
    assert judged([CORDON], FIELD_MANAGER) == ([CORDON, GPU], [])


def test_a_list_that_a_controller_owns_is_refused_with_what_to_do() -> None:
    _, (problem,) = judged([CORDON], "kube-controller-manager")
    assert "Node b200-1 needs the taint nvidia.com/gpu=present:NoSchedule" in problem
    assert "is of kube-controller-manager" in problem
    assert "Uncordon the node first" in problem
    assert "kubectl taint node b200-1 nvidia.com/gpu=present:NoSchedule." in problem


def test_a_driver_from_elsewhere_needs_steps_on_the_node_first() -> None:
    of_host = {"physical-ai/gpu-driver": "host", "nvidia.com/gpu.deploy.driver": "pre-installed"}
    (problem,) = problems(node("a", {**B200, **of_host}), without="b200")
    assert "deployed with driver.source: host, and the class b200 has operator" in problem
    labels = "physical-ai/gpu-driver=operator nvidia.com/gpu.deploy.driver- nvidia.com/gpu-driver-upgrade.skip-"
    assert f"restart it, then kubectl label --overwrite node a {labels}" in problem
    assert problems(node("a", {**B200, "physical-ai/gpu-driver": "operator"}), without="b200") == []


def test_a_driver_of_the_operator_is_removed_before_the_hosts_is_installed() -> None:
    pools = {**WHOLE["pools"], "b200": {**WHOLE["pools"]["b200"], "driver": {"source": "host"}}}
    of_operator = {"physical-ai/gpu-driver": "operator", "nvidia.com/gpu.deploy.driver": "true"}
    kept = [each for each in survey().nodes if not each["metadata"]["name"].startswith("b200")]
    found = Survey([*kept, node("a", {**B200, **of_operator})], survey().namespaces)
    (problem,) = changes(settings(pools=pools), found)[1]
    assert "nvidia.com/gpu.deploy.driver=pre-installed" in problem
    assert "which removes the operator's driver, then install the driver on the host" in problem


def test_a_file_that_cannot_be_used_stops_the_program_without_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(pulumi.RunError, match="cannot be read: No such file"):
        open_cluster(settings(), str(tmp_path / "none"), "lab")


def test_a_login_that_has_expired() -> None:
    def refusing(_: str) -> Any:
        def get(path: str, parameters: Mapping[str, str]) -> Any:
            raise Unreachable("401 Unauthorized")

        return get

    text = yaml.safe_dump({"clusters": [{"cluster": {"server": "https://lab"}}], "users": [{"user": {"token": "x"}}]})
    with pytest.raises(pulumi.RunError, match=r"context lab in config cannot be read: 401 .* The token has expired"):
        read_cluster("config", "lab", text, refusing)
