"""The password of OSMO's default administrator, as the service knows it."""

from __future__ import annotations

import base64

from simulator.cluster.objects import Json, at
from simulator.kubernetes.client import Client
from simulator.osmo_names import ADMIN_KEY, ADMIN_SECRET, API, CONTROL_NAMESPACE

_SECRET = f"/api/v1/namespaces/{CONTROL_NAMESPACE}/secrets/{ADMIN_SECRET}"
_PODS = f"/api/v1/namespaces/{CONTROL_NAMESPACE}/pods"


class AdminPassword:
    """Password of the default administrator. The service reads the password when it starts, so a new password takes
    effect with a new Pod. Empty if there is no password.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._started, self._password = frozenset[str](), ""

    def __call__(self) -> str:
        pods: list[Json] = self._client.get(_PODS, {"labelSelector": f"app={API}"})["items"]
        started = frozenset(str(at(pod, "metadata.uid")) for pod in pods if at(pod, "status.phase") == "Running")
        if started != self._started or not self._password:
            found: Json | None = self._client.find(_SECRET)
            data: dict[str, str] = {} if found is None else at(found, "data", {})
            self._password = base64.b64decode(data.get(ADMIN_KEY, "")).decode(errors="replace")
            self._started = started
        return self._password
