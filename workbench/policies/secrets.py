"""Rules on access to secrets in the cluster, on Azure identities and the service accounts that use them, and on the key
of OSMO's database.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from physical_ai.catalog.osmo import SERVICE_ACCOUNT, WORKFLOWS_NAMESPACE
from physical_ai.catalog.osmo_service import MEK_CONFIG, MEK_SECRET_NAME
from physical_ai.findings import Severity
from workbench.policies.data_services import FEDERATED
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

RBAC = "kubernetes:rbac.authorization.k8s.io/v1"
BINDINGS = (f"{RBAC}:RoleBinding", f"{RBAC}:ClusterRoleBinding")
ROLES = (f"{RBAC}:Role", f"{RBAC}:ClusterRole")
SECRET, CONFIG_MAP = "kubernetes:core/v1:Secret", "kubernetes:core/v1:ConfigMap"
READ_VERBS = frozenset({"get", "list", "watch", "*"})
EVERYBODY = frozenset({"system:authenticated", "system:unauthenticated", "system:serviceaccounts"})
OF_TASKS = f"system:serviceaccounts:{WORKFLOWS_NAMESPACE}"
_KUBERNETES_DOCS = "https://kubernetes.io/docs/concepts/security/rbac-good-practices/"


def _metadata(resource: Resource) -> dict[str, Any]:
    return known_map(resource.inputs.get("metadata"))


def _subjects(resource: Resource) -> Iterator[tuple[int, dict[str, Any]]]:
    yield from ((index, known_map(each)) for index, each in enumerate(known_list(resource.inputs.get("subjects"))))


def _is_task(subject: Mapping[str, Any]) -> bool:
    name = known(subject.get("name"))
    if known(subject.get("kind")) == "Group":
        return name in EVERYBODY or name == OF_TASKS
    return known(subject.get("namespace")) == WORKFLOWS_NAMESPACE and name in (SERVICE_ACCOUNT, "default")


def _role_of(binding: Resource, stack: Stack) -> Resource | None:
    given = known_map(binding.inputs.get("roleRef"))
    kind, name = known(given.get("kind")), known(given.get("name"))
    place = known(_metadata(binding).get("namespace")) if kind == "Role" else None
    for each in stack.of_type(f"{RBAC}:{kind}"):
        metadata = _metadata(each)
        if known(metadata.get("name")) == name and known(metadata.get("namespace")) == place:
            return each
    return None


def _on_secrets(rule: Mapping[str, Any]) -> bool:
    """True if a rule of a Kubernetes role allows reading Secrets."""
    conditions = (("apiGroups", {"", "*"}), ("resources", {"secrets", "*"}), ("verbs", READ_VERBS))
    return all(values & set(known_list(rule.get(key))) for key, values in conditions)


def _reads_secrets(role: Resource) -> bool:
    return any(_on_secrets(known_map(rule)) for rule in known_list(role.inputs.get("rules")))


def _nothing_for_tasks(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if resource.type == SECRET:
        if known(_metadata(resource).get("namespace")) == WORKFLOWS_NAMESPACE:
            yield Violation("metadata.namespace", "use another namespace: every Pod there can mount it")
        return
    role = _role_of(resource, stack)
    for index, subject in _subjects(resource):
        if _is_task(subject) and role is not None and _reads_secrets(role):
            yield Violation(f"subjects[{index}]", f"remove it, or the right to read Secrets from {role.name}")


def _nobody_in_particular(resource: Resource, _: Stack) -> Iterable[Violation]:
    for index, subject in _subjects(resource):
        kind, name = known(subject.get("kind")), str(known(subject.get("name"), ""))
        is_group = kind == "Group" and (name in EVERYBODY or name.startswith("system:serviceaccounts:"))
        if is_group or (kind == "User" and name == "system:anonymous"):
            yield Violation(f"subjects[{index}]", f"name who needs the right; {name} is everybody")
        elif kind == "ServiceAccount" and name == "default":
            yield Violation(f"subjects[{index}]", "use an account of its own; every Pod without one has this")


def _named_secrets(resource: Resource, _: Stack) -> Iterable[Violation]:
    for index, given in enumerate(known_list(resource.inputs.get("rules"))):
        rule = known_map(given)
        if _on_secrets(rule) and not known_list(rule.get("resourceNames")):
            yield Violation(f"rules[{index}].resourceNames", "name the Secrets that are needed")


def _one_plane(resource: Resource, stack: Stack) -> Iterable[Violation]:
    identity, own = known(resource.inputs.get("resourceName")), _namespace(resource)
    for other in stack.of_type(FEDERATED):
        theirs = _namespace(other)
        if known(other.inputs.get("resourceName")) == identity is not None and own and theirs and own != theirs:
            yield Violation("resourceName", f"use an identity of its own: accounts of {theirs} have this one too")
            return


def _namespace(credential: Resource) -> str:
    subject = str(known(credential.inputs.get("subject"), ""))
    return subject.split(":")[2] if subject.startswith("system:serviceaccount:") else ""


def _kept_key(resource: Resource, stack: Stack) -> Iterable[Violation]:
    name = known(_metadata(resource).get("name"))
    if (
        resource.type == CONFIG_MAP
        and name == MEK_CONFIG
        and "meks: {}" not in str(known(known_map(resource.inputs.get("data")).get("mek.yaml"), "meks: {}"))
    ):
        yield Violation("data", f"keep the key in the Secret {MEK_SECRET_NAME}: readers of the cluster read ConfigMaps")
    if resource.type == SECRET and name == MEK_SECRET_NAME:
        # The plugin keeps `stringData` as `data`: with one of the two ignored, the next run would empty the Secret.
        for path in sorted({"data", "stringData"} - set(resource.options.ignore_changes)):
            yield Violation(path, f"add {path} to ignore_changes")
        if stack.is_production and not resource.options.protect:
            yield Violation("", "set `protect: true` in the stack's settings")


RULES = (
    Rule(
        "tasks-read-no-secret",
        Severity.ERROR,
        "A task runs code from anyone who may submit workflows.",
        _nothing_for_tasks,
        (SECRET, *BINDINGS),
        topic=Topic.SECURITY,
        link=_KUBERNETES_DOCS,
        needs_whole_stack=True,
    ),
    Rule(
        "named-subjects",
        Severity.ERROR,
        "A right of everybody, or of every Pod without an account of its own, is also an attacker's.",
        _nobody_in_particular,
        BINDINGS,
        topic=Topic.SECURITY,
        link=_KUBERNETES_DOCS,
    ),
    Rule(
        "named-secrets",
        Severity.ERROR,
        "A role that reads all Secrets of a namespace reads those that are added tomorrow, and tokens of all accounts.",
        _named_secrets,
        ROLES,
        topic=Topic.SECURITY,
        link=_KUBERNETES_DOCS,
    ),
    Rule(
        "identity-of-one-plane",
        Severity.ERROR,
        "Control plane, agents and tasks must not be the same to Azure: roles of one would be roles of all.",
        _one_plane,
        (FEDERATED,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/entra/workload-id/workload-identity-federation",
        needs_whole_stack=True,
    ),
    Rule(
        "master-key-kept",
        Severity.ERROR,
        "With another master encryption key nothing that OSMO's database holds encrypted can be read again.",
        _kept_key,
        (SECRET, CONFIG_MAP),
        topic=Topic.SECURITY,
        link="https://github.com/NVIDIA/OSMO/tree/main/docs",
        needs=("ignore_changes", "protect"),
    ),
)
