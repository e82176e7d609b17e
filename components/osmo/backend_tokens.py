"""Login tokens for OSMO agents in the clusters of other stacks. Each token is a secret in the key vault, which only one
identity may read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_azure_native import keyvault, managedidentity

from components.azure.roles import assign_role
from components.azure.workload_identity import WorkloadIdentity, WorkloadIdentityArgs
from components.data.vault import Vault
from components.osmo.osmo_token import VaultLogin
from physical_ai.catalog.aks import Role
from physical_ai.catalog.azure_identity import TOKEN_AUDIENCE
from physical_ai.catalog.osmo import CONTROL_NAMESPACE, OPERATOR_NAMESPACE
from physical_ai.planning.osmo_token import OBJECTS
from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.osmo_token import served_secret
from physical_ai.settings.models.osmo import TokenFrom

NOTHING_YET = "none"
"""Value of a vault secret until the Job writes a token: ARM creates no empty secret."""


@dataclass(frozen=True)
class BackendTokensArgs:
    """Inputs of `BackendTokens`. `backends`: name of a stack's backend in OSMO, by the name of the stack."""

    vault: Vault
    backends: Mapping[str, str]
    names: Names
    resource_group_name: pulumi.Input[str]
    location: str
    tags: Mapping[str, str]
    issuer_url: pulumi.Input[str]
    subscription_id: str
    tenant_id: str


class BackendTokens(pulumi.ComponentResource):
    """Key vault secrets and identities for OSMO agents (backends) in the clusters of other stacks.

    A Job of the control plane writes the token of each backend into a vault secret. Each backend has an identity that
    can read this secret and no other; the backend's own stack federates the identity with its cluster.

    Attributes:
        login: login with which the Job writes the secrets.
        served: for each other stack, the vault and identity from which it fetches its token; nothing in it is secret.
    """

    login: VaultLogin
    served: dict[str, Any]

    def __init__(self, name: str, args: BackendTokensArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:osmo:BackendTokens", name, {}, opts)
        self._name, self._args = name, args
        writer = WorkloadIdentity(
            f"{name}-writer",
            WorkloadIdentityArgs(
                identity_name=args.names.identity("osmo-token"),
                resource_group_name=args.resource_group_name,
                location=args.location,
                tags=args.tags,
                issuer_url=args.issuer_url,
                accounts=((CONTROL_NAMESPACE, OBJECTS),),
            ),
            pulumi.ResourceOptions(parent=self),
        )
        ready: list[pulumi.Resource] = [writer]
        self.served = {}
        for stack, backend in args.backends.items():
            scope = self._secret(backend)
            reader = self._reader(backend)
            ready.append(self._role(f"{backend}-write", Role.KEY_VAULT_SECRETS_OFFICER, scope, writer.identity))
            self._role(f"{backend}-read", Role.KEY_VAULT_SECRETS_USER, scope, reader)
            self.served[stack] = {"vault": args.vault.uri, "identity": reader.id, "clientId": reader.client_id}
        self.login = VaultLogin(args.vault.uri, args.tenant_id, writer.identity.client_id, ready)
        self.register_outputs({})

    def _secret(self, backend: str) -> pulumi.Output[str]:
        """Declares the vault secret of a backend's token, and returns its id.

        Roles are assigned on this secret, which ARM requires to exist; the Job writes its value.
        """
        args = self._args
        return keyvault.Secret(
            f"{self._name}-{backend}",
            secret_name=served_secret(backend),
            vault_name=args.vault.name,
            resource_group_name=args.resource_group_name,
            properties=keyvault.SecretPropertiesArgs(value=NOTHING_YET),
            opts=pulumi.ResourceOptions(
                parent=self, ignore_changes=["properties", "tags"], retain_on_delete=True, depends_on=[args.vault]
            ),
        ).id

    def _reader(self, backend: str) -> managedidentity.UserAssignedIdentity:
        args = self._args
        return managedidentity.UserAssignedIdentity(
            f"{self._name}-{backend}-reader",
            resource_name_=args.names.identity(f"osmo-agents-{backend}"),
            resource_group_name=args.resource_group_name,
            location=args.location,
            tags=args.tags,
            opts=pulumi.ResourceOptions(parent=self, ignore_changes=["tags"]),
        )

    def _role(
        self, name: str, role: Role, scope: pulumi.Input[str], identity: managedidentity.UserAssignedIdentity
    ) -> pulumi.Resource:
        return assign_role(
            f"{self._name}-{name}",
            role=role,
            scope=scope,
            principal_id=identity.principal_id,
            principal_type="ServicePrincipal",
            subscription_id=self._args.subscription_id,
            opts=pulumi.ResourceOptions(parent=self),
        )


def fetching_login(
    name: str,
    source: TokenFrom,
    *,
    stack: str,
    issuer_url: pulumi.Input[str],
    tenant_id: str,
    opts: pulumi.ResourceOptions,
) -> VaultLogin:
    """Federates this cluster with the Azure identity `source.identity`, which the stack of the control plane has
    created, and returns the login to that stack's vault. Only the service account of this cluster's token program can
    use the identity.
    """
    parts: Sequence[str] = source.identity.split("/")
    credential = managedidentity.FederatedIdentityCredential(
        name,
        federated_identity_credential_resource_name=stack,
        resource_name_=parts[8],
        resource_group_name=parts[4],
        issuer=issuer_url,
        subject=f"system:serviceaccount:{OPERATOR_NAMESPACE}:{OBJECTS}",
        audiences=[TOKEN_AUDIENCE],
        opts=opts,
    )
    return VaultLogin(source.vault, tenant_id, source.client_id, [credential])
