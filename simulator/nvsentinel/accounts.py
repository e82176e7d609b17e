"""Clients with the rights of NVSentinel's service accounts, so that roles and admission policies apply to
its requests.
"""

from __future__ import annotations

import time

from simulator.kubernetes.client import Client
from simulator.nvsentinel.names import NAMESPACE

TOKEN_SECONDS = 3600


class Accounts:
    """Clients by service account, each with a token that the API server issues."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._held: dict[str, tuple[Client, float]] = {}

    def client(self, account: str) -> Client:
        """The client with the rights of an account. Raises ApiError while the account does not exist."""
        held = self._held.get(account)
        if held is not None and time.monotonic() < held[1]:
            return held[0]
        body = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": {"expirationSeconds": TOKEN_SECONDS},
        }
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token"
        token = str(self._client.request("POST", path, body)["status"]["token"])
        if held is not None:
            held[0].close()
        self._held[account] = self._client.as_bearer(token), time.monotonic() + TOKEN_SECONDS / 2
        return self._held[account][0]
