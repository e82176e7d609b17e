"""Kubernetes objects of a manifest as resources, in the order of the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pulumi
import pulumi_kubernetes as kubernetes

from components.kubernetes.agent_files import declare_files
from components.kubernetes.cluster_target import ClusterTarget
from components.kubernetes.fields import unknown_fields

_KINDS: Mapping[str, Any] = {
    "ConfigMap": kubernetes.core.v1.ConfigMap,
    "ServiceAccount": kubernetes.core.v1.ServiceAccount,
    "Service": kubernetes.core.v1.Service,
    "DaemonSet": kubernetes.apps.v1.DaemonSet,
    "Deployment": kubernetes.apps.v1.Deployment,
    "StatefulSet": kubernetes.apps.v1.StatefulSet,
    "CronJob": kubernetes.batch.v1.CronJob,
    "Namespace": kubernetes.core.v1.Namespace,
    "DeviceClass": kubernetes.resource.v1.DeviceClass,
    "ResourceClaim": kubernetes.resource.v1.ResourceClaim,
    "ResourceClaimTemplate": kubernetes.resource.v1.ResourceClaimTemplate,
    "PriorityClass": kubernetes.scheduling.v1.PriorityClass,
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
_ARGUMENTS = {
    "roleRef": "role_ref",
    "automountServiceAccountToken": "automount_service_account_token",
    "preemptionPolicy": "preemption_policy",
}
"""Argument name in the SDK, by field name in the manifest, for fields where the two names differ."""
_IMMUTABLE = ("ResourceClaim", "ResourceClaimTemplate")
"""Kinds whose spec the API server never changes (Kubernetes API reference, resource.k8s.io/v1)."""
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
    """Declares Kubernetes objects as Pulumi resources, and returns the resources.

    Args:
        name: First part of every resource's name; the object's namespace, name and kind follow.
        manifests: Manifests of the objects. Values may be Outputs.
        after: Resources that must exist before the first object.
        common: Prefix of the objects' names that is left out of the resources' names. With a prefix, the resources'
            names contain no namespace either.

    Raises:
        pulumi.RunError: this function cannot declare the kind of an object, or an object has a field that its kind does
            not have.
    """
    declared: dict[tuple[str, str, str], pulumi.Resource] = {}
    for manifest in manifests:
        kind, metadata = str(manifest["kind"]), manifest["metadata"]
        if kind not in _KINDS:
            raise pulumi.RunError(
                f"{kind} {metadata['name']}: a part declares no objects of this kind.\n"
                f"  Declare it in the part's component.py, as a resource. Kinds: {', '.join(_KINDS)}."
            )
        if wrong := list(unknown_fields(_KINDS[kind], manifest)):
            raise pulumi.RunError(f"{kind} {metadata['name']} of manifests/: {'; '.join(wrong)}.")
        # `physical-ai-osmo` and `osmo-workflows` make `physical-ai-osmo-workflows`.
        place = "" if common else metadata.get("namespace", "").removeprefix(f"{name.rpartition('-')[2]}-")
        own = str(metadata["name"])
        label = "-".join(filter(None, (name, place, own.removeprefix(common).strip("-"), _word(kind))))
        binds = str(manifest["spec"]["policyName"]) if kind.endswith("PolicyBinding") else own
        bound = declared.get((kind.removesuffix("Binding"), metadata.get("namespace", ""), binds))
        opts = target.options(parent, [*after, *([bound] if bound else [])])
        if kind in _IMMUTABLE:
            # Not protected, because they could not be replaced then. Pods that have a claim keep its GPUs.
            opts.replace_on_changes, opts.delete_before_replace, opts.protect = ["spec"], True, False
        declared[kind, metadata.get("namespace", ""), own] = _KINDS[kind](
            label,
            metadata=metadata,
            **{_ARGUMENTS.get(part, part): value for part, value in manifest.items() if part not in _ENVELOPE},
            opts=opts,
        )
    return list(declared.values())


class AgentObjects(Protocol):
    """Objects that an agent of `agents/` needs before its Pods."""

    @property
    def limits(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def rights(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def config_map(self) -> Mapping[str, Any]: ...


def declare_agent(
    name: str,
    parent: pulumi.Resource,
    target: ClusterTarget,
    objects: AgentObjects,
    *,
    namespace: pulumi.Resource,
    common: str,
    also: Sequence[pulumi.Resource] = (),
) -> list[pulumi.Resource]:
    """Declares what the Pods of an agent in `agents/` need: policies that limit the agent, then its rights, and the
    ConfigMap with its files. Returns the resources that the Pods have to wait for.

    Args:
        namespace: Namespace of the Pods.
        common: Prefix of the objects' names, which resource names omit.
        also: Other namespaces that the agent has rights in.
    """
    limits = declare(name, parent, target, objects.limits, after=[namespace, *also], common=common)
    rights = declare(name, parent, target, objects.rights, after=limits, common=common)
    code = declare_files(name, parent, target, objects.config_map, [namespace])
    return [*rights, code]


def _word(kind: str) -> str:
    """Short form of a kind for resource names: `ValidatingAdmissionPolicyBinding` -> `policy-binding`, `ClusterRole`
    -> `cluster-role`.
    """
    short = kind.removeprefix("ValidatingAdmission")
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in short).strip("-")
