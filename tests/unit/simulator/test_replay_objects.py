"""Objects that a replay loads from a recording that somebody made with bad intent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simulator.replay import GROUP, reader_rules
from simulator.replay_objects import NOT_LOADED, READER, Listed, loadable
from tests.support.cases import in_one_test
from workbench.cli import replaying
from workbench.recordings.reading import Recording

RIGHTS = "/apis/rbac.authorization.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


def loaded(*lists: Listed) -> list[dict[str, Any]]:
    return [each.body({}) for each in loadable(lists)]


def test_no_binding_gives_rights_to_the_login_of_the_replay() -> None:
    hostile = named(
        "x",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        subjects=[{"kind": "Group", "name": GROUP}, {"kind": "Group", "name": "system:authenticated"}],
    )
    of_all = Listed(f"{RIGHTS}/clusterrolebindings", "ClusterRoleBinding", False, [hostile])
    of_one = Listed(f"{RIGHTS}/rolebindings", "RoleBinding", True, [hostile])
    assert loaded(of_all, of_one) == []
    assert {"clusterrolebindings", "rolebindings"} <= NOT_LOADED.keys()


def test_roles_that_the_api_server_binds_by_itself_are_left_out() -> None:
    roles = [named(each, rules=[{"verbs": ["*"]}]) for each in ("system:discovery", READER, "own")]
    assert [
        each["metadata"]["name"] for each in loaded(Listed(f"{RIGHTS}/clusterroles", "ClusterRole", False, roles))
    ] == ["own"]


def test_a_definition_converts_nothing_by_a_webhook() -> None:
    hook = {"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://example.com"}}}
    [found] = loaded(Listed(DEFINITIONS, "CustomResourceDefinition", False, [named("a.b", spec={"conversion": hook})]))
    assert found["spec"]["conversion"] == {"strategy": "None"}


def test_a_job_keeps_the_selector_with_its_old_id() -> None:
    spec = {"manualSelector": False, "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "old"}}}
    [found] = loaded(Listed("/apis/batch/v1/jobs", "Job", True, [named("token", spec=spec)]))
    assert found["spec"] == {**spec, "manualSelector": True}


@in_one_test(
    ("resource", "metadata", "fields", "grace"),
    [
        ("pods", {}, {"spec": {"nodeName": "n"}}, 30),
        ("pods", {}, {}, None),  # it is on no node
        ("pods", {}, {"spec": {"nodeName": "n"}, "status": {"phase": "Failed"}}, None),
        ("pods", {"finalizers": ["x.io/y"]}, {"status": {"phase": "Failed"}}, 30),
        ("pods", {"deletionTimestamp": None}, {"spec": {"nodeName": "n"}}, None),
        ("pods", {"deletionGracePeriodSeconds": "30", "finalizers": ["x.io/y"]}, {}, 0),
        ("things", {"finalizers": ["x.io/y"]}, {}, 30),
        ("things", {}, {}, None),
        ("namespaces", {}, {}, 30),
        ("customresourcedefinitions", {"finalizers": ["x.io/y"]}, {}, None),
    ],
)
def test_an_object_that_was_being_deleted_is_so_again_if_it_stays(
    resource: str, metadata: dict[str, Any], fields: dict[str, Any], grace: int | None
) -> None:
    ends = {"deletionTimestamp": "2026-11-28T03:00:00Z", "deletionGracePeriodSeconds": 30}
    item = {"metadata": {"name": "x", **ends, **metadata}, **fields}
    [found] = loadable([Listed(f"/api/v1/{resource}", "X", False, [item])])
    assert found.grace == grace


def test_paths_that_are_no_lists_are_never_written_to() -> None:
    item = named("x")
    paths = ("", "/version", "/api/v1/nodes/x/proxy", "/api/v1/pods/../clusterroles", "/apis/*/v1/*", "/api/v1/*")
    assert loaded(*(Listed(path, "Pod", True, [item]) for path in paths)) == []
    outside = {"metadata": {"name": "x", "namespace": "a/../../../apis"}}
    assert loaded(Listed("/api/v1/pods", "Pod", True, [outside])) == []


def test_the_reader_may_not_connect_through_the_api_server() -> None:
    rules = reader_rules(["nodes", "nodes/proxy", "pods", "pods/proxy", "services/proxy", "*", "*/*"])
    assert rules[0]["resources"] == ["nodes", "pods"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "list", "watch"}
    assert "*" not in rules[1]["nonResourceURLs"]


def test_owners_are_created_before_what_they_own_and_referred_to_by_their_new_ids() -> None:
    def object_of(name: str, id_: str, *owners: str) -> dict[str, Any]:
        above = [{"kind": "X", "name": "o", "uid": each} for each in owners]
        return {"metadata": {"name": name, "uid": id_, "ownerReferences": above}}

    pods = Listed("/api/v1/pods", "Pod", True, [object_of("pod", "3", "2"), object_of("loop", "4", "5", "9")])
    sets = Listed("/apis/apps/v1/replicasets", "ReplicaSet", True, [object_of("set", "2", "1")])
    others = Listed("/apis/apps/v1/deployments", "Deployment", True, [object_of("d", "1"), object_of("x", "5", "4")])
    items = list(loadable([pods, sets, others]))
    order = [each.recorded["metadata"]["name"] for each in items]
    assert order.index("d") < order.index("set") < order.index("pod")
    body = next(each for each in items if each.id == "3").body({"2": "new"})
    assert [each["uid"] for each in body["metadata"]["ownerReferences"]] == ["new"]
    assert "ownerReferences" not in next(each for each in items if each.id == "4").body({})["metadata"]


def test_the_kind_of_a_version_that_the_server_does_not_prefer_is_that_of_its_definition() -> None:
    names = {"kind": "NVIDIADriver", "plural": "nvidiadrivers"}
    spec = {"group": "nvidia.com", "names": names, "scope": "Cluster", "versions": [{"name": "v1alpha1"}]}
    path = "/apis/nvidia.com/v1alpha1/nvidiadrivers"
    entries = [
        {"kind": "list", "path": DEFINITIONS, "items": [named("nvidiadrivers.nvidia.com", spec=spec)]},
        {"kind": "list", "path": path, "items": [named("h100")]},
        {"kind": "list", "path": "/apis/x.io/v1/things", "items": [named("a")]},
    ]
    recording = Recording(Path("it.gz"), entries)
    assert [(each.path, each.kind, each.namespaced) for each in replaying.listed(recording)] == [
        (path, "NVIDIADriver", False)
    ]
    assert replaying.without_kind(recording) == [DEFINITIONS, "/apis/x.io/v1/things"]
