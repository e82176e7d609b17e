"""Check that a Pod's service account may write records of a public DNS zone, with the answers that Azure and Entra
give.
"""

from __future__ import annotations

from simulator.azure import ids
from simulator.azure.roles import role_of
from simulator.azure.state import AzureState
from simulator.azure.vault_access import identity_refusal

WRITE = "Microsoft.Network/dnsZones/TXT/write"


def zone_refusal(azure: AzureState, *, client_id: str, subject: str, zone_id: str) -> str:
    """Reason why the Pod cannot write records in the zone; empty if it can.

    The zone may be outside the simulator, since only the role assignments decide.
    """
    identity, why = identity_refusal(azure, client_id, subject)
    if identity is None:
        return why
    principal = str(identity.outputs.get("principalId", "")).lower()
    for assignment in azure.of_kind("RoleAssignment"):
        properties, scope = assignment.body["properties"], str(assignment.inputs["scope"])
        role = role_of(properties.get("roleDefinitionId"))
        in_effect = assignment.facts.get("effectiveAt", 0) <= azure.now
        if str(properties.get("principalId", "")).lower() == principal and role is not None and in_effect:
            covers = scope.lower() == zone_id.lower() or ids.is_under(zone_id, scope)
            if covers and role.allows(WRITE):
                return ""
    return (
        "AuthorizationFailed: The client does not have authorization to perform action"
        f" '{WRITE}' over scope '{zone_id}/TXT/_acme-challenge'"
    )
