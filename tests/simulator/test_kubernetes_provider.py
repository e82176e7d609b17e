"""The Kubernetes stand-in against a real API server, verb by verb, as the engine would call it."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from simulator.kubernetes import Client
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH
from simulator.kubernetes.provider import Kubernetes
from simulator.wire import UNKNOWN, NotReady, Refused, Secret, under
from tests.simulator.conftest import ApiServer
from tests.simulator.provider_requests import config_map, pod_spec, request

RESTRICTED = "pod-security.kubernetes.io/enforce"


def test_create_then_no_changes_then_update_in_place(provider: Kubernetes, client: Client, namespace: str) -> None:
    make = request("core/v1:ServiceAccount")
    first, failures = provider.check(make, {}, {"metadata": {"name": "robot", "namespace": namespace}})
    assert failures == []
    id, state = provider.create(make, first)
    assert id == f"{namespace}/robot"
    assert provider.diff(make, first, state, first).changes == {}

    second = {**first, "automountServiceAccountToken": False}
    assert provider.diff(make, first, state, second).changes == {"automountServiceAccountToken": "add"}
    provider.update(request("core/v1:ServiceAccount", id=id), first, state, second)
    live = client.get(client.path("v1", "ServiceAccount", namespace, "robot"))
    assert live["automountServiceAccountToken"] is False


def test_an_object_that_exists_already_is_not_adopted(
    provider: Kubernetes, client: Client, namespace: str, api_server: ApiServer
) -> None:
    path = client.path("v1", "ConfigMap", namespace)
    client.request("POST", path, config_map(namespace, a="theirs"))
    with pytest.raises(Refused, match='configmaps "settings" already exists'):
        provider.create(request(), config_map(namespace, a="ours"))
    assert client.get(f"{path}/settings")["data"] == {"a": "theirs"}

    adopting = Kubernetes()
    adopting.configure({"kubeconfig": api_server.kubeconfig, "upsertExistingObjects": "true", "enablePatchForce": True})
    adopting.create(request(), config_map(namespace, a="ours"))
    assert client.get(f"{path}/settings")["data"] == {"a": "ours"}


def test_a_create_that_was_cut_off_before_its_state_was_kept_is_refused_by_the_next_run(
    provider: Kubernetes, namespace: str
) -> None:
    provider.create(request(), config_map(namespace, a="1"))
    with pytest.raises(Refused, match='configmaps "settings" already exists'):
        provider.create(request(), config_map(namespace, a="2"))


def test_the_first_update_takes_over_the_fields_of_the_create_and_of_kubectl(
    provider: Kubernetes, client: Client, namespace: str
) -> None:
    inputs = config_map(namespace, a="1", b="1")
    id, state = provider.create(request(), inputs)
    path = client.path("v1", "ConfigMap", namespace, "settings")
    assert managers(client, path) == {"pulumi-kubernetes": "Update"}
    client.patch(path, {"data": {"c": "1"}}, MERGE_PATCH, {"fieldManager": "kubectl-edit"})

    wanted = config_map(namespace, a="2")
    seen = provider.update(request(preview=True), inputs, state, wanted)
    assert seen["data"]["a"] == "2"
    provider.update(request(id=id), inputs, state, wanted)
    assert client.get(path)["data"] == {"a": "2"}, "what the program has dropped, and what kubectl has added"
    assert managers(client, path) == {state["__fieldManager"]: "Apply"}


def managers(client: Client, path: str) -> dict[str, str]:
    return {each["manager"]: each["operation"] for each in client.get(path)["metadata"]["managedFields"]}


def test_a_field_of_another_manager_is_a_conflict_unless_forced(
    provider: Kubernetes, client: Client, namespace: str
) -> None:
    inputs = config_map(namespace, a="1")
    id, state = provider.create(request(), inputs)
    path = client.path("v1", "ConfigMap", namespace, "settings")
    client.patch(path, config_map(namespace, a="2"), APPLY_PATCH, {"fieldManager": "another", "force": "true"})
    wanted = config_map(namespace, a="3")
    seen = provider.update(request(id=id, preview=True), inputs, state, wanted)
    assert seen["data"] == {"a": "3"}, "the plugin's previews override everybody until the first update"
    with pytest.raises(NotReady) as problem:
        provider.update(request(id=id), inputs, state, wanted)
    assert 'conflict with "another": .data.a' in problem.value.reasons[0]
    with pytest.raises(NotReady, match="server-side apply field conflict detected"):
        provider.update(request(id=id, preview=True), inputs, state, wanted)

    wanted["metadata"]["annotations"] = {"pulumi.com/patchForce": "true"}
    provider.update(request(id=id), inputs, state, wanted)
    assert client.get(path)["data"] == {"a": "3"}


def test_an_unknown_field_is_refused_in_the_preview_already(provider: Kubernetes, namespace: str) -> None:
    inputs = config_map(namespace, a="1") | {"dta": {"b": "2"}}
    with pytest.raises(Refused, match=r"\.dta: field not declared in schema"):
        provider.create(request(preview=True), inputs)


def test_a_preview_leaves_nothing_behind_and_has_no_uid(provider: Kubernetes, client: Client, namespace: str) -> None:
    _, state = provider.create(request(preview=True), config_map(namespace, a="1"))
    assert state["metadata"]["uid"] is UNKNOWN
    assert state["data"] == {"a": "1"}
    assert client.find(client.path("v1", "ConfigMap", namespace, "settings")) is None


@pytest.mark.parametrize(
    "inputs",
    [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "not-there-yet"}},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}, "data": UNKNOWN},
        {"apiVersion": "example.com/v1", "kind": "NotYet", "metadata": {"name": "a", "namespace": "default"}},
    ],
    ids=["namespace missing", "unknown input", "CRD missing"],
)
def test_what_can_not_be_dry_run_is_previewed_as_written(provider: Kubernetes, inputs: dict[str, Any]) -> None:
    assert provider.create(request(preview=True), inputs) == ("", inputs)


def test_pod_security_refuses_with_its_own_message(provider: Kubernetes, client: Client, namespace: str) -> None:
    labels = {"metadata": {"labels": {RESTRICTED: "baseline"}}}
    client.patch(f"/api/v1/namespaces/{namespace}", labels, MERGE_PATCH)
    inputs = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bad", "namespace": namespace},
        "spec": pod_spec(hostPID=True),
    }
    with pytest.raises(Refused) as refusal:
        provider.create(request("core/v1:Pod", "bad"), inputs)
    assert "was not successfully created by the Kubernetes API server" in str(refusal.value)
    assert 'pods "bad" is forbidden: violates PodSecurity "baseline:latest"' in str(refusal.value)


def test_config_map_data_replaces_and_deletes_first_unless_mutable(
    provider: Kubernetes, namespace: str, api_server: ApiServer
) -> None:
    old, new = config_map(namespace, a="1"), config_map(namespace, a="2")
    _, state = provider.create(request(), old)
    diff = provider.diff(request(), old, state, new)
    assert [path for path in diff.changes if any(under(path, prefix) for prefix in diff.replaces)] == ["data.a"]
    assert diff.delete_before_replace

    mutable = Kubernetes()
    mutable.configure({"kubeconfig": api_server.kubeconfig, "enableConfigMapMutable": "true"})
    diff = mutable.diff(request(), old, state, new)
    assert not any(under(path, prefix) for path in diff.changes for prefix in diff.replaces)


def test_drift_shows_after_a_refresh_and_is_put_right(provider: Kubernetes, client: Client, namespace: str) -> None:
    inputs = config_map(namespace, a="1")
    id, state = provider.create(request(), inputs)
    path = client.path("v1", "ConfigMap", namespace, "settings")
    client.patch(path, {"data": {"a": "drifted", "b": "added"}}, MERGE_PATCH)
    _, refreshed, shown = provider.read(request(id=id), state, inputs)
    assert shown["data"] == {"a": "drifted"}
    assert provider.diff(request(), shown, refreshed, inputs).changes == {"data.a": "update"}


def test_read_of_an_object_that_was_deleted_elsewhere_returns_no_id(provider: Kubernetes, namespace: str) -> None:
    assert provider.read(request(id=f"{namespace}/never"), {}, config_map(namespace, "never")) == ("", {}, {})


def test_import_takes_inputs_from_the_live_object(provider: Kubernetes, client: Client, namespace: str) -> None:
    client.request("POST", client.path("v1", "ConfigMap", namespace), config_map(namespace, a="1"))
    _, _, inputs = provider.read(request(id=f"{namespace}/settings"), {}, {})
    assert inputs == config_map(namespace, a="1")


def test_quantities_and_empty_values_make_no_difference(provider: Kubernetes, namespace: str) -> None:
    inputs = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": namespace, "labels": {}},
        "spec": {"hard": {"requests.cpu": "1000m", "requests.memory": "1024Mi"}},
    }
    make = request("core/v1:ResourceQuota")
    id, state = provider.create(make, inputs)
    assert provider.diff(make, inputs, state, inputs).changes == {}
    _, state, shown = provider.read(request("core/v1:ResourceQuota", id=id), state, inputs)
    assert provider.diff(make, shown, state, inputs).changes == {}


def test_secret_values_leave_marked_and_once(provider: Kubernetes, namespace: str) -> None:
    make = request("core/v1:Secret")
    inputs = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "key", "namespace": namespace},
        "stringData": {"password": "hunter2"},
    }
    id, state = provider.create(make, inputs)
    assert isinstance(state["data"], Secret)
    assert "hunter2" not in str(state)
    assert "aHVudGVyMg==" not in str(state)
    plain = {**state, "data": state["data"].value}
    assert provider.diff(make, inputs, plain, inputs).changes == {}
    _, _, shown = provider.read(request("core/v1:Secret", id=id), plain, inputs)
    assert isinstance(shown["data"], Secret)


def test_a_crd_and_its_object_are_created_together_and_deleted_together(provider: Kubernetes, client: Client) -> None:
    group = f"g{uuid.uuid4().hex[:8]}.example.com"
    frozen = {"rule": "self.size == oldSelf.size", "message": "size is an immutable field"}
    spec = {"type": "object", "properties": {"size": {"type": "integer"}}, "x_kubernetes_validations": [frozen]}
    schema = {"type": "object", "properties": {"spec": spec}}
    crd: dict[str, Any] = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    }
    make = request("apiextensions.k8s.io/v1:CustomResourceDefinition", "crd")
    crd, failures = provider.check(make, {}, crd)
    assert failures == []
    widget, _ = provider.check(request(f"{group}/v1:Widget"), {}, {"metadata": {"name": "one"}, "spec": {"size": 1}})
    assert "namespace" not in widget["metadata"]

    crd_id, crd_state = provider.create(make, crd)
    assert provider.diff(make, crd, crd_state, crd).changes == {}
    id, state = provider.create(request(f"{group}/v1:Widget"), widget)
    assert (id, state["spec"]) == ("one", {"size": 1})
    larger = {**widget, "spec": {"size": 2}}
    replacement = provider.create(request(f"{group}/v1:Widget", preview=True), larger)
    assert replacement == ("", larger), "a replacement can't be previewed beside the object it replaces"

    background = {
        **crd,
        "metadata": {**crd["metadata"], "annotations": {"pulumi.com/deletionPropagationPolicy": "background"}},
    }
    provider.delete(request("apiextensions.k8s.io/v1:CustomResourceDefinition", id=crd_id), background, crd_state)
    provider.delete(request(f"{group}/v1:Widget", id=id), widget, state)
    assert provider.read(request(f"{group}/v1:Widget", id=id), state, widget) == ("", {}, {})


def test_a_kind_the_api_server_can_not_have_fails_the_check(provider: Kubernetes) -> None:
    inputs = {"metadata": {"name": "web"}}
    _, failures = provider.check(request("apps/v1:Deploymint"), {}, inputs)
    assert 'no matches for kind "Deploymint" in version "apps/v1"' in failures[0].reason
    assert "Deployment" in failures[0].reason
    assert provider.check(request("nvidia.com/v1:ClusterPolicy"), {}, inputs)[1] == []


def test_an_autonamed_object_keeps_its_name_until_it_is_replaced(provider: Kubernetes, namespace: str) -> None:
    named = {"metadata": {"namespace": namespace}, "data": {"a": "1"}}
    first, _ = provider.check(request(proposed_name="thing-4f2a1c7"), {}, named)
    assert first["metadata"]["name"] == "thing-4f2a1c7"
    again, _ = provider.check(request(proposed_name="thing-0000000"), first, named)
    assert again["metadata"]["name"] == "thing-4f2a1c7"
    _, state = provider.create(request(), first)
    assert not provider.diff(request(), first, state, {**again, "data": {"a": "2"}}).delete_before_replace


def test_a_patch_owns_its_fields_only_and_gives_them_back(provider: Kubernetes, client: Client, namespace: str) -> None:
    path = client.path("v1", "ConfigMap", namespace)
    client.request("POST", path, config_map(namespace, theirs="1"))
    inputs = config_map(namespace, ours="2")
    make = request("core/v1:ConfigMapPatch", "patch")
    id, state = provider.create(make, inputs)
    assert client.get(f"{path}/settings")["data"] == {"theirs": "1", "ours": "2"}
    provider.delete(request("core/v1:ConfigMapPatch", "patch", id=id), inputs, state)
    assert client.get(f"{path}/settings")["data"] == {"theirs": "1"}


def test_without_server_side_apply_objects_are_created_and_patched(
    client: Client, namespace: str, api_server: ApiServer
) -> None:
    plain = Kubernetes()
    plain.configure({"kubeconfig": api_server.kubeconfig, "enableServerSideApply": "false"})
    old, new = config_map(namespace, a="1", b="1"), config_map(namespace, a="2")
    id, state = plain.create(request(), old)
    plain.update(request(id=id), old, state, new)
    assert client.get(client.path("v1", "ConfigMap", namespace, "settings"))["data"] == {"a": "2"}
