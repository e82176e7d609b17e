"""The certificate of OSMO's gateway from a key vault, read by AKS's secrets provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
import pulumi_kubernetes as kubernetes

from components.azure.roles import assign_role
from components.azure.workload_identity import WorkloadIdentity, WorkloadIdentityArgs
from components.kubernetes.cluster_target import ClusterTarget
from physical_ai.catalog.aks import Role
from physical_ai.catalog.osmo import CONTROL_NAMESPACE
from physical_ai.planning.gateway_certificate import ACCOUNT, GatewayCertificatePlan
from physical_ai.settings.facts.naming import Names


@dataclass(frozen=True)
class GatewayCertificateArgs:
    target: ClusterTarget
    plan: GatewayCertificatePlan
    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    issuer_url: pulumi.Input[str]
    """Issuer of the cluster's service account tokens."""
    tenant_id: str
    subscription_id: str
    namespace: kubernetes.core.v1.Namespace


class GatewayCertificate(pulumi.ComponentResource):
    """The gateway's service account and identity, which may read this one certificate, and the SecretProviderClass
    that the gateway's Pods mount.

    The Secret is not declared: the secrets provider makes it when the first Pod mounts the class, and renews it.

    Attributes:
        before: resources that must exist before the gateway's Pods.
    """

    before: list[pulumi.Resource]

    def __init__(self, name: str, args: GatewayCertificateArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:GatewayCertificate", name, {}, opts)
        identity = WorkloadIdentity(
            f"{name}-identity",
            WorkloadIdentityArgs(
                identity_name=args.names.identity(ACCOUNT),
                resource_group_name=args.resource_group_name,
                location=args.location,
                tags=args.tags,
                issuer_url=args.issuer_url,
                accounts=((CONTROL_NAMESPACE, ACCOUNT),),
            ),
            pulumi.ResourceOptions(parent=self),
        )
        role = assign_role(
            f"{name}-role",
            role=Role.KEY_VAULT_SECRETS_USER,
            scope=args.plan.scope,
            principal_id=identity.identity.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=args.subscription_id,
            opts=pulumi.ResourceOptions(parent=self),
        )
        account = kubernetes.core.v1.ServiceAccount(
            f"{name}-account",
            metadata={"name": ACCOUNT, "namespace": CONTROL_NAMESPACE},
            # Envoy calls no API of Kubernetes; kubelet hands the provider a token of its own.
            automount_service_account_token=False,
            opts=args.target.options(self, [args.namespace]),
        )
        declared = args.plan.provider_class(identity.identity.client_id, args.tenant_id)
        provider_class = kubernetes.apiextensions.CustomResource(
            f"{name}-class",
            api_version=declared["apiVersion"],
            kind=declared["kind"],
            metadata=declared["metadata"],
            spec=declared["spec"],
            opts=args.target.options(self, [args.namespace]),
        )
        self.before = [role, account, provider_class, identity]
        self.register_outputs({})
