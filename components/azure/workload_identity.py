"""Azure identity for service accounts of the cluster. Pods exchange the token of their service account for a token of
the identity, so no key has to be stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pulumi
from pulumi_azure_native import managedidentity

from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE


@dataclass(frozen=True)
class IdentityPlace:
    """Resource group in which identities are created, and the issuer of the cluster's service account tokens, which
    the identities trust.
    """

    resource_group_name: pulumi.Input[str]
    issuer_url: pulumi.Input[str]


@dataclass(frozen=True)
class WorkloadIdentityArgs:
    """Inputs of `WorkloadIdentity`.

    `accounts`: service accounts as `(namespace, name)`. A namespace's account `default` is not allowed: every Pod that
      names no account runs as `default`.
    """

    identity_name: str
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    issuer_url: pulumi.Input[str]
    """Issuer of the cluster's tokens (`oidcIssuerProfile.issuerURL`)."""
    accounts: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for namespace, account in self.accounts:
            if account == "default":
                raise ValueError(f"the service account default of {namespace} applies to any Pod: it gets no identity")


class WorkloadIdentity(pulumi.ComponentResource):
    """A user-assigned identity that only the service accounts in `WorkloadIdentityArgs.accounts` can use. The component
    assigns the identity no role.

    Attributes:
        identity: the identity. Other components assign roles to its `principal_id`.
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
            # Tags are ignored, as for the cluster's identities: a changed tag would make the client's id unknown in
            # every preview.
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
                audiences=[TOKEN_AUDIENCE],
                # Azure refuses concurrent writes to the credentials of one identity.
                opts=pulumi.ResourceOptions(parent=self, depends_on=before),
            )
            before = [credential]
        self.register_outputs({"clientId": self.identity.client_id, "principalId": self.identity.principal_id})
