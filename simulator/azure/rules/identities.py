"""Rules on managed identities and their federated credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.errors import Refusal
from simulator.azure.rules.base import Put, on_put, refuse

NAME = re.compile(r"^[A-Za-z0-9][A-Za-z0-9_-]{2,127}$")
MOST_CREDENTIALS = 20
LONGEST = 600
ENTRA_ISSUERS = ("https://login.microsoftonline.com/", "https://sts.windows.net/")


@on_put("UserAssignedIdentity", "uai-name")
def name(put: Put) -> Iterator[Refusal]:
    if not NAME.match(ids.name(put.id)):
        message = f"'{ids.name(put.id)}' must have 3 to 128 letters, digits, - and _, a letter or digit first."
        yield refuse(put, "uai-name", message, "name")


@on_put(
    "FederatedIdentityCredential",
    "fic-limit",
    "fic-unique",
    "fic-audience",
    "fic-issuer",
    "fic-subject",
    "fic-issuer-slash",
)
def federated_credential(put: Put) -> Iterator[Refusal]:
    """Refusals of a federated credential.

    An issuer that differs from the token's issuer only by a final slash is not refused: Azure accepts it too, and only
    the later token exchange fails.
    """
    issuer, subject = str(put.properties.get("issuer", "")), str(put.properties.get("subject", ""))
    others = [c for c in put.azure.children(ids.parent(put.id), put.kind) if not ids.same(c.id, put.id)]
    if len(others) >= MOST_CREDENTIALS:
        message = f"An identity has at most {MOST_CREDENTIALS} federated identity credentials."
        yield refuse(put, "fic-limit", message)
    if any(
        get(other.body, "properties.issuer") == issuer and get(other.body, "properties.subject") == subject
        for other in others
    ):
        message = f"Issuer and subject combination already exists for this Managed Identity: {issuer}, {subject}."
        yield refuse(put, "fic-unique", message)
    audiences = items(put.properties, "audiences")
    if len(audiences) != 1 or not 0 < len(str(audiences[0])) <= LONGEST:
        message = "audiences must hold exactly one entry, usually api://AzureADTokenExchange."
        yield refuse(put, "fic-audience", message, "properties.audiences")
    if not issuer.startswith("https://") or len(issuer) > LONGEST or issuer.startswith(ENTRA_ISSUERS):
        message = f"Issuer '{issuer}' must be an https URL of at most {LONGEST} characters that is not Entra's own."
        yield refuse(put, "fic-issuer", message, "properties.issuer")
    if not 0 < len(subject) <= LONGEST:
        yield refuse(put, "fic-subject", f"subject must have 1 to {LONGEST} characters.", "properties.subject")
