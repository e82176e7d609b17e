"""The service's configuration: what its loader finds, what only reading a pool finds, and what neither finds."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.support import osmo_recordings as recordings
from tests.support.cases import in_one_test
from workbench.osmo.refusal import CRASH, Refusal
from workbench.osmo.service.configuration import load, load_errors

ONE_GPU = ("resource_validations", "one_gpu")
POOL = ("pools", "default")
CHANGES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "base": ((), None),
    "unknown-top": (("podTemplates",), {}),
    "workflow-unknown": (("workflow", "max_tasks"), 5),
    "workflow-type": (("workflow", "max_num_tasks"), "many"),
    "workflow-labels": (("workflow", "labels_config"), {}),
    "service-unknown": (("service", "base_url"), "x"),
    "dataset-unknown": (("dataset",), {"bucket": "x"}),
    "pools-list-filled": (("pools",), ["default"]),
    "pool-default-platform-unknown": ((*POOL, "default_platform"), "zzz"),
    "pool-gpu-text": ((*POOL, "resources"), {"gpu": {"guarantee": "two"}}),
    "pool-gpu-unknown": ((*POOL, "resources"), {"gpu": {"min": 1}}),
    "platform-unknown-key": ((*POOL, "platforms", "h100", "nodeSelector"), {"a": "b"}),
    "platform-null": ((*POOL, "platforms", "cpu"), None),
    "platform-bool-text": ((*POOL, "platforms", "cpu", "privileged_allowed"), "maybe"),
    "platform-mount-map": ((*POOL, "platforms", "cpu", "allowed_mounts"), [{"path": "/a"}]),
    "platform-validation-missing": ((*POOL, "platforms", "cpu", "resource_validations"), ["nope"]),
    "validation-bad-operator": ((*ONE_GPU, 0, "operator"), "NE"),
    "validation-map": (ONE_GPU, {"operator": "GE"}),
    "template-null": (("pod_templates", "gpu_common"), None),
    "backend-unknown-key": (("backends", "default", "namespace"), "x"),
    "backend-scheduler-type": (("backends", "default", "scheduler_settings", "scheduler_type"), "volcano"),
    "backend-scheduler-unknown": (("backends", "default", "scheduler_settings", "scheduler"), "x"),
    "backend-node-conditions": (("backends", "default", "node_conditions"), {"rules": {"Ready": "True"}}),
    "exit-actions-unchecked": ((*POOL, "default_exit_actions"), {"RETRY": "abc"}),
}
"""What a vector describes in prose: the path, and the value set there."""


def changed(place: tuple[Any, ...], value: Any) -> dict[str, Any]:
    config = copy.deepcopy(recordings.base_config())
    if place:
        here: Any = config
        for step in place[:-1]:
            here = here[step]
        here[place[-1]] = value
    return config


MODELS = recordings.vectors("config-models")


@in_one_test("vector", MODELS, ids=[vector["id"] for vector in MODELS])
def test_configurations_load_and_read_as_recorded(vector: dict[str, Any]) -> None:
    config, expected = changed(*CHANGES[vector["id"]]), vector["expected"]
    errors = load_errors(config)
    assert len(errors) == expected["load_errors"]
    assert [error.section for error in errors] == expected.get("sections", [])
    if errors:
        with pytest.raises(Refusal):
            load(config)
        return
    if "resolve" in expected:
        with pytest.raises(Refusal) as refused:
            load(config)
        assert refused.value.kind == CRASH
        return
    loaded = load(config)
    if expected["read_pool_and_backend"] == "ok":
        assert loaded.pool("default").backend == "default"
        assert loaded.scheduler("default").scheduler_name == "kai-scheduler"
        return
    read = loaded.scheduler if vector["id"].startswith("backend") else loaded.pool
    with pytest.raises(Refusal) as refused:
        read("default")
    assert refused.value.kind == expected["read_pool_and_backend"]
    places = [problem.path for problem in refused.value.problems]
    assert all(any(place.startswith(path) for place in places) for path in expected["paths"]), places


def test_every_change_of_the_recording_is_known() -> None:
    assert {vector["id"] for vector in MODELS} == set(CHANGES)


@pytest.mark.parametrize(
    ("place", "section", "name"),
    [
        ((*POOL, "common_pod_template"), "pod_templates", "default_usr"),
        ((*POOL, "common_resource_validations"), "resource_validations", "static-cpu"),
        ((*POOL, "common_group_templates"), "group_templates", "shared"),
        ((*POOL, "platforms", "h100", "override_pod_template"), "pod_templates", "h100-node"),
        ((*POOL, "platforms", "h100", "resource_validations"), "resource_validations", "one-gpu"),
    ],
)
def test_a_misspelled_name_loads_and_is_reported(place: tuple[str, ...], section: str, name: str) -> None:
    missing = load(changed(place, [name])).missing
    assert [(item.path, item.section, item.name) for item in missing] == [(".".join(place), section, name)]


def test_without_a_misspelling_nothing_is_missing() -> None:
    assert load(recordings.base_config()).missing == []


def test_a_misspelled_validation_lets_a_workflow_through_that_it_should_stop() -> None:
    platform = (*POOL, "platforms", "h100", "resource_validations")
    guarded, open_ = load(recordings.base_config()), load(changed(platform, ["one-gpu"]))
    assert len(guarded.pool("default").platforms["h100"].parsed_resource_validations) == 3
    assert len(open_.pool("default").platforms["h100"].parsed_resource_validations) == 1
