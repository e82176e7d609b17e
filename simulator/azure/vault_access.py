"""Check that a Pod's service account may read a secret of a key vault, with the answers that Azure and Entra give."""

from __future__ import annotations

import re

from simulator.azure import ids
from simulator.azure.bodies import get
from simulator.azure.roles import role_of
from simulator.azure.state import AzureState, Resource

READ = "Microsoft.KeyVault/vaults/secrets/getSecret/action"
_SCOPE = re.compile(r"/Microsoft\.KeyVault/vaults/(?P<vault>[^/]+)(/secrets/(?P<secret>[^/]+))?$", re.IGNORECASE)


def refusal(azure: AzureState, *, client_id: str, subject: str, vault: str, secret: str) -> str:
    """Reason why the Pod cannot read the secret; empty if it can.

    A vault that the simulator does not have is outside the stack and is assumed to have every secret.

    Args:
        client_id: Client id of the identity that the Pod names.
        subject: Subject of the Pod's token, `system:serviceaccount:<namespace>:<account>`.
    """
    identity, why = identity_refusal(azure, client_id, subject)
    if identity is None:
        return why
    known = next((each for each in azure.of_kind("Vault") if ids.name(each.id).lower() == vault.lower()), None)
    if not _may_read(azure, str(identity.outputs.get("principalId", "")), known, vault, secret):
        return (
            f"StatusCode=403, Forbidden: Caller is not authorized to perform action on resource. Action: '{READ}'."
            f" Resource: '{vault}/secrets/{secret}'. Inner error: ForbiddenByRbac"
        )
    if known is not None and azure.get(f"{known.id}/secrets/{secret}") is None:
        return f"StatusCode=404, SecretNotFound: A secret with (name/id) {secret} was not found in this key vault"
    return ""


def identity_refusal(azure: AzureState, client_id: str, subject: str) -> tuple[Resource | None, str]:
    """The identity that a Pod logs in as, or the reason why Entra refuses the login."""
    identity = next((each for each in azure.of_kind("UserAssignedIdentity") if _has(each, client_id)), None)
    if identity is None:
        return None, f"AADSTS700016: Application with identifier '{client_id}' was not found in the directory"
    credentials = azure.children(identity.id, "FederatedIdentityCredential")
    if subject not in {str(get(each.body, "properties.subject")) for each in credentials}:
        why = f"AADSTS700213: No matching federated identity record found for presented assertion subject '{subject}'"
        return None, why
    return identity, ""


def _has(identity: Resource, client_id: str) -> bool:
    return str(identity.outputs.get("clientId", "")).lower() == client_id.lower()


def _may_read(azure: AzureState, principal: str, known: Resource | None, vault: str, secret: str) -> bool:
    """True if the principal has a role in effect on the secret, on its vault, or, if the simulator has the vault
    (`known`), on a scope that contains the vault.
    """
    for assignment in azure.of_kind("RoleAssignment"):
        properties, scope = assignment.body["properties"], str(assignment.inputs["scope"])
        role = role_of(properties.get("roleDefinitionId"))
        if str(properties.get("principalId", "")).lower() != principal.lower() or role is None or not role.allows(READ):
            continue
        if assignment.facts.get("effectiveAt", 0) > azure.now:
            continue
        match = _SCOPE.search(scope)
        if match and match["vault"].lower() == vault.lower() and (match["secret"] or secret).lower() == secret.lower():
            return True
        if known is not None and ids.is_under(f"{known.id}/secrets/{secret}", scope):
            return True
    return False
