"""Small HTTPS client for a Kubernetes API server.

    client = Client(kubeconfig.load(text))
    client.get("/version")
    client.patch(client.path("v1", "ConfigMap", "default", "motd"), {...}, MERGE_PATCH)

Errors: ApiError if the server refuses, Unreachable if it can't be reached or logged in to, UnknownKind if it does not
serve a kind. Proxies from the environment are never used: requests go to the server that the kubeconfig names. Threads
may share a client.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import httpx

from simulator.kubernetes.connection import Connection, Unreachable
from simulator.kubernetes.kubeconfig import Kubeconfig, load

Object = dict[str, Any]

APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
JSON = "application/json"

READY = "/readyz"
_LATE_HOOKS = ("rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes")
SERVING = f"{READY}?{'&'.join(f'exclude=poststarthook/{hook}' for hook in _LATE_HOOKS)}"
"""Path that answers 200 as soon as an administrator can use the API server. READY answers 200 later, when the API
server has also created its default roles and priority classes.
"""
_STARTING_SECONDS = 0.1
"""Seconds between two requests that check whether a server is ready."""
_ALL_GROUPS = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_BUSY_SECONDS = 15
"""Seconds for which requests are repeated while a server is overloaded or the storage of a new CRD is not ready (answer
429, "(re)initializing").
"""


class ApiError(Exception):
    """Error if the API server refused a request; `str()` is the server's own message."""

    def __init__(self, code: int, status: Mapping[str, Any]) -> None:
        super().__init__(str(status.get("message") or f"the server answered with HTTP {code}"))
        self.code, self.status = code, status

    @property
    def reason(self) -> str:
        """Kubernetes' reason, such as `NotFound`, `Conflict`, `Invalid`; empty if the answer was not a Status."""
        return str(self.status.get("reason") or "")

    @property
    def details(self) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", self.status.get("details") or {})


class UnknownKind(Exception):
    """Error if the server does not serve a kind, with client-go's message."""

    def __init__(self, api_version: str, kind: str) -> None:
        super().__init__(f'no matches for kind "{kind}" in version "{api_version}"')


@dataclass(frozen=True)
class Resource:
    """Plural name of a kind in URLs. `namespaced`: True if objects of the kind have a namespace."""

    plural: str
    namespaced: bool


class Client:
    """Client of one API server, with the credentials of a kubeconfig and a memory of the kinds that the
    server serves.
    """

    def __init__(
        self,
        config: Kubeconfig | str | Path,
        *,
        path: str | None = None,
        transport: httpx.BaseTransport | None = None,
        timeout: float = 60,
    ) -> None:
        """Creates a client.

        Args:
            path: PATH for exec credential commands.
            transport: HTTP transport, for tests.
            timeout: Seconds to wait for one answer.
        """
        self.config = config if isinstance(config, Kubeconfig) else load(config)
        self.server, self.namespace = self.config.server, self.config.namespace
        self._transport, self._timeout = transport, timeout
        self._connection = Connection(self.config, path, transport, timeout)
        self._lock = threading.Lock()
        self._served: dict[str, dict[str, Resource]] = {}

    def close(self) -> None:
        self._connection.close()

    def as_bearer(self, token: str) -> Client:
        """A client of the same server for the user whose bearer token is `token`."""
        config = replace(self.config, token=token, certificate=b"", key=b"", exec=None)
        return Client(config, transport=self._transport, timeout=self._timeout)

    def as_account(self, namespace: str, name: str) -> Client:
        """A client of the same server that impersonates a service account, which an administrator may do.

        The API server derives the account's groups from its name (Kubernetes docs,
        reference/access-authn-authz/user-impersonation).
        """
        client = Client(self.config, transport=self._transport, timeout=self._timeout)
        client._connection.user = {"Impersonate-User": f"system:serviceaccount:{namespace}:{name}"}
        return client

    def get(self, path: str, params: Mapping[str, str] | None = None) -> Object:
        return self.request("GET", path, params=params)

    def wait_until_serving(self) -> None:
        """Waits until the server accepts an administrator's requests, without a time limit."""
        while True:
            try:
                self.get(SERVING)
            except (ApiError, Unreachable):
                time.sleep(_STARTING_SECONDS)
            else:
                return

    def find(self, path: str) -> Object | None:
        """The object at a path; None if there is none."""
        try:
            return self.get(path)
        except ApiError as refusal:
            if refusal.code == 404:
                return None
            raise

    def patch(self, path: str, body: Object, kind: str, params: Mapping[str, str] | None = None) -> Object:
        return self.request("PATCH", path, body, params, kind)

    def request(
        self,
        method: str,
        path: str,
        body: Object | None = None,
        params: Mapping[str, str] | None = None,
        content_type: str = JSON,
        *,
        accept: str = JSON,
    ) -> Object:
        """The server's answer to a request as an object; `{}` for an empty answer or one that is not JSON.

        Raises ApiError or Unreachable. Waits and repeats while the server answers 429 with Retry-After.
        """
        end = time.monotonic() + _BUSY_SECONDS
        pause = 0.05
        while True:
            response = self._connection.send(method, path, body, params, content_type, accept=accept)
            if response.status_code != 429 or time.monotonic() > end:
                break
            time.sleep(pause)
            pause = min(pause * 2, 1.0)
        try:
            answer: Any = response.json() if response.content else {}
        except ValueError:
            answer = {"message": response.text.strip()[:500]} if response.is_error else {}
        if response.is_error:
            raise ApiError(response.status_code, cast("Object", answer) if isinstance(answer, dict) else {})
        return cast("Object", answer) if isinstance(answer, dict) else {}

    def watch(self, path: str, version: str, params: Mapping[str, str] | None = None) -> Iterator[Object]:
        """Events of a collection after the resource version `version`, each as `{type, object}`, until the server ends
        the watch.

        Raises ApiError, Unreachable or httpx.HTTPError.
        """
        query = {**(params or {}), "watch": "true", "resourceVersion": version}
        with self._connection.stream(path, query, accept=JSON) as response:
            if response.is_error:
                response.read()
                raise ApiError(response.status_code, {"message": response.text.strip()[:500]})
            for line in response.iter_lines():
                yield json.loads(line)

    # Discovery

    def resource(self, api_version: str, kind: str) -> Resource | None:
        """Plural and scope of a kind; None if the server does not serve the kind.

        If the client does not know the kind, it asks the server again, because a CRD may have been created meanwhile.
        """
        with self._lock:
            held = self._served.get(api_version, {}).get(kind)
        return held or self.kinds(api_version).get(kind)

    def kinds(self, api_version: str) -> Mapping[str, Resource]:
        """Kinds that the server serves now in a group and version; empty if the server does not know that version."""
        try:
            listing = self.get(base_path(api_version))
        except ApiError as refusal:
            if refusal.code != 404:
                raise
            listing = {}
        served = {
            item["kind"]: Resource(item["name"], item["namespaced"])
            for item in cast("list[Object]", listing.get("resources") or [])
            if "/" not in item["name"]
        }
        with self._lock:
            self._served[api_version] = served
        return served

    def discovered(self) -> set[tuple[str, str, str]]:
        """Group, version and kind of each resource in the server's aggregated discovery document, which covers all API
        groups.

        client-go, and so helm, reads this document. After a CRD is created, the document lists the new kind slightly
        later than the URL path of the group does.
        """
        groups: list[Object] = self.request("GET", "/apis", accept=_ALL_GROUPS).get("items") or []
        return {
            (group["metadata"]["name"], version["version"], resource["responseKind"]["kind"])
            for group in groups
            for version in cast("list[Object]", group["versions"])
            for resource in cast("list[Object]", version.get("resources") or [])
        }

    def forget(self, api_version: str) -> None:
        """Forgets the known kinds of a group and version, because a CRD of the group has changed."""
        with self._lock:
            self._served.pop(api_version, None)

    def path(self, api_version: str, kind: str, namespace: str | None = None, name: str | None = None) -> str:
        """URL path of an object, or of its collection; raises UnknownKind.

        For a namespaced kind without `namespace`, the namespace is the one of the kubeconfig's context. For a
        cluster-scoped kind, `namespace` is ignored.
        """
        resource = self.resource(api_version, kind)
        if resource is None:
            raise UnknownKind(api_version, kind)
        scope = f"/namespaces/{namespace or self.namespace}" if resource.namespaced else ""
        return f"{base_path(api_version)}{scope}/{resource.plural}" + (f"/{name}" if name else "")


def base_path(api_version: str) -> str:
    """Base URL path of a group and version: `/api/v1` or `/apis/<group>/<version>`."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
