"""The subscription of a deployment, and its tenant.

A plan is the same for every identity that runs the program, because the deployers are named in the settings.
"""

from __future__ import annotations

import pulumi
from pulumi_azure_native import authorization


def azure_subscription() -> str:
    """Id of the subscription that the Azure provider is logged in to.

    The function asks the provider synchronously and returns a plain text, not an Output. So ids that contain the
    subscription's id, such as the ids of roles, are known in previews too.

    Raises:
        pulumi.RunError: no subscription is selected.
    """
    return selected(authorization.get_client_config().subscription_id)


def azure_tenant() -> str:
    """Id of the Entra tenant of the selected subscription, which a key vault has to name."""
    return authorization.get_client_config().tenant_id


def selected(subscription_id: str | None) -> str:
    """Returns `subscription_id`. Raises pulumi.RunError if it is None or empty, because no subscription is selected."""
    if not subscription_id:
        raise pulumi.RunError(
            "No Azure subscription is selected. Run 'az account set --subscription <id>' or set ARM_SUBSCRIPTION_ID."
        )
    return subscription_id
