"""The account of a deployment: its subscription, and the deployer."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_azure_native import authorization


@dataclass(frozen=True)
class AzureAccount:
    """`object_id` is the deployer's Entra object id; None where the login has none."""

    subscription_id: str
    object_id: str | None


def azure_account() -> AzureAccount:
    """The account the Azure provider is logged in with.

    A synchronous call: the answer is known in previews too, and decides which roles are assigned.

    Raises:
        pulumi.RunError: no subscription is selected, or, outside a preview, the login has no object id.
    """
    client = authorization.get_client_config()
    return account(client.subscription_id, client.object_id, preview=pulumi.runtime.is_dry_run())


def account(subscription_id: str | None, object_id: str | None, *, preview: bool) -> AzureAccount:
    """Checks the provider's login. A preview can continue without the deployer, a deployment cannot."""
    if not subscription_id:
        raise pulumi.RunError(
            "No Azure subscription is selected. Run 'az account set --subscription <id>' or set ARM_SUBSCRIPTION_ID."
        )
    if object_id or preview:
        return AzureAccount(subscription_id, object_id or None)
    raise pulumi.RunError(
        "The Azure login has no Entra object id, so the deployer cannot be given the AKS RBAC Cluster Admin "
        "role, and nothing could be installed in the cluster. Log in with 'az login' or with a federated credential "
        "(ARM_USE_OIDC=true, ARM_CLIENT_ID, ARM_TENANT_ID)."
    )
