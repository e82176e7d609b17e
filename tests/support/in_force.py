"""Until an API server decides by what a test has applied or deleted.

It keeps policies, bindings and roles in caches, one a kind. Each is fed in the order of the changes, at a time of its
own, and policies are compiled once a second (k8s.io/apiserver, pkg/admission/plugin/policy/generic/policy_source.go).
So the last object of each kind is known last: when its effect is there, all changes before it have theirs. What a
policy takes from a parameter is in a cache of its own, of which this says nothing.
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
    """Returns when the API server knows every policy, role and binding as they are now."""
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
    """One policy that gives a ConfigMap a label, one that refuses another, and their bindings."""

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
    """A user of this name may read two kinds that do not exist: one in a namespace, one everywhere."""
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
