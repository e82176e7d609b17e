"""Objects that a replay loads from a recording that somebody made with bad intent."""

from __future__ import annotations

from typing import Any

from simulator.replay import GROUP, NOT_LOADED, READER, Listed, loadable, reader_rules

RIGHTS = "/apis/rbac.authorization.k8s.io/v1"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


def loaded(*lists: Listed) -> list[dict[str, Any]]:
    return [each for _, items in loadable(lists) for each in items]


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
