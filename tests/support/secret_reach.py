"""Secrets of the platform that the Pods of a namespace can read: by RBAC, by their namespace, or by Azure roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.osmo import (
    LISTENER_ACCOUNT,
    OPERATOR_NAMESPACE,
    SERVICE_ACCOUNT,
    WORKER_ACCOUNT,
    WORKFLOWS_NAMESPACE,
)
from workbench.policies import Resource, Secret

Json = Mapping[str, Any]
READ_VERBS = {"get", "list", "watch", "*"}
EVERYBODY = {"system:authenticated", "system:unauthenticated", "system:serviceaccounts"}
"""Groups to which the service accounts of all Pods belong."""
VAULT_ROLES = {
    "4633458b-17de-408a-b874-0445c86b69e6",  # Key Vault Secrets User
    "b86a8fe4-44ce-4948-aee5-eccb2c155cd7",  # Key Vault Secrets Officer
    "00482a5a-887f-4fb3-b363-3b7fe8e74483",  # Key Vault Administrator
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",  # Owner
    "b24988ac-6180-42a0-ab88-20f7382dd24c",  # Contributor, which can list the keys of caches and registries
}
"""Roles that can read secrets of a vault or keys of a service (Azure built-in roles reference)."""


@dataclass(frozen=True)
class Pods:
    """Pods of a namespace, and the service accounts that they may have."""

    namespace: str
    accounts: tuple[str, ...]

    def include(self, subject: Json) -> bool:
        """True if a subject of a binding is one of these accounts, or a group to which they belong."""
        if subject["kind"] == "Group":
            return subject["name"] in EVERYBODY | {f"system:serviceaccounts:{self.namespace}"}
        return subject.get("namespace") == self.namespace and subject["name"] in (*self.accounts, "default")


TASKS = Pods(WORKFLOWS_NAMESPACE, (SERVICE_ACCOUNT,))
AGENTS = Pods(OPERATOR_NAMESPACE, (LISTENER_ACCOUNT, WORKER_ACCOUNT))


def readable(resources: Iterable[Resource], pods: Pods = TASKS) -> list[str]:
    """Names of the secrets that the Pods can read, each with the way in which they can."""
    declared = list(resources)
    return sorted([*_by_namespace(declared, pods), *_by_rbac(declared, pods), *_by_azure(declared, pods)])


def platform_secrets(resources: Iterable[Resource]) -> list[Resource]:
    """Kubernetes Secrets, and ConfigMaps that hold something secret (there should be none)."""
    return [
        each
        for each in resources
        if (_kind(each) == "Secret" and "metadata" in each.inputs)
        or (_kind(each) == "ConfigMap" and _holds_secret(each.inputs.get("data")))
    ]


def _holds_secret(value: Any) -> bool:
    inner = value.values() if isinstance(value, Mapping) else ()
    return isinstance(value, Secret) or any(map(_holds_secret, inner))


def _kind(item: Resource) -> str:
    return item.type.rpartition(":")[2]


def _place(item: Resource) -> tuple[str, str]:
    metadata = item.inputs["metadata"]
    return str(metadata.get("namespace", "")), str(metadata["name"])


def _by_namespace(declared: list[Resource], pods: Pods) -> Iterator[str]:
    """Secrets of the Pods' own namespace, which they can mount, whatever their account may read."""
    for each in platform_secrets(declared):
        namespace, name = _place(each)
        if namespace == pods.namespace:
            yield f"{namespace}/{name}: mounted"


def _by_rbac(declared: list[Resource], pods: Pods) -> Iterator[str]:
    roles = {
        (_kind(each), *_place(each)): each.inputs.get("rules") or ()
        for each in declared
        if "Role" in _kind(each) and "metadata" in each.inputs
    }
    for binding in declared:
        kind = _kind(binding)
        if kind not in ("RoleBinding", "ClusterRoleBinding") or not any(
            map(pods.include, binding.inputs.get("subjects") or ())
        ):
            continue
        scope = _place(binding)[0] if kind == "RoleBinding" else ""
        given = binding.inputs["roleRef"]
        of = (str(given["kind"]), scope if given["kind"] == "Role" else "", str(given["name"]))
        for rule in roles.get(of, ()):
            yield from (f"{where}: {kind} {_place(binding)[1]}" for where in _granted(rule, scope, declared))


def _granted(rule: Json, scope: str, declared: list[Resource]) -> Iterator[str]:
    if not READ_VERBS & set(rule["verbs"]) or not {"", "*"} & set(rule.get("apiGroups", ())):
        return
    for each in platform_secrets(declared):
        namespace, name = _place(each)
        plural = f"{_kind(each).lower()}s"
        named = rule.get("resourceNames")
        if {plural, "*"} & set(rule.get("resources", ())) and scope in ("", namespace) and (not named or name in named):
            yield f"{namespace}/{name}"


def _by_azure(declared: list[Resource], pods: Pods) -> Iterator[str]:
    """Secrets that the Pods can read through Azure roles of the identities that they run with."""
    kept = [
        str(each.inputs["secretName"]) for each in declared if _kind(each) == "Secret" and "secretName" in each.inputs
    ]
    ours = _principals(declared, pods)
    for each in declared:
        if _kind(each) == "RoleAssignment" and each.inputs["principalId"] in ours:
            role = str(each.inputs["roleDefinitionId"]).rpartition("/")[2]
            if role in VAULT_ROLES:
                yield from (f"vault/{name}: {each.name}" for name in kept)


def _principals(declared: list[Resource], pods: Pods) -> set[str]:
    """Principals of the identities whose federated credentials are for accounts of the namespace."""
    from workbench.mocks.azure_answers import guid

    prefix = f"system:serviceaccount:{pods.namespace}:"
    names = {
        str(each.inputs["resourceName"])
        for each in declared
        if _kind(each) == "FederatedIdentityCredential" and str(each.inputs["subject"]).startswith(prefix)
    }
    return {guid("principal", name) for name in names}
