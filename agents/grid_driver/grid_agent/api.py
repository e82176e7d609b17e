"""The API server by urllib: the node's own service account, its rights and no more."""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from grid_agent.facts import CONDITION, POOL_LABEL, ClusterError, Condition, NodeFacts, Pod
from grid_agent.pods import is_operand, pod_from, wants_gpus

MERGE, STRATEGIC, JSON = (f"application/{kind}" for kind in ("merge-patch+json", "strategic-merge-patch+json", "json"))
CONFLICT_TRIES = 4
FORBIDDEN_SECONDS = 600.0
"""How long a forbidden list of all Pods is not requested again."""


class Api:
    """One node's view of the cluster. Every method raises ClusterError."""

    def __init__(self, url: str, account: Path, node: str, namespace: str) -> None:
        self.url, self.account, self.node, self.namespace = url.rstrip("/"), account, node, namespace
        self.seconds = 15.0
        self._node_uid = self._pool = ""
        self._condition: tuple[str, str] | None = None
        self._since = ""
        self._list_all_after = 0.0

    def observe(self) -> NodeFacts:
        node = self._ask("GET", f"/api/v1/nodes/{self.node}")
        metadata: dict[str, Any] = node["metadata"]
        self._node_uid = str(metadata.get("uid", ""))
        conditions: list[dict[str, Any]] = node.get("status", {}).get("conditions") or []
        mine = next((each for each in conditions if each.get("type") == CONDITION), None)
        self._condition = (str(mine.get("status", "")), str(mine.get("reason", ""))) if mine else None
        self._since = str(mine.get("lastTransitionTime", "")) if mine else ""
        items, everywhere = self._pods()
        own = [pod for pod in items if pod["metadata"]["namespace"] == self.namespace and is_operand(pod)]
        others = [pod for pod in items if pod["metadata"]["namespace"] != self.namespace and wants_gpus(pod)]
        return NodeFacts(
            name=self.node,
            labels=metadata.get("labels") or {},
            annotations=metadata.get("annotations") or {},
            operands=tuple(pod_from(pod) for pod in own),
            gpu_pods=tuple(pod_from(pod) for pod in others) if everywhere else None,
            condition=self._condition,
        )

    def pool(self) -> str:
        """The node pool of this node; requested once, since it never changes."""
        if not self._pool:
            metadata: dict[str, Any] = self._ask("GET", f"/api/v1/nodes/{self.node}")["metadata"]
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
                return self._ask("GET", f"/api/v1/{query}").get("items") or [], True
            except _Answered as error:
                if error.code != 403:
                    raise
                self._list_all_after = time.monotonic() + FORBIDDEN_SECONDS
        return self._ask("GET", f"/api/v1/namespaces/{self.namespace}/{query}").get("items") or [], False

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
            request = urllib.request.Request(self.url + path, data, headers, method=method)  # noqa: S310 - of the API server
            with _opener(self._tls()).open(request, timeout=self.seconds) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            raise _Answered(error.code, method, path.partition("?")[0], _message(error)) from error
        except (OSError, ValueError, ssl.SSLError) as error:
            reason = getattr(error, "reason", error)
            raise ClusterError("unreachable", f"the API server does not answer: {reason}") from error

    def _tls(self) -> ssl.SSLContext | None:
        if self.url.startswith("http://"):
            return None
        return ssl.create_default_context(cafile=str(self.account / "ca.crt"))


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


def _opener(tls: ssl.SSLContext | None) -> urllib.request.OpenerDirector:
    """Straight to the API server: a proxy of the host is not for it."""
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler({})]
    if tls is not None:
        handlers.append(urllib.request.HTTPSHandler(context=tls))
    return urllib.request.build_opener(*handlers)


def _message(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read()).get("message", error.reason))[:300]
    except (OSError, ValueError, AttributeError):
        return str(error.reason)


def _timestamp() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
