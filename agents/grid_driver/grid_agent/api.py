"""The API server: the node's own service account, its rights and no more."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from grid_agent.facts import CONDITION, POOL_LABEL, ClusterError, Condition, NodeFacts, Pod
from grid_agent.pods import is_operand, listed, namespace_of, part, pod_from, uses_gpus

MERGE, STRATEGIC, JSON = (f"application/{kind}" for kind in ("merge-patch+json", "strategic-merge-patch+json", "json"))
CONFLICT_TRIES = 4
LARGEST = 64 << 20
"""Bytes of an answer: far more than the Pods of one node take."""
FORBIDDEN_SECONDS = 600.0
"""How long a forbidden list of all Pods is not requested again."""


class Api:
    """One node's view of the cluster. Every method raises ClusterError."""

    def __init__(self, url: str, account: Path, node: str, namespace: str) -> None:
        self.url, self.account, self.node, self.namespace = url.rstrip("/"), account, node, namespace
        self.seconds = 15.0
        self.skew = 0.0
        """How far the host's clock, and kubelet's, is ahead of the agent's."""
        self._node_uid = self._pool = ""
        self._condition: tuple[str, str] | None = None
        self._since = ""
        self._list_all_after = 0.0

    def observe(self) -> NodeFacts:
        node = self._ask("GET", f"/api/v1/nodes/{self.node}")
        metadata = part(node, "metadata")
        self._node_uid = str(metadata.get("uid", ""))
        mine = next(
            (each for each in listed(part(node, "status"), "conditions") if each.get("type") == CONDITION), None
        )
        self._condition = (str(mine.get("status", "")), str(mine.get("reason", ""))) if mine else None
        self._since = str(mine.get("lastTransitionTime", "")) if mine else ""
        items, everywhere = self._pods()
        own = [pod for pod in items if namespace_of(pod) == self.namespace and is_operand(pod)]
        others = [pod for pod in items if namespace_of(pod) != self.namespace and uses_gpus(pod)]
        return NodeFacts(
            name=self.node,
            labels=part(metadata, "labels"),
            annotations=part(metadata, "annotations"),
            operands=tuple(pod_from(pod, self.skew) for pod in own),
            gpu_pods=tuple(pod_from(pod, self.skew) for pod in others) if everywhere else None,
            condition=self._condition,
        )

    def pool(self) -> str:
        """The node pool of this node; requested once, since it never changes."""
        if not self._pool:
            metadata: dict[str, Any] = self._ask("GET", f"/api/v1/nodes/{self.node}").get("metadata") or {}
            labels: dict[str, str] = metadata.get("labels") or {}
            self._pool = labels.get(POOL_LABEL, "")
        return self._pool

    def label(self, labels: Mapping[str, str]) -> None:
        if labels:
            self._patch(f"/api/v1/nodes/{self.node}", {"metadata": {"labels": dict(labels)}}, MERGE)

    def delete(self, pod: Pod) -> None:
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": pod.uid}}
        try:
            self._ask("DELETE", f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}", body)
        except _Answered as error:
            if error.code not in (404, 409):  # 409: another pod has the name by now
                raise

    def evict(self, pod: Pod) -> None:
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": {"preconditions": {"uid": pod.uid}},
        }
        try:
            self._ask("POST", f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}/eviction", body)
        except _Answered as error:
            if error.code not in (404, 409):
                raise

    def report(self, condition: Condition) -> None:
        now = _timestamp()
        before = self._condition
        since = self._since if before and before[0] == condition.status and self._since else now
        entry = {
            "type": CONDITION,
            "status": condition.status,
            "reason": condition.reason,
            "message": condition.message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": since,
        }
        self._patch(f"/api/v1/nodes/{self.node}/status", {"status": {"conditions": [entry]}}, STRATEGIC)
        self._condition, self._since = (condition.status, condition.reason), since

    def event(self, kind: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        now = _timestamp()
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{self.node}.grid-driver-", "namespace": "default"},
            "involvedObject": {"apiVersion": "v1", "kind": "Node", "name": self.node, "uid": self._node_uid},
            "type": kind,
            "reason": reason,
            "message": message[:1024],
            "source": {"component": "grid-driver-agent", "host": self.node},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        self._ask("POST", "/api/v1/namespaces/default/events", body)

    def _pods(self) -> tuple[list[dict[str, Any]], bool]:
        """Pods on this node, and whether those of every namespace are among them."""
        query = f"pods?fieldSelector=spec.nodeName%3D{self.node}&resourceVersion=0"
        if time.monotonic() >= self._list_all_after:
            try:
                return listed(self._ask("GET", f"/api/v1/{query}"), "items"), True
            except _Answered as error:
                if error.code != 403:
                    raise
                self._list_all_after = time.monotonic() + FORBIDDEN_SECONDS
        return listed(self._ask("GET", f"/api/v1/namespaces/{self.namespace}/{query}"), "items"), False

    def _patch(self, path: str, body: Mapping[str, Any], kind: str) -> None:
        left = CONFLICT_TRIES
        while left:
            left -= 1
            try:
                self._ask("PATCH", path, body, kind)
            except _Answered as error:
                if error.code != 409 or not left:
                    raise
            else:
                return

    def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None, kind: str = JSON) -> dict[str, Any]:
        """One request; the answer's object."""
        data = json.dumps(body).encode() if body is not None else None
        headers = {"Accept": JSON, "Content-Type": kind, "User-Agent": "grid-driver-agent"}
        try:
            headers["Authorization"] = f"Bearer {(self.account / 'token').read_text().strip()}"
            code, text = self._exchange(method, path, data, headers)
            if code >= 300:
                raise _Answered(code, method, path.partition("?")[0], _message(text))
            found: object = json.loads(text or b"{}")
        except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise ClusterError("unreachable", f"the API server does not answer: {reason}") from error
        if not isinstance(found, dict):
            raise ClusterError("other", f"the API server answers {method} {path} with something else than an object")
        return cast("dict[str, Any]", found)

    def _exchange(self, method: str, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        """Status and body of one request, straight to the API server: a proxy of the host is not for it.

        All of it ends after `seconds`. A socket's own limit is for each read, and a slow server sends a byte at a time.
        """
        at = urlsplit(self.url)
        if at.scheme == "http":
            connection = http.client.HTTPConnection(at.netloc, timeout=self.seconds)
        else:
            tls = ssl.create_default_context(cafile=str(self.account / "ca.crt"))
            connection = http.client.HTTPSConnection(at.netloc, timeout=self.seconds, context=tls)
        late = threading.Event()

        def cut() -> None:
            late.set()
            with contextlib.suppress(OSError, AttributeError):  # there is no socket yet
                connection.sock.shutdown(socket.SHUT_RDWR)

        clock = threading.Timer(self.seconds, cut)
        clock.start()
        try:
            connection.connect()
            if late.is_set():
                raise TimeoutError
            connection.request(method, at.path + path, data, dict(headers))
            answer = connection.getresponse()
            body = answer.read(LARGEST + 1)
            if len(body) > LARGEST:
                raise ValueError(f"the answer is larger than {LARGEST >> 20} MiB")
            if late.is_set():
                raise TimeoutError
            return answer.status, body
        except (OSError, ValueError, http.client.HTTPException) as error:
            if late.is_set() or isinstance(error, TimeoutError):
                raise TimeoutError(f"no complete answer in {self.seconds:g} s") from None
            raise
        finally:
            clock.cancel()
            connection.close()


class _Answered(ClusterError):
    """The API server answered with an error."""

    def __init__(self, code: int, method: str, path: str, message: str) -> None:
        kinds: dict[int, Literal["forbidden", "conflict", "refused"]] = {
            401: "forbidden",
            403: "forbidden",
            409: "conflict",
            429: "refused",
        }
        super().__init__(kinds.get(code, "other"), f"the API server refused {method} {path} ({code}): {message}")
        self.code = code


def _message(body: bytes) -> str:
    """Of a Status, as the API server answers with; something between it and the node may answer with any text."""
    try:
        status: object = json.loads(body)
    except (ValueError, RecursionError):
        status = None
    found = cast("dict[str, object]", status) if isinstance(status, dict) else {}
    return str(found.get("message") or body.decode(errors="replace").strip() or "no message")[:300]


def _timestamp() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
