"""Kubernetes objects of a manifest as resources, in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components.cluster_target import ClusterTarget

_KINDS: Mapping[str, Any] = {
    "ServiceAccount": kubernetes.core.v1.ServiceAccount,
    "ResourceQuota": kubernetes.core.v1.ResourceQuota,
    "NetworkPolicy": kubernetes.networking.v1.NetworkPolicy,
    "Role": kubernetes.rbac.v1.Role,
    "RoleBinding": kubernetes.rbac.v1.RoleBinding,
    "ClusterRole": kubernetes.rbac.v1.ClusterRole,
    "ClusterRoleBinding": kubernetes.rbac.v1.ClusterRoleBinding,
    "ValidatingAdmissionPolicy": kubernetes.admissionregistration.v1.ValidatingAdmissionPolicy,
    "ValidatingAdmissionPolicyBinding": kubernetes.admissionregistration.v1.ValidatingAdmissionPolicyBinding,
    "MutatingAdmissionPolicy": kubernetes.admissionregistration.v1.MutatingAdmissionPolicy,
    "MutatingAdmissionPolicyBinding": kubernetes.admissionregistration.v1.MutatingAdmissionPolicyBinding,
}
_ARGUMENTS = {"roleRef": "role_ref", "automountServiceAccountToken": "automount_service_account_token"}
"""Fields whose argument has another name."""
_ENVELOPE = ("apiVersion", "kind", "metadata")


def declare(
    name: str,
    parent: pulumi.Resource,
    target: ClusterTarget,
    manifests: Sequence[Mapping[str, Any]],
    *,
    after: Sequence[pulumi.Resource] = (),
    common: str = "",
) -> list[pulumi.Resource]:
    """The objects as resources.

    Args:
        name: First part of every resource's name; the object's namespace, name and kind follow.
        manifests: Objects of the kinds known here. Values may be Outputs.
        after: Resources that must exist before any of them.
        common: Prefix of all names, which resource names omit. Where it is given, they omit namespaces too.
    """
    declared: dict[tuple[str, str, str], pulumi.Resource] = {}
    for manifest in manifests:
        kind, metadata = str(manifest["kind"]), manifest["metadata"]
        # `physical-ai-osmo` and `osmo-workflows` make `physical-ai-osmo-workflows`.
        place = "" if common else metadata.get("namespace", "").removeprefix(f"{name.rpartition('-')[2]}-")
        own = str(metadata["name"])
        label = "-".join(filter(None, (name, place, own.removeprefix(common).strip("-"), _word(kind))))
        bound = declared.get((kind.removesuffix("Binding"), metadata.get("namespace", ""), own))
        declared[kind, metadata.get("namespace", ""), own] = _KINDS[kind](
            label,
            metadata=metadata,
            **{_ARGUMENTS.get(part, part): value for part, value in manifest.items() if part not in _ENVELOPE},
            opts=target.options(parent, [*after, *([bound] if bound else [])]),
        )
    return list(declared.values())


def _word(kind: str) -> str:
    """`ValidatingAdmissionPolicyBinding` -> `policy-binding`, `ClusterRole` -> `cluster-role`."""
    short = kind.removeprefix("ValidatingAdmission")
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in short).strip("-")
