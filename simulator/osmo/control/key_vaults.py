"""Simulation of Entra ID and Azure Key Vault for the Pods of the token program (`token_pods`).

All simulations in the same $PHYSAI_HOME count as one subscription: a Pod may read another stack's vault if an identity
with the necessary role is federated with the Pod's service account. The values of a vault's secrets are in a file in
the folder of the vault's simulation. Only the current user can read the file, and it is deleted with the simulation.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from simulator.azure import ids
from simulator.azure.bodies import get, items
from simulator.azure.own_facts import TOKEN_AUDIENCE
from simulator.azure.state import AzureState, Resource
from simulator.azure.store import Store
from simulator.kubernetes.client import Client
from simulator.osmo.control import gateway_server, tokens
from simulator.osmo.control.gateway import Answer, Request
from simulator.subscription import AZURE_FILE

VALUES_FILE = "vault-values.json"
LOGIN = re.compile(r"/entra/[^/]+/oauth2/v2\.0/token")
SECRET = re.compile(r"/vault/(?P<vault>[a-z0-9-]+)/secrets/(?P<name>[A-Za-z0-9-]+)")
AUDIENCE = "https://vault.azure.net"
ACTIONS = {"GET": "Microsoft.KeyVault/vaults/secrets/getSecret/action"}
WRITE = "Microsoft.KeyVault/vaults/secrets/setSecret/action"
SECONDS = 3600


class KeyVaults:
    """Access to the key vaults of all simulations. `own`: folder of the simulation whose Pods send requests; `client`:
    client with which the Pods' tokens are reviewed.
    """

    def __init__(self, own: Path, client: Client) -> None:
        self._own, self._client = own, client

    def answers(self, request: Request) -> bool:
        return request.path.startswith(("/entra/", "/vault/"))

    def answer(self, request: Request) -> Answer:
        if LOGIN.fullmatch(request.path) and request.method == "POST":
            return self._log_in(request)
        match = SECRET.fullmatch(request.path)
        if match is None or request.method not in ("GET", "PUT"):
            return _refused(404, "NotFound", "The resource was not found")
        return self._secret(request, match["vault"], match["name"])

    def gateway(self, vault: str) -> str:
        """URL of the gateway of the stack that has the vault; empty if no simulation has it."""
        for folder, _ in self._vaults(vault):
            for port in folder.glob(f"clusters/*/{gateway_server.PORT_FILE}"):
                return gateway_server.address(port.parent)
        return ""

    def _simulations(self) -> Iterator[tuple[Path, Store]]:
        for file in sorted(self._own.parent.glob(f"*/{AZURE_FILE}")):
            yield file.parent, Store(file)

    def _vaults(self, name: str) -> Iterator[tuple[Path, Resource]]:
        for folder, store in self._simulations():
            for each in store.resources.values():
                if each.kind == "Vault" and ids.name(each.id).lower() == name.lower():
                    yield folder, each

    def _log_in(self, request: Request) -> Answer:
        client, assertion = str(request.field("client_id") or ""), str(request.field("client_assertion") or "")
        account = self._account(assertion)
        if not account:
            return _refused(401, "invalid_client", "AADSTS70025: the client assertion is not valid")
        for _, store in self._simulations():
            for each in store.resources.values():
                if each.kind != "UserAssignedIdentity" or each.outputs.get("clientId") != client:
                    continue
                if not self._is_federated(each.id, account):
                    break
                end = time.time() + SECONDS
                claims = {"oid": each.outputs["principalId"], "aud": AUDIENCE, "exp": end}
                return Answer(
                    200, {"access_token": tokens.sign(claims, tokens.key_in(self._own)), "expires_in": SECONDS}
                )
        text = f"AADSTS700213: No matching federated identity record found for presented assertion subject '{account}'"
        return _refused(400, "invalid_request", text)

    def _account(self, assertion: str) -> str:
        """Name of the service account, `system:serviceaccount:…`, to which a Kubernetes token belongs. Empty if the
        token is invalid or is not for Entra's token exchange.
        """
        spec = {"token": assertion, "audiences": [TOKEN_AUDIENCE]}
        review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}
        status = self._client.request("POST", "/apis/authentication.k8s.io/v1/tokenreviews", review)["status"]
        if not status.get("authenticated") or TOKEN_AUDIENCE not in (status.get("audiences") or ()):
            return ""
        return str(status["user"]["username"])

    def _is_federated(self, identity: str, account: str) -> bool:
        """True if any stack has given the identity a federated credential for the service account `account` in this
        cluster.
        """
        own = Store(self._own / AZURE_FILE).resources.values()
        issuers = {get(each.outputs, "oidcIssuerProfile.issuerURL") for each in own if each.kind == "ManagedCluster"}
        return any(
            each.kind == "FederatedIdentityCredential"
            and ids.same(ids.parent(each.id), identity)
            and get(each.body, "properties.subject") == account
            and get(each.body, "properties.issuer") in issuers
            for each in own
        )

    def _secret(self, request: Request, vault: str, name: str) -> Answer:
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        try:
            claims = tokens.claims_of(token if scheme == "Bearer" else "", tokens.key_in(self._own))
        except tokens.Invalid as problem:
            return _refused(401, "Unauthorized", str(problem))
        found = next(self._vaults(vault), None)
        if found is None or claims.get("aud") != AUDIENCE:
            return _refused(404, "NotFound", f"There is no vault {vault}")
        folder, resource = found
        if not self._reaches(resource, folder):
            text = "Public network access is disabled and request is not from a trusted service nor via an approved"
            return _refused(403, "Forbidden", f"{text} private link.")
        action = ACTIONS.get(request.method, WRITE)
        state = AzureState(Store(folder / AZURE_FILE).resources, now=time.time())
        if not state.allowed(str(claims["oid"]), action, f"{resource.id}/secrets/{name}"):
            return _refused(403, "Forbidden", f"Caller is not authorized to perform action on resource: '{action}'.")
        if request.method == "PUT":
            self._keep(folder, name, {"value": request.field("value"), "tags": request.field("tags") or {}})
        held = _values(folder).get(name)
        # A secret that ARM has written has no tags, and the simulation does not store its value.
        return Answer(200, {"id": f"https://{vault}.vault.azure.net/secrets/{name}", "value": "none", **(held or {})})

    def _reaches(self, vault: Resource, folder: Path) -> bool:
        """True if the network of the caller's stack can reach the vault: over the internet, through a private endpoint
        in its own network, or through a hub that both stacks' networks are peered with.
        """
        if get(vault.body, "properties.publicNetworkAccess") != "Disabled":
            return True
        own, theirs = (Store(each / AZURE_FILE).resources.values() for each in (self._own, folder))
        if _has_endpoint(own, vault.id):
            return True
        hubs = [
            {get(each.body, "properties.remoteVirtualNetwork.id") for each in side if each.kind == _PEERING}
            for side in (own, theirs)
        ]
        return bool(hubs[0] & hubs[1] - {None}) and _has_endpoint(theirs, vault.id)

    def _keep(self, folder: Path, name: str, row: Mapping[str, Any]) -> None:
        unfinished = folder / f"{VALUES_FILE}.{os.getpid()}"
        with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump({**_values(folder), name: row}, file)
        unfinished.rename(folder / VALUES_FILE)


_PEERING = "VirtualNetworkPeering"


def _has_endpoint(resources: Any, vault: str) -> bool:
    return any(
        ids.same(str(get(link, "properties.privateLinkServiceId") or link.get("privateLinkServiceId") or ""), vault)
        for each in cast("list[Resource]", list(resources))
        if each.kind == "PrivateEndpoint"
        for link in items(each.body, "properties.privateLinkServiceConnections")
    )


def _values(folder: Path) -> dict[str, Any]:
    file = folder / VALUES_FILE
    return json.loads(file.read_text()) if file.exists() else {}


def _refused(code: int, word: str, text: str) -> Answer:
    return Answer(code, {"error": {"code": word, "message": text}})
