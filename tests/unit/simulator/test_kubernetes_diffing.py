"""What a change of inputs means for an object, and of its kubeconfig for a provider."""

from __future__ import annotations

from typing import Any

from simulator.kubernetes.diffing import Mutability, as_inputs, diff_config, diff_objects
from simulator.wire import UNKNOWN, Diff, under
from tests.support.cases import in_one_test


def obj(kind: str = "ConfigMap", api_version: str = "v1", name: str = "a", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **fields}


def compare(old: dict[str, Any], new: dict[str, Any], live: dict[str, Any] | None = None, **options: Any) -> Diff:
    settings: dict[str, Any] = {"namespaced": True, "mutability": Mutability(), "patch": False}
    return diff_objects(old, live or old, new, **{**settings, **options})


def replacing(diff: Diff) -> set[str]:
    return {path for path in diff.changes if any(under(path, prefix) for prefix in diff.replaces)}


@in_one_test(
    ("kind", "api_version", "old", "new", "replaced"),
    [
        ("Deployment", "apps/v1", {"spec": {"replicas": 1}}, {"spec": {"replicas": 2}}, False),
        (
            "DaemonSet",
            "apps/v1",
            {"spec": {"selector": {"matchLabels": {"a": "1"}}}},
            {"spec": {"selector": {"matchLabels": {"a": "2"}}}},
            True,
        ),
        ("Job", "batch/v1", {"spec": {"template": {"a": 1}}}, {"spec": {"template": {"a": 2}}}, True),
        ("Job", "batch/v1", {"spec": {"backoffLimit": 1}}, {"spec": {"backoffLimit": 2}}, False),
        ("Pod", "v1", {"spec": {"containers": [{"image": "a"}]}}, {"spec": {"containers": [{"image": "b"}]}}, True),
        ("Pod", "v1", {"spec": {"tolerations": []}}, {"spec": {"tolerations": [{"key": "a"}]}}, False),
        ("RoleBinding", "rbac.authorization.k8s.io/v1", {"roleRef": {"name": "a"}}, {"roleRef": {"name": "b"}}, True),
        ("Secret", "v1", {"stringData": {"a": "1"}}, {"stringData": {"a": "2"}}, True),
        ("ClusterPolicy", "nvidia.com/v1", {"spec": {"a": 1}}, {"spec": {"a": 2}}, False),
    ],
)
def test_what_replaces(kind: str, api_version: str, old: dict[str, Any], new: dict[str, Any], replaced: bool) -> None:
    diff = compare(obj(kind, api_version, **old), obj(kind, api_version, **new))
    assert diff.changes
    assert bool(replacing(diff)) is replaced


def test_config_maps_and_secrets_change_in_place_only_where_the_provider_allows_it() -> None:
    old, new = obj(data={"a": "1"}), obj(data={"a": "2"})
    assert replacing(compare(old, new)) == {"data.a"}
    assert replacing(compare(old, new, mutability=Mutability(config_maps=True))) == set()
    frozen = {**new, "immutable": True}
    assert "data.a" in replacing(compare(old, frozen, mutability=Mutability(config_maps=True)))
    secret = [obj("Secret", data={"a": value}) for value in ("MQ==", "Mg==")]
    assert replacing(compare(*secret, mutability=Mutability(secrets=True))) == set()
    retyped = obj("Secret", data={"a": "MQ=="}, type="Opaque")
    assert replacing(compare(secret[0], retyped, mutability=Mutability(secrets=True))) == {"type"}


def test_a_fixed_name_is_deleted_first_a_new_or_automatic_one_is_not() -> None:
    old = obj(data={"a": "1"})
    assert compare(old, obj(data={"a": "2"})).delete_before_replace
    renamed = compare(old, obj(name="b", data={"a": "1"}))
    assert replacing(renamed) == {"metadata.name"}
    assert not renamed.delete_before_replace
    automatic = obj(data={"a": "2"})
    automatic["metadata"]["annotations"] = {"pulumi.com/autonamed": "true"}
    assert not compare(old, automatic).delete_before_replace


def test_the_default_namespace_may_be_said_or_not() -> None:
    silent = {**obj(data={}), "metadata": {"name": "a"}}
    assert compare(obj(data={}), silent).changes == {}
    assert compare(silent, obj(data={}), namespaced=False).changes == {}


def test_what_the_cluster_adds_is_no_change_and_drift_is() -> None:
    inputs = obj(spec={"ports": [{"port": 80}], "selector": {"a": "1"}}, kind="Service")
    live = {
        **inputs,
        "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "selector": {"a": "1"}, "clusterIP": "10.0.0.1"},
    }
    assert compare(inputs, inputs, live).changes == {}
    live["spec"]["selector"] = {"a": "2"}
    assert compare(inputs, inputs, live).changes == {"spec.selector.a": "update"}


def test_quantities_are_the_same_in_every_form_but_texts_are_not() -> None:
    inputs = obj("Pod", spec={"resources": {"limits": {"cpu": "1000m", "memory": "1024Mi", "nvidia.com/gpu": 1}}})
    live = obj("Pod", spec={"resources": {"limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}}})
    assert compare(inputs, inputs, live).changes == {}
    live["spec"]["resources"]["limits"]["cpu"] = "2"
    assert compare(inputs, inputs, live).changes == {"spec.resources.limits.cpu": "update"}
    version = obj(data={"version": "1.10"})
    assert compare(version, version, obj(data={"version": "1.1"})).changes == {"data.version": "update"}


def test_an_empty_value_that_the_server_drops_is_a_change_for_ever_in_custom_objects_only() -> None:
    for kind, version, changed in (("Widget", "example.com/v1", {"spec.paused": "add"}), ("Job", "batch/v1", {})):
        inputs, live = obj(kind, version, spec={"paused": False}), obj(kind, version, spec={})
        assert as_inputs(live, inputs) == live
        assert compare(inputs, inputs, live).changes == changed
    old = obj("Job", "batch/v1", spec={"a": 1})
    assert compare(old, obj("Job", "batch/v1", spec={"a": 1, "b": False})).changes == {"spec.b": "add"}
    assert compare(old, obj("Job", "batch/v1", spec={"a": 1, "b": []})).changes == {}


def test_string_data_is_compared_as_data() -> None:
    inputs, live = obj("Secret", stringData={"a": "1"}), obj("Secret", data={"a": "MQ=="})
    assert compare(inputs, inputs, live).changes == {}
    assert compare(inputs, obj("Secret", stringData={"a": "2"}), live).changes == {"data.a": "update"}
    assert compare(inputs, obj("Secret"), live).changes == {"data": "delete"}
    open_text = obj("Secret", stringData={"a": UNKNOWN})
    assert compare(inputs, open_text, live).changes == {"data": "delete", "stringData": "add"}


def test_paths_quote_keys_with_a_dot_a_quote_or_a_bracket_only() -> None:
    """As pulumi-kubernetes does in `addPatchValueToDiff`; Pulumi's own paths quote `-` and `/`, too."""
    old = obj(data={"a-b": "1", "a/b": "1", "a.b": "1", "a[b": "1", 'a"b': "1"})
    new = obj(data=dict.fromkeys(old["data"], "2"))
    assert set(compare(old, new).changes) == {
        "data.a-b",
        "data.a/b",
        'data["a.b"]',
        'data["a[b"]',
        'data["a\\"b"]',
    }


def test_a_patch_is_replaced_for_another_object_only() -> None:
    old = obj("Deployment", "apps/v1", spec={"selector": {"a": "1"}})
    new = obj("Deployment", "apps/v1", spec={"selector": {"a": "2"}})
    assert replacing(compare(old, new, patch=True)) == set()


def config(server: str = "https://one.example", **fields: Any) -> dict[str, Any]:
    kubeconfig = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": fields.pop("user", {})}],
    }
    return {"kubeconfig": kubeconfig, **fields}


@in_one_test(
    ("old", "new", "replaces"),
    [
        (config(), config(user={"token": "new"}), set()),
        (config(), config("https://two.example"), {"kubeconfig"}),
        (config(), {"kubeconfig": UNKNOWN}, {"kubeconfig"}),
        (config(clusterIdentifier="x"), config("https://two.example", clusterIdentifier="x"), set()),
        (config(clusterIdentifier="x"), {"kubeconfig": UNKNOWN, "clusterIdentifier": "x"}, set()),
        (config(clusterIdentifier="x"), config(clusterIdentifier="y"), {"clusterIdentifier"}),
        (config(clusterIdentifier="x"), config(clusterIdentifier=UNKNOWN), {"clusterIdentifier"}),
        (config(), config(clusterIdentifier="x"), set()),
        (config(), config(namespace="other"), set()),
    ],
    ids=[
        "other login",
        "other cluster",
        "unknown",
        "same identifier",
        "same identifier, unknown",
        "other identifier",
        "unknown identifier",
        "identifier added",
        "other namespace",
    ],
)
def test_when_a_provider_means_another_cluster(old: dict[str, Any], new: dict[str, Any], replaces: set[str]) -> None:
    diff = diff_config(old, new)
    assert diff.changes
    assert {path.split(".")[0] for path in replacing(diff)} == replaces
