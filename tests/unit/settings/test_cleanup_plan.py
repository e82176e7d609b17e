"""What removes the remains of a stack: its rights, its record of what was there, and the kinds that it knows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from cluster_cleanup.model import Found, Wanted
from physical_ai.catalog.charts import pinned_charts
from physical_ai.catalog.definitions import definitions_of, remaining
from physical_ai.planning.cleanup import CleanupPlan, NodeMarks, cleanup_plan, found_before
from physical_ai.readiness.existing import served
from physical_ai.settings import load_config
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT
from simulator.charts import crds, modelled
from tests.support.cases import in_one_test
from tests.unit.settings.test_settings_existing import LAB

CHARTS = {"gpu-operator", "kai-scheduler"}


def plan() -> CleanupPlan:
    return cleanup_plan(load_config("any-lab", LAB).settings, CHARTS)


def objects(given: CleanupPlan) -> dict[str, Mapping[str, Any]]:
    return {each["kind"]: each for each in given.values["objects"]}


def test_everything_is_a_hook_after_the_release_is_deleted() -> None:
    given = plan()
    marks = [each["metadata"]["annotations"] for each in given.values["objects"]]
    marks.append(given.values["record"]["annotations"])
    assert {each["helm.sh/hook"] for each in marks} == {"post-delete"}
    weights = {
        each["kind"]: int(each["metadata"]["annotations"]["helm.sh/hook-weight"]) for each in objects(given).values()
    }
    assert weights.pop("Job") > max(weights.values())


def test_the_job_may_delete_the_kinds_of_its_charts_only() -> None:
    nodes, read, deleted, *lists, mutating, validating = objects(plan())["ClusterRole"]["rules"]
    assert nodes == {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "patch"]}
    assert deleted["verbs"] == ["delete"]
    assert deleted["resourceNames"] == read["resourceNames"] == definitions_of(CHARTS)
    assert not any("monitoring.coreos.com" in name for name in deleted["resourceNames"])
    assert all(each["verbs"] == ["list"] and "*" not in each["resources"] for each in lists)
    assert (mutating["verbs"], mutating["resourceNames"]) == (["delete"], ["mutating-kai-admission"])
    assert len(validating["resourceNames"]) == 3


def test_a_stack_without_an_operator_of_its_own_leaves_labels_and_deletes_no_kind_of_it() -> None:
    """Without names a rule would be about all definitions."""
    settings = load_config("any-lab", LAB).settings
    for charts in ({"kai-scheduler"}, set[str]()):
        given = objects(cleanup_plan(settings, charts))
        wanted = Wanted(**json.loads(given["ConfigMap"]["data"]["wanted.json"]))
        assert list(wanted.labels) == []
        rules = given["ClusterRole"]["rules"]
        deleting = [
            each for each in rules if "delete" in each["verbs"] and "customresourcedefinitions" in each["resources"]
        ]
        assert [each["resourceNames"] for each in deleting] == ([definitions_of(charts)] if charts else [])
        read = given["ClusterRole"]["rules"][1]
        assert (read["verbs"], wanted.operator in read["resourceNames"]) == (["get"], True)


def test_the_program_reads_what_it_is_given() -> None:
    data = objects(plan())["ConfigMap"]["data"]
    wanted = Wanted(**json.loads(data["wanted.json"]))
    assert wanted.remains["schedulingshards.kai.scheduler"] == ["default"]
    assert "mutatingwebhookconfigurations/mutating-kai-admission" in wanted.webhooks["configs.kai.scheduler"]
    pod = objects(plan())["Job"]["spec"]["template"]["spec"]
    items = {item["key"] for volume in pod["volumes"] for item in volume["configMap"].get("items", ())}
    assert items == set(data)
    assert pod["tolerations"]


def test_what_is_there_before_is_recorded() -> None:
    """Every label that a class may give, now or later, and every taint, of all nodes."""
    labels = {"nvidia.com/gpu.present": "true", "nvidia.com/mine": "1", "agentpool": "x", "kubernetes.io/arch": "amd64"}
    taints = [
        {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"},
        {"key": "a", "effect": "NoExecute"},
    ]
    annotations = {"pulumi.com/patchFieldManager": "theirs", "example.com/a": "1"}
    nodes = [
        {"metadata": {"name": "a", "labels": labels, "annotations": annotations}, "spec": {"taints": taints}},
        {"metadata": {"name": "b"}},
    ]
    found = Found(**found_before(["queues.scheduling.run.ai"], nodes, "physical-ai"))
    assert found.definitions == ["queues.scheduling.run.ai"]
    assert found.labels == {"a": ["agentpool", "nvidia.com/gpu.present", "nvidia.com/mine"]}
    assert found.annotations == {"a": ["pulumi.com/patchFieldManager"]}
    assert found.taints == {"a": ["nvidia.com/gpu=present:NoSchedule", "a:NoExecute"], "b": []}


def owned(*managers: str) -> dict[str, Any]:
    """A node with a label, an annotation and a taint, of these managers."""
    fields = {
        "f:metadata": {"f:labels": {"f:example.com/team": {}}, "f:annotations": {"f:pulumi.com/x": {}}},
        "f:spec": {"f:taints": {}},
    }
    return {
        "metadata": {
            "name": "a",
            "labels": {"example.com/team": "red"},
            "annotations": {"pulumi.com/x": "y"},
            "managedFields": [{"manager": each, "fieldsV1": fields} for each in managers],
        },
        "spec": {"taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]},
    }


THERE = ({"a": ["example.com/team"]}, {"a": ["pulumi.com/x"]}, {"a": ["nvidia.com/gpu=present:NoSchedule"]})


@pytest.mark.parametrize(
    ("managers", "expected"),
    [
        (["physical-ai"], ({}, {}, {"a": []})),
        (["kubectl-label"], THERE),
        (["kubectl-label", "physical-ai"], THERE),
        ([], THERE),
    ],
)
def test_what_the_stack_has_written_itself_was_not_there_before(managers: list[str], expected: object) -> None:
    """With `leave: nothing` set late, its nodes have its marks. What is also another manager's may have been there."""
    found = Found(**found_before([], [owned(*managers)], "physical-ai"))
    assert (found.labels, found.annotations, found.taints) == expected


def test_what_classes_give_to_nodes_is_in_the_files_of_the_job() -> None:
    marks = NodeMarks("a", {"agentpool": "b200"}, {"pulumi.com/x": "y"}, ["nvidia.com/gpu=present:NoSchedule"])
    config = objects(cleanup_plan(load_config("any-lab", LAB).settings, CHARTS, [marks]))["ConfigMap"]
    wanted = Wanted(**json.loads(config["data"]["wanted.json"]))
    assert wanted.nodes == {"a": {"labels": marks.labels, "annotations": marks.annotations, "taints": marks.taints}}
    assert list(wanted.own_taints) == [NOT_ACCEPTED_TAINT]


def test_kinds_that_are_served_are_found_by_discovery() -> None:
    answers = {
        "/apis": {
            "groups": [
                {"name": "scheduling.run.ai", "versions": [{"groupVersion": "scheduling.run.ai/v2"}]},
                {"name": "apps", "versions": [{"groupVersion": "apps/v1"}]},
            ]
        },
        "/apis/scheduling.run.ai/v2": {
            "resources": [{"name": "queues"}, {"name": "queues/status"}, {"name": "others"}]
        },
    }
    assert served(lambda path, _: answers[path]) == ["queues.scheduling.run.ai"]


def test_charts_are_pinned() -> None:
    assert set(remaining()) <= {each.name for each in pinned_charts().values()}


@in_one_test("chart", sorted(set(modelled()) - {"metallb"}))
def test_every_kind_that_a_model_leaves_is_known(chart: str) -> None:
    """Those of MetalLB are in templates, which Helm deletes."""
    for release in modelled()[chart]:
        names = {definition["metadata"]["name"] for definition in crds(chart, release)}
        assert names <= set(definitions_of([chart]))
