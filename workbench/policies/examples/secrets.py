"""Examples for the rules on secrets in the cluster, and on identities."""

from __future__ import annotations

from typing import Any

from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from workbench.policies import secrets as rules
from workbench.policies.examples.model import Example
from workbench.policies.model import Resource

TASKS = {"kind": "ServiceAccount", "namespace": "osmo-workflows", "name": "osmo-workflow"}
AGENTS = {"kind": "ServiceAccount", "namespace": "osmo-operator", "name": "osmo-operator-backend-worker"}


def _rule(*resources: str, **more: Any) -> dict[str, Any]:
    return {"apiGroups": [""], "resources": list(resources), "verbs": ["get"], **more}


def _role(*given: dict[str, Any]) -> Resource:
    return Resource(rules.ROLES[1], "reader", {"metadata": {"name": "reader"}, "rules": list(given)})


def _bound(*subjects: dict[str, str]) -> dict[str, Any]:
    role = {"kind": "ClusterRole", "name": "reader"}
    return {"metadata": {"name": "binding"}, "roleRef": role, "subjects": list(subjects)}


def _federated(identity: str, account: str) -> dict[str, Any]:
    return {"resourceName": identity, "subject": f"system:serviceaccount:{account}", "audiences": [TOKEN_AUDIENCE]}


def _key(**more: Any) -> dict[str, Any]:
    return {"metadata": {"name": "osmo-mek", "namespace": "osmo-control-plane"}, **more}


_BINDING = rules.BINDINGS[1]

EXAMPLES: dict[str, list[Example]] = {
    "tasks-read-no-secret": [
        Example(
            _BINDING,
            _bound(TASKS),
            others=(_role(_rule("pods")),),
            bad_others=(_role(_rule("pods", "secrets")),),
        ),
        Example(
            _BINDING,
            _bound(AGENTS),
            _bound({"kind": "Group", "name": rules.OF_TASKS}),
            others=(_role(_rule("*")),),
        ),
        Example(
            rules.SECRET,
            {"metadata": {"name": "s", "namespace": "osmo-operator"}},
            {"metadata": {"name": "s", "namespace": "osmo-workflows"}},
        ),
    ],
    "named-subjects": [
        Example(_BINDING, _bound(AGENTS), _bound({"kind": "Group", "name": "system:authenticated"})),
        Example(_BINDING, _bound(AGENTS), _bound({**AGENTS, "name": "default"})),
        Example(_BINDING, _bound(AGENTS), _bound({"kind": "User", "name": "system:anonymous"})),
    ],
    "named-secrets": [
        Example(
            rules.ROLES[0],
            {"rules": [_rule("secrets", resourceNames=["agent-token"])]},
            {"rules": [_rule("secrets")]},
        ),
        Example(rules.ROLES[0], {"rules": [_rule("pods")]}, {"rules": [_rule("*")]}),
    ],
    "identity-of-one-plane": [
        Example(
            rules.FEDERATED,
            _federated("id-agents", "osmo-operator:worker"),
            others=(Resource(rules.FEDERATED, "tasks", _federated("id-tasks", "osmo-workflows:osmo-workflow")),),
            bad_others=(Resource(rules.FEDERATED, "tasks", _federated("id-agents", "osmo-workflows:osmo-workflow")),),
        ),
    ],
    "master-key-kept": [
        Example(
            rules.SECRET,
            _key(),
            options={"ignore_changes": ("data", "stringData")},
            bad_options={"ignore_changes": ("stringData",)},
        ),
        Example(
            rules.SECRET,
            _key(),
            options={"ignore_changes": ("data", "stringData"), "protect": True},
            bad_options={"protect": False},
            environment="prod",
        ),
        Example(
            rules.CONFIG_MAP,
            {"metadata": {"name": "mek-config"}, "data": {"mek.yaml": "currentMek: none\nmeks: {}\n"}},
            {"data": {"mek.yaml": "currentMek: key1\nmeks: {key1: e30=}\n"}},
        ),
    ],
}
