"""What the webhooks of KAI v0.17.0 add and refuse, as its sources say."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from simulator.operators.kai_admission import (
    Options,
    Refused,
    mutated,
    options,
    pod_problem,
    queue_problem,
    topology_problem,
)
from simulator.operators.kai_operands import admission_arguments
from simulator.operators.kai_pod_groups import group_problems
from simulator.operators.kai_webhooks import (
    MUTATE_POD,
    VALIDATE_POD,
    VALIDATE_QUEUE,
    Endpoint,
    answer,
    webhook_objects,
)
from tests.support.cases import in_one_test

Json = dict[str, Any]
SHARING = Options(gpu_sharing=True)


def pod(annotations: Json | None = None, *, name: str = "train-0", **spec: Any) -> Json:
    containers = [{"name": "main", "env": [{"name": "SEED", "value": "7"}]}, {"name": "side"}]
    metadata: Json = {"name": name, "namespace": "team", "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"schedulerName": "kai-scheduler", "containers": containers, **spec}}


def command(**admission: Any) -> list[str]:
    return admission_arguments({"spec": {"admission": admission}})


def test_the_operator_hands_an_empty_runtime_class_on_and_no_key_as_its_default() -> None:
    assert options(command(gpuFractionRuntimeClassName="")).runtime_class == ""
    assert options(command(gpuFractionRuntimeClassName="", gpuPodRuntimeClassName="nvidia")).runtime_class == ""
    assert options(command(gpuPodRuntimeClassName="mine")).runtime_class == "mine"
    assert options(command()).runtime_class == "nvidia"
    assert (options(command()).gpu_sharing, options(command(gpuSharing=True)).gpu_sharing) == (False, True)
    assert options(command(blockNvidiaVisibleDevices=True)).block_devices


def test_a_whole_gpu_leaves_a_pod_as_it_is() -> None:
    made = pod()
    made["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": "1"}}
    assert mutated(made, Options(), "x") == made
    assert pod_problem(made, Options()) == ""


def test_a_fraction_gets_a_config_map_its_variables_and_a_runtime_class() -> None:
    seen = mutated(pod({"gpu-fraction": "0.5"}), SHARING, "abcdefg")
    assert seen["metadata"]["annotations"]["runai/shared-gpu-configmap"] == "train-0-abcdefg-shared-gpu"
    main, side = seen["spec"]["containers"]
    named = {each["name"]: each.get("valueFrom", {}).get("configMapKeyRef") for each in main["env"]}
    reference = {"name": "train-0-abcdefg-shared-gpu-0", "key": "NVIDIA_VISIBLE_DEVICES"}
    assert list(named) == ["SEED", "NVIDIA_VISIBLE_DEVICES", "RUNAI_NUM_OF_GPUS", "GPU_PORTION"]
    assert named["NVIDIA_VISIBLE_DEVICES"] == reference
    assert main["envFrom"] == [{"configMapRef": {"name": f"{reference['name']}-evar", "optional": False}}]
    assert seen["spec"]["volumes"] == [{"name": f"{reference['name']}-vol", "configMap": {"name": reference["name"]}}]
    assert side == {"name": "side"}
    assert seen["spec"]["runtimeClassName"] == "nvidia"
    assert mutated(seen, SHARING, "other") == seen, "a second round changes nothing"


def test_a_fraction_is_for_the_container_that_is_named() -> None:
    given = {"gpu-memory": "4000", "gpu-fraction-container-name": "copy"}
    seen = mutated(pod(given, initContainers=[{"name": "copy"}]), SHARING, "abcdefg")
    (first,) = seen["spec"]["initContainers"]
    assert first["envFrom"][0]["configMapRef"]["name"] == "train-0-abcdefg-shared-gpu-i0-evar"
    with pytest.raises(Refused, match="container with name none not found"):
        mutated(pod({"gpu-memory": "1", "gpu-fraction-container-name": "none"}), SHARING, "x")


def test_a_long_name_is_cut_and_a_dot_is_no_part_of_a_volume() -> None:
    seen = mutated(pod({"gpu-fraction": "0.5"}, name="a.b" + "c" * 60), SHARING, "abcdefg")
    (volume,) = seen["spec"]["volumes"]
    assert volume["name"].startswith("a-b")
    assert len(volume["name"]) <= 63
    assert volume["configMap"]["name"].startswith("a.b")


def test_another_scheduler_is_none_of_its_business() -> None:
    made = pod({"gpu-fraction": "2"}, schedulerName="default-scheduler")
    assert mutated(made, SHARING, "x") == made
    assert pod_problem(made, SHARING) == ""


def test_devices_are_hidden_from_containers_without_a_gpu_where_that_is_on() -> None:
    made = pod()
    made["spec"]["containers"][0]["resources"] = {"requests": {"nvidia.com/gpu": "1"}}
    main, side = mutated(made, Options(block_devices=True), "x")["spec"]["containers"]
    assert [each["name"] for each in main["env"]] == ["SEED"]
    assert side["env"] == [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]
    main["env"].append({"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"})
    assert "with a value of all" in pod_problem(
        {**made, "spec": {**made["spec"], "containers": [main]}}, Options(block_devices=True)
    )


@pytest.mark.parametrize(
    ("annotations", "limit", "words"),
    [
        ({"gpu-fraction": "0.5"}, "1", "both GPU fraction request and whole GPU"),
        ({"gpu-memory": "100", "gpu-fraction": "0.5"}, "", "both GPU and GPU memory"),
        ({"gpu-fraction": "1.5"}, "", "smaller than 1.0"),
        ({"gpu-fraction": "half"}, "", "smaller than 1.0"),
        ({"gpu-memory": "0"}, "", "greater than 0"),
        ({"gpu-fraction-num-devices": "2"}, "", "without specifying fraction portion"),
        ({"mps": "true"}, "", "MPS is only supported"),
        ({"gpu-fraction": "0.5", "gpu-fraction-num-devices": "2"}, "", ""),
    ],
)
def test_what_the_webhook_refuses_with_sharing_on(annotations: Json, limit: str, words: str) -> None:
    made = pod(annotations)
    if limit:
        made["spec"]["containers"][1]["resources"] = {"limits": {"nvidia.com/gpu": limit}}
    found = pod_problem(made, SHARING)
    assert words in found if words else found == ""


def test_a_topology_names_each_alias_once_and_never_as_a_label() -> None:
    def topology(*levels: tuple[str, str]) -> Json:
        return {"spec": {"levels": [{"nodeLabel": label, "alias": alias} for label, alias in levels]}}

    assert topology_problem(topology(("zone", "z"), ("host", ""))) == ""
    assert "duplicated: [z]" in topology_problem(topology(("zone", "z"), ("host", "z")))
    assert "conflicting: [zone]" in topology_problem(topology(("zone", "x"), ("host", "zone")))
    assert queue_problem({"spec": {}}) == "resources must be specified"


def group(*parts: tuple[str, str | None, Json], **spec: Any) -> Json:
    named = [{"name": name, **({"parent": parent} if parent else {}), **minima} for name, parent, minima in parts]
    return {"spec": {**({"subGroups": named} if named else {}), **spec}}


LEAF: Json = {"minMember": 1}


@in_one_test(
    ("made", "words"),
    [
        (group(minMember=2), ""),
        (group(("a", None, LEAF), ("b", None, LEAF)), ""),
        (group(("a", None, {"minSubGroup": 1}), ("b", "a", LEAF)), ""),
        (group(("a", None, {}), ("b", "a", LEAF)), ""),
        (group(("a", None, {"minMember": 2}), ("b", "a", LEAF), ("c", "a", LEAF)), "cannot be set on a mid-level"),
        (group(minMember=1, minSubGroup=1), "mutually exclusive"),
        (group(("a", None, LEAF), ("a", None, LEAF)), "duplicate subgroup name a"),
        (group(("a", "gone", LEAF)), "parent gone of a was not found"),
        (group(("a", "b", LEAF), ("b", "a", LEAF)), "cycle detected"),
        (group(("a", None, {})), "minMember is required"),
    ],
)
def test_which_pod_groups_are_refused(made: Json, words: str) -> None:
    refusal, _ = group_problems(made, is_update=False)
    assert words in refusal if words else refusal == ""


def test_of_an_older_group_that_would_be_refused_today_an_update_only_warns() -> None:
    made = group(("a", None, {"minMember": 2}), ("b", "a", LEAF), ("c", "a", LEAF))
    refusal, warnings = group_problems(made, is_update=True)
    assert (refusal, len(warnings)) == ("", 1)


ENDPOINT = Endpoint("https://127.0.0.1:20000", b"certificate", {"tls.crt": "", "tls.key": ""})


def test_the_configurations_are_upstreams_but_for_the_address() -> None:
    config = {"spec": {"namespace": "kai-scheduler", "admission": {"service": {"enabled": True}}}}
    found = {each["metadata"]["name"]: each for each in webhook_objects(config, ENDPOINT)}
    assert set(found) == {
        "kai-admission-webhook-tls-secret",
        "queue-webhook-tls-secret",
        "podgroup-webhook-tls-secret",
        "mutating-kai-admission",
        "validating-kai-admission",
        "kai-queue-validation-v2",
        "kai-podgroup-validation-v2alpha2",
    }
    (webhook,) = found["mutating-kai-admission"]["webhooks"]
    assert webhook["name"] == "admission.kai-scheduler.svc"
    assert webhook["failurePolicy"] == "Fail"
    (selector,) = webhook["namespaceSelector"]["matchExpressions"]
    assert selector["values"] == ["kube-system", "kai-scheduler"]
    assert webhook["matchConditions"][0]["expression"] == "object.spec.schedulerName == 'kai-scheduler'"
    off = {
        "spec": {"namespace": "k", **{key: {"service": {"enabled": False}} for key in ("admission", "queueController")}}
    }
    assert [each["kind"] for each in webhook_objects(off, ENDPOINT)] == ["Secret", "ValidatingWebhookConfiguration"]


def test_a_response_patches_what_changed_and_refuses_with_the_reason() -> None:
    request = {"operation": "CREATE", "namespace": "team", "object": pod({"gpu-fraction": "0.5"})}
    changed = json.loads(base64.b64decode(answer(MUTATE_POD, request, [], "abcdefg")["patch"]))
    assert [each["path"] for each in changed] == ["/metadata", "/spec"]
    assert answer(MUTATE_POD, {**request, "object": pod()}, [], "x") == {"allowed": True}
    refused = answer(VALIDATE_POD, request, [], "x")
    assert refused["status"]["message"].startswith("attempting to create a pod team/train-0 with gpu sharing request")
    assert answer(VALIDATE_QUEUE, {**request, "object": {"spec": {}}}, [], "x")["warnings"]
