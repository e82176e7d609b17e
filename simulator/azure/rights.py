"""Authorization by Azure Resource Manager, which comes before every other check of a request."""

from __future__ import annotations

from typing import Literal

from simulator.azure import ids
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.registry import models
from simulator.azure.state import AzureState, arm_type

Verb = Literal["read", "write", "delete"]
USER_CREDENTIAL = "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action"
GROUP_TYPE, GROUP_ACTION = "microsoft.resources/resourcegroups", "Microsoft.Resources/subscriptions/resourceGroups"


def action(resource_id: str, verb: Verb) -> str:
    """The Azure action that a request on a resource needs, as `Microsoft.Network/virtualNetworks/subnets/write`."""
    found = arm_type(resource_id)
    return f"{GROUP_ACTION if found.lower() == GROUP_TYPE else found}/{verb}"


@models("arm-forbidden", "ra-forbidden")
def authorize(azure: AzureState, caller: str, wanted: str, scope: str, assigned: str = "") -> None:
    """Raises ArmError if the caller has no right to the action `wanted` on `scope`. The subscription's owner may do
    everything.

    `caller`: Entra object id. `assigned`: GUID of the assigned role, if the action is about a role assignment.
    """
    is_owner = ids.same(caller, azure.directory.deployer) and not any(
        ids.is_under(scope, each) for each in azure.directory.closed
    )
    if is_owner or azure.allowed(caller, wanted, scope, assigned):
        return
    raise ArmError(
        Refusal(
            "arm-forbidden",
            403,
            "AuthorizationFailed",
            f"The client '{caller}' with object id '{caller}' does not have authorization to perform action '{wanted}'"
            f" over scope '{scope}' or the scope is invalid. If access was recently granted, please refresh your"
            " credentials.",
        )
    )
