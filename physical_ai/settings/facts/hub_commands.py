"""Commands for the owners of resources that the stack does not own: the hub, and an existing zone. Pure functions."""

from __future__ import annotations

import shlex

from physical_ai.settings.facts.naming import Names
from physical_ai.settings.facts.private_network import assigns_zone_role, existing_api_zone, private_network
from physical_ai.settings.models.tree import Settings

IDENTITY = "<principal id>"
"""Placeholder for the id of the cluster's identity, in a command that is printed before the identity exists."""


def peering_command(settings: Settings, subscription: str) -> str | None:
    """Command that creates the hub's side of the peering. None if the stack has no hub, or if the deployment creates
    the hub's side itself.

    Args:
        subscription: Subscription of the stack.
    """
    given = private_network(settings)
    if given is None or given.hub is None or given.hub.peer_back:
        return None
    names, parts = Names(settings.stack), given.hub.virtual_network_id.split("/")
    group = f"/subscriptions/{subscription}/resourceGroups/{names.resource_group}"
    remote = f"{group}/providers/Microsoft.Network/virtualNetworks/{names.virtual_network}"
    words = ["az", "network", "vnet", "peering", "create", "--subscription", parts[2], "--resource-group", parts[4]]
    words += ["--vnet-name", parts[8], "--name", names.peering, "--remote-vnet", remote]
    words += ["--allow-vnet-access", "--allow-forwarded-traffic"]
    return shlex.join(words + (["--allow-gateway-transit"] if given.hub.use_gateway else []))


def zone_role_command(settings: Settings, principal_id: str = IDENTITY) -> str | None:
    """Command that gives the cluster's identity its role on an existing DNS zone of the API server. None if there is no
    such zone, or if the deployment assigns the role.
    """
    zone = existing_api_zone(settings)
    if zone is None or assigns_zone_role(settings):
        return None
    words = ["az", "role", "assignment", "create", "--role", "Private DNS Zone Contributor", "--scope", zone]
    words += ["--assignee-principal-type", "ServicePrincipal", "--assignee-object-id", principal_id]
    return " ".join(each if each == IDENTITY else shlex.quote(each) for each in words)
