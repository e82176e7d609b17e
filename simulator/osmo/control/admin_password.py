"""The password of OSMO's default administrator, read when the service starts."""

from __future__ import annotations

import base64

from simulator.cluster.objects import Json, at
from simulator.kubernetes.client import Client
from simulator.osmo_names import ADMIN_KEY, ADMIN_SECRET, API, CONTROL_NAMESPACE

_SECRET = f"/api/v1/namespaces/{CONTROL_NAMESPACE}/secrets/{ADMIN_SECRET}"
_PODS = f"/api/v1/namespaces/{CONTROL_NAMESPACE}/pods"


class AdminPassword:
    """Function that returns the default administrator's password; empty if there is none. As in the real service, a
    changed Secret takes effect only with a new Pod of the service.
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
