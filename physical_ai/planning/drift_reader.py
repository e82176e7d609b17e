"""Objects that let drift detection read the cluster."""

from __future__ import annotations

from typing import Any

from physical_ai.planning import manifests
from physical_ai.settings.models.access import Access

CLAIM_KINDS = {
    "apiGroups": ["resource.k8s.io"],
    "resources": ["deviceclasses", "resourceclaims", "resourceclaimtemplates"],
    "verbs": ["get"],
}
"""RBAC rule by which the drift reader may get device classes, resource claims and claim templates; only for stacks that
declare claims.
"""


QUEUES = {"apiGroups": ["scheduling.run.ai"], "resources": ["queues"], "verbs": ["get"]}
"""RBAC rule by which the drift reader may get KAI's queues; only for stacks that declare one."""


def drift_reader_objects(access: Access, *, claims: bool = False, queues: bool = False) -> list[dict[str, Any]]:
    """ClusterRole of the drift reader, and its binding to the principals with role `drift-reader`; empty if the
    settings name no such principal.

    In AKS, a service principal is a user named by its object id, and a group is named by its object id.
    """
    subjects = [
        {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "Group" if each.principal_type == "Group" else "User",
            "name": each.principal_id,
        }
        for each in access.principals
        if each.role == "drift-reader"
    ]
    if not subjects:
        return []
    role, binding = manifests.load("drift-reader.yaml")
    if claims:
        role["rules"].append(CLAIM_KINDS)
    if queues:
        role["rules"].append(QUEUES)
    return [role, {**binding, "subjects": subjects}]
