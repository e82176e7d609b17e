"""An Azure identity for service accounts of the cluster: Pods trade their token for it, and no key exists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import managedidentity

AUDIENCE = "api://AzureADTokenExchange"
USE_LABEL = "azure.workload.identity/use"
"""On Pods, with the value `true`: AKS gives them the token to trade."""
CLIENT_ANNOTATION = "azure.workload.identity/client-id"
"""On service accounts: the identity to trade it for."""


@dataclass(frozen=True)
class WorkloadIdentityArgs:
    """`accounts` are service accounts as `(namespace, name)`. None may be a namespace's `default`: every Pod that says
    nothing runs as that."""

    identity_name: str
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    issuer_url: pulumi.Input[str]
    """Of the cluster's tokens (`oidcIssuerProfile.issuerURL`)."""
    accounts: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for namespace, account in self.accounts:
            if account == "default":
                raise ValueError(f"the service account default of {namespace} is that of any Pod: it gets no identity")


class WorkloadIdentity(pulumi.ComponentResource):
    """A user-assigned identity that only some service accounts can become. It has no role of its own.

    Attributes:
        identity: grant roles to its `principal_id`.
    """

    identity: managedidentity.UserAssignedIdentity

    def __init__(self, name: str, args: WorkloadIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:azure:WorkloadIdentity", name, {}, opts)
        self.identity = managedidentity.UserAssignedIdentity(
            f"{name}-identity",
            resource_name_=args.identity_name,
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            # As those of the cluster: a changed tag would make the client's id unknown in every preview.
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["tags"]),
        )
        before: list[pulumi.Resource] = []
        for namespace, account in args.accounts:
            credential = managedidentity.FederatedIdentityCredential(
                f"{name}-{account}",
                federated_identity_credential_resource_name=f"{namespace}-{account}",
                resource_name_=self.identity.name,
                resource_group_name=args.resource_group_name,
                issuer=args.issuer_url,
                subject=f"system:serviceaccount:{namespace}:{account}",
                audiences=[AUDIENCE],
                # Azure refuses two writes at a time to the credentials of one identity.
                opts=pulumi.ResourceOptions(parent=self, depends_on=before),
            )
            before = [credential]
        self.register_outputs({"clientId": self.identity.client_id, "principalId": self.identity.principal_id})
