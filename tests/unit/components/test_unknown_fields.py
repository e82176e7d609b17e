"""Fields that a kind does not have: Pulumi's plugin creates such an object without a word, and without the field."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pulumi
import pulumi_kubernetes as kubernetes
import pytest

from components.kubernetes.fields import unknown_fields
from components.kubernetes.objects import declare
from tests.unit.conftest import Simulate
from workbench.policies.model import Secret

POD: dict[str, Any] = {"containers": [{"name": "main", "image": "image", "resources": {"limits": {"a.b/c": "1"}}}]}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({}, ""),
        ({"nodeSelector": {"any": "key"}}, ""),
        ({"tolerationz": []}, "spec.tolerationz is no field of PodSpec; write tolerations"),
        ({"containers": [{"nam": "x"}]}, "spec.containers[0].nam is no field of Container; write name"),
        ({"containers": [{"env": [{"name": "a", "walue": "b"}]}]}, "env[0].walue is no field of EnvVar; write value"),
    ],
)
def test_a_field_that_a_kind_does_not_have_is_named_with_what_is_near(change: Mapping[str, Any], sentence: str) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a", "labels": {"x": "y"}},
        "spec": {**POD, **change},
    }
    found = "; ".join(unknown_fields(kubernetes.core.v1.Pod, pod))
    assert sentence in found if sentence else found == ""


def test_a_manifest_with_such_a_field_is_refused_before_anything_is_declared() -> None:
    wrong = {"kind": "ResourceQuota", "metadata": {"name": "gpus"}, "spec": {"hart": {}}}
    with pytest.raises(
        pulumi.RunError, match=r"ResourceQuota gpus of manifests/: spec\.hart is no field .* write hard"
    ):
        declare("a", cast("Any", None), cast("Any", None), [wrong])


def sdk_class(type: str) -> Any:
    """The resource's class; None for those of no kind of Kubernetes itself."""
    _, group_version, kind = type.split(":")
    group, _, version = group_version.partition("/")
    try:
        return getattr(importlib.import_module(f"pulumi_kubernetes.{group.partition('.')[0]}.{version}"), kind, None)
    except ModuleNotFoundError:
        return None


def opened(value: Any) -> Any:
    if isinstance(value, Secret):
        return opened(value.value)
    if isinstance(value, dict):
        return {key: opened(item) for key, item in cast("Mapping[str, Any]", value).items()}
    return [opened(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def misspelt(simulate: Simulate, stack: str) -> Iterator[str]:
    for each in simulate(stack).resources:
        known = sdk_class(each.type) if each.type.startswith("kubernetes:") and "helm.sh" not in each.type else None
        if known is not None:
            yield from (f"{each.name}: {sentence}" for sentence in unknown_fields(known, opened(each.inputs)))


def test_no_object_of_a_stack_has_a_field_that_its_kind_does_not_have(stack_name: str, simulate: Simulate) -> None:
    assert list(misspelt(simulate, stack_name)) == []
