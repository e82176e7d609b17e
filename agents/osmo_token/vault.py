"""A secret of Azure Key Vault with a token for the agents of another cluster, and the login that its reader needs.

The requests are those of Entra Workload ID (a service account's token is exchanged for one of the identity) and of Key
Vault's API for secrets, 7.4.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from json_http import Refused, Server
from osmo_token.secret import Held

SCOPE = "https://vault.azure.net/.default"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
API_VERSION = "?api-version=7.4"
NAME, PREVIOUS_NAME, EXPIRES = "token-name", "token-previous-name", "token-expires"
"""Tags of the secret."""


class NotYet(Refused):
    """Refused for a right, which may be minutes old and not in effect yet."""

    @property
    def is_transient(self) -> bool:
        return True


@dataclass(frozen=True)
class Identity:
    """An identity in Entra that the Pod's service account is federated with; `file` has the account's token."""

    authority: str
    tenant: str
    client: str
    file: Path

    def token(self) -> str:
        """A token for key vaults. Raises Refused."""
        assertion = self.file.read_text().strip()
        form = {
            "grant_type": "client_credentials",
            "client_id": self.client,
            "scope": SCOPE,
            "client_assertion_type": ASSERTION,
            "client_assertion": assertion,
        }
        server = Server(self.authority, hidden=lambda: frozenset([assertion]))
        body, kind = urllib.parse.urlencode(form).encode(), "application/x-www-form-urlencoded"
        try:
            answer = server.request("POST", f"/{self.tenant}/oauth2/v2.0/token", body, kind, anonymous=True)
        except Refused as refusal:
            if refusal.code in (400, 401, 403):  # the credential may be seconds old
                raise NotYet("the login of the identity", refusal.code, refusal.reason) from None
            raise
        found = str(cast("Mapping[str, Any]", answer or {}).get("access_token") or "")
        if not found:
            raise Refused("the login of the identity", 0, "the answer has no token")
        return found


class VaultSecret:
    """One secret of a vault; it has the methods of `TokenSecret`."""

    def __init__(self, url: str, name: str, bearer: Callable[[], str]) -> None:
        self._server, self._path = (
            Server(url, bearer=bearer, hidden=lambda: frozenset(self._values)),
            f"/secrets/{name}",
        )
        self._values: set[str] = set()

    def read(self) -> Held:
        """Raises Refused."""
        found = _map(self._request("GET"))
        tags = _map(found.get("tags"))
        name, value = str(tags.get(NAME) or ""), str(found.get("value") or "")
        return Held(
            # Without a name it is what the deployment wrote to create the secret.
            token=value if name else "",
            previous="",
            name=name,
            previous_name=str(tags.get(PREVIOUS_NAME) or ""),
            state="",
            version="",
            expires=str(tags.get(EXPIRES) or ""),
        )

    def write(self, held: Held, expires: str) -> None:
        """Raises Refused."""
        self._values.add(held.token)
        tags = {NAME: held.name, PREVIOUS_NAME: held.previous_name, EXPIRES: expires}
        self._request("PUT", {"value": held.token, "tags": {key: text for key, text in tags.items() if text}})

    def write_state(self, held: Held, state: str) -> None:
        """A vault's secret has no state: whoever reads it asks the service."""

    def _request(self, method: str, body: Any = None) -> Any:
        try:
            return self._server.request(method, f"{self._path}{API_VERSION}", body)
        except Refused as refusal:
            if refusal.code == 403:
                raise NotYet(f"{method} {self._path} of the vault", refusal.code, refusal.reason) from None
            raise


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
