"""Waits until an API server decides by the policies and roles that a test has applied or deleted.

The API server keeps policies, bindings and roles in one cache for each kind. Each cache receives the changes in their
order, but at its own time, and policies are compiled once a second (k8s.io/apiserver,
pkg/admission/plugin/policy/generic/policy_source.go). So one more object of each kind is created here: when it takes
effect, all earlier changes have taken effect too. Parameters of policies are in another cache, for which this does not
wait.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any

from simulator.kubernetes import ApiError, Client
from simulator.kubernetes.client import APPLY_PATCH
from tests.support.waiting import until

ADMISSION, RIGHTS = "admissionregistration.k8s.io", "rbac.authorization.k8s.io"
GROUP, NAMESPACE = "in-force.example", "default"
MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
CREATED_MAPS = {
    "resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["CREATE"]}]
}
Json = dict[str, Any]


def wait_until_in_force(client: Client) -> None:
    """Returns when the API server decides by every policy, role and binding as they are now."""
    mark = f"in-force-{uuid.uuid4().hex[:8]}"
    marks = [*_policies(mark), *_rights(mark)]
    paths = [client.path(each["apiVersion"], each["kind"], each["metadata"].get("namespace"), mark) for each in marks]
    try:
        for path, item in zip(paths, marks, strict=True):
            client.patch(path, item, APPLY_PATCH, {"fieldManager": "test", "force": "true"})
        for kind in ("roles", "clusterroles"):
            until(lambda kind=kind: _is_allowed(client, mark, kind), f"{kind} and their bindings are not known")
        until(lambda: _labels(client, mark), "mutating policies are not known")
        until(lambda: _is_refused(client, mark), "validating policies are not known")
    finally:
        for path in reversed(paths):
            with suppress(ApiError):
                client.request("DELETE", path)


def _policies(mark: str) -> list[Json]:
    """Policy that gives one ConfigMap a label, policy that refuses another ConfigMap, and their bindings."""

    def policy(kind: str, suffix: str, **spec: Any) -> list[Json]:
        named = [{"name": "named", "expression": f"object.metadata.name == '{mark}-{suffix}'"}]
        common = {"failurePolicy": "Ignore", "matchConstraints": CREATED_MAPS, "matchConditions": named}
        bound = {"policyName": mark, **({"validationActions": ["Deny"]} if "validations" in spec else {})}
        return [
            _object(f"{ADMISSION}/v1", kind, mark, spec={**common, **spec}),
            _object(f"{ADMISSION}/v1", f"{kind}Binding", mark, spec=bound),
        ]

    label = f"Object{{metadata: Object.metadata{{labels: {{'{GROUP}/mark': '{mark}'}}}}}}"
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": label}}
    return [
        *policy("MutatingAdmissionPolicy", "labelled", reinvocationPolicy="Never", mutations=[mutation]),
        *policy("ValidatingAdmissionPolicy", "refused", validations=[{"expression": "false", "message": mark}]),
    ]


def _rights(mark: str) -> list[Json]:
    """Role and ClusterRole with which the user `mark` may read kinds that do not exist, and their bindings."""
    found: list[Json] = []
    for kind, metadata in (("Role", {"namespace": NAMESPACE}), ("ClusterRole", {})):
        rule = {"apiGroups": [GROUP], "resources": [f"{kind.lower()}s"], "verbs": ["get"]}
        subject = {"kind": "User", "name": mark, "apiGroup": RIGHTS}
        role = {"kind": kind, "name": mark, "apiGroup": RIGHTS}
        found += [
            _object(f"{RIGHTS}/v1", kind, mark, metadata, rules=[rule]),
            _object(f"{RIGHTS}/v1", f"{kind}Binding", mark, metadata, subjects=[subject], roleRef=role),
        ]
    return found


def _object(api_version: str, kind: str, name: str, metadata: Json | None = None, **fields: Any) -> Json:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **(metadata or {})}, **fields}


def _is_allowed(client: Client, user: str, resource: str) -> bool:
    attributes = {"namespace": NAMESPACE, "verb": "get", "group": GROUP, "resource": resource}
    review = _object("authorization.k8s.io/v1", "SubjectAccessReview", "")
    review |= {"metadata": {}, "spec": {"user": user, "resourceAttributes": attributes}}
    answer = client.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)
    return bool(answer["status"]["allowed"])


def _labels(client: Client, mark: str) -> Json:
    made = _object("v1", "ConfigMap", f"{mark}-labelled")
    return client.request("POST", MAPS, made, {"dryRun": "All"})["metadata"].get("labels", {})


def _is_refused(client: Client, mark: str) -> bool:
    try:
        client.request("POST", MAPS, _object("v1", "ConfigMap", f"{mark}-refused"), {"dryRun": "All"})
    except ApiError as refusal:
        return mark in str(refusal)
    return False
