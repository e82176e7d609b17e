"""An API server with one node on it: what the agent may ask, answered and refused as the real one does."""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.host.api_rules import Object, Refusal, merge, now, status_of
from tests.host.cluster_objects import ClusterObjects
from tests.host.namespaces import Network
from tests.host.servers import Server
from tests.support.waiting import LIMIT

PORT = 6443
NAMESPACE = "gpu-operator"
TOKEN = "token-of-the-agent"


class Cluster(ClusterObjects):
    """Objects, and what happens to requests. `on_change` is called after every change, outside the lock."""

    def __init__(self, network: Network, node: str, labels: Mapping[str, str]) -> None:
        super().__init__(node, labels)
        self.network = network
        self.lock = threading.RLock()
        self.requests: list[str] = []
        self.refuse: list[tuple[str, Refusal, int]] = []
        own = f"/api/v1/nodes/{node}"
        operands = f"/api/v1/namespaces/{NAMESPACE}/pods"
        self.rights = (
            f"(GET|PATCH) {own}",
            f"PATCH {own}/status",
            "GET /api/v1/pods",
            f"GET {operands}",
            f"DELETE {operands}/[^/]+",
            "POST /api/v1/namespaces/default/events",
        )
        self.more_rights: set[str] = set()
        self.on_change: list[Callable[[], None]] = []
        self.server: Server | None = None
        self.token = TOKEN
        self.tls = False
        """Most tests do without: handshakes are a fifth of their time."""
        self.hold: tuple[str, int] | None = None
        """The n-th request of this `VERB path` waits, unanswered and without effect, until `release`."""
        self.held = threading.Event()
        self._released = threading.Event()

    # -- for the tests

    @property
    def labels(self) -> dict[str, str]:
        with self.lock:
            return dict(self.node["metadata"]["labels"])

    def condition(self, kind: str) -> Object | None:
        with self.lock:
            for condition in self.node["status"]["conditions"]:
                if condition["type"] == kind:
                    return dict(condition)
        return None

    def label(self, **labels: str | None) -> None:
        """Another client changes labels of the node; keys in full, None removes."""
        self.set_labels(labels)

    def set_labels(self, labels: Mapping[str, str | None]) -> None:
        with self.lock:
            merge(self.node["metadata"]["labels"], dict(labels))
            self.touch()
        self._changed()

    def pod(self, namespace: str, name: str, **changes: Any) -> Object:
        """Put a pod on the node."""
        pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"uid-{name}-{next(self.names)}",
                "labels": {},
                "creationTimestamp": now(),
                "resourceVersion": str(next(self.versions)),
            },
            "spec": {"nodeName": self.node["metadata"]["name"], "containers": [{"name": "main", "image": "x"}]},
            "status": {"phase": "Running", "startTime": now()},
        }
        merge(pod, changes)
        with self.lock:
            self.pods[(namespace, name)] = pod
        return pod

    def gpu_pod(self, name: str = "training-0", namespace: str = "team") -> Object:
        """A pod that has a GPU of the node."""
        resources = {"limits": {"nvidia.com/gpu": "1"}, "requests": {"nvidia.com/gpu": "1"}}
        return self.pod(namespace, name, spec={"containers": [{"name": "train", "image": "x", "resources": resources}]})

    def refused(self, pattern: str, code: int, reason: str, message: str, times: int = 1_000_000) -> None:
        """Answer requests whose `VERB path` matches with a refusal, the next `times` times."""
        self.refuse.append((pattern, Refusal(code, reason, message), times))

    def release(self) -> None:
        """Answer what is held; nothing is held from here on."""
        self.hold = None
        self._released.set()

    def start(self, folder: Path) -> None:
        self.server = Server(self.network, PORT, _handler(self), tls=folder if self.tls else None)

    def stop(self) -> None:
        self._released.set()
        if self.server:
            self.server.stop()
            self.server = None

    # -- requests

    def answer(self, verb: str, target: str, kind: str, body: Object | None) -> tuple[int, Object]:
        """One request → (status code, body)."""
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        with self.lock:
            self.requests.append(f"{verb} {path}")
            held = self.hold == (f"{verb} {path}", self.requests.count(f"{verb} {path}"))
        if held:
            self.held.set()
            self._released.wait(LIMIT)
            return status_of(Refusal(503, "ServiceUnavailable", "the client has gone"))
        with self.lock:
            refusal = self._refusal(f"{verb} {path}") or self._right(f"{verb} {path}")
            if refusal:
                return status_of(refusal)
            try:
                code, answer = self.routed(verb, path, query, kind, body)
            except LookupError as missing:
                return status_of(Refusal(404, "NotFound", f"{missing.args[0]} not found"))
            except ValueError as wrong:
                return status_of(Refusal(400, "BadRequest", str(wrong)))
            answer = copy.deepcopy(answer)
        if verb != "GET" and code < 300:
            self._changed()
        return code, answer

    def _refusal(self, request: str) -> Refusal | None:
        for number, (pattern, refusal, times) in enumerate(self.refuse):
            if times > 0 and re.search(pattern, request):
                self.refuse[number] = (pattern, refusal, times - 1)
                return refusal
        return None

    def _right(self, request: str) -> Refusal | None:
        """The account may do what the agent's README asks for, and nothing else."""
        if any(re.fullmatch(right, request) for right in (*self.rights, *self.more_rights)):
            return None
        return Refusal(403, "Forbidden", f"the account may not {request}")

    def _changed(self) -> None:
        for act in self.on_change:
            act()


def _handler(cluster: Cluster) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or a body waits 40 ms for the acknowledgement of its headers

        def log_message(self, format: str, *args: object) -> None: ...

        def _serve(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            if self.headers.get("Authorization") != f"Bearer {cluster.token}":
                code, answer = status_of(Refusal(401, "Unauthorized", "Unauthorized"))
            else:
                kind = (self.headers.get("Content-Type") or "").split(";")[0]
                code, answer = cluster.answer(self.command, self.path, kind, body)
            text = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PATCH = do_POST = do_DELETE = do_PUT = _serve  # noqa: N815 - http.server's names

    return Handler
