"""The subscription of a deployment, and its tenant.

Who is logged in decides nothing: the settings name the deployers, so a run by another identity plans the same.
"""

from __future__ import annotations

import pulumi
from pulumi_azure_native import authorization


def azure_subscription() -> str:
    """Id of the subscription that the Azure provider is logged in to.

    A synchronous call: the ids of roles contain it, and are known in previews too.

    Raises:
        pulumi.RunError: no subscription is selected.
    """
    return selected(authorization.get_client_config().subscription_id)


def azure_tenant() -> str:
    """Id of the Entra tenant of that subscription, which a vault has to name."""
    return authorization.get_client_config().tenant_id


def selected(subscription_id: str | None) -> str:
    """The selected subscription. Raises pulumi.RunError where there is none."""
    if not subscription_id:
        raise pulumi.RunError(
            "No Azure subscription is selected. Run 'az account set --subscription <id>' or set ARM_SUBSCRIPTION_ID."
        )
    return subscription_id
