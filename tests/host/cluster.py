"""An API server with one node on it: what the agent may ask, answered and refused as the real one does."""

from __future__ import annotations

import copy
import itertools
import json
import re
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.host.api_rules import Object, Refusal, at, merge, now, selected, status_of
from tests.host.namespaces import Network
from tests.host.servers import Server
from tests.support.waiting import LIMIT

PORT = 6443
NAMESPACE = "gpu-operator"
CONFLICT = (
    "Operation cannot be fulfilled on nodes: the object has been modified; "
    "please apply your changes to the latest version and try again"
)
TOKEN = "token-of-the-agent"


class Cluster:
    """Objects, and what happens to requests. `on_change` is called after every change, outside the lock."""

    def __init__(self, network: Network, node: str, labels: Mapping[str, str]) -> None:
        self.network = network
        self.lock = threading.RLock()
        self._versions = itertools.count(1000)
        self._names = itertools.count(1)
        self.node: Object = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": node,
                "uid": f"uid-{node}",
                "labels": dict(labels),
                "annotations": {},
                "resourceVersion": "1",
            },
            "spec": {},
            "status": {
                "conditions": [
                    {
                        "type": "Ready",
                        "status": "True",
                        "reason": "KubeletReady",
                        "message": "kubelet is posting ready status",
                    }
                ]
            },
        }
        self.pods: dict[tuple[str, str], Object] = {}
        self.events: list[Object] = []
        self.requests: list[str] = []
        self.refuse: list[tuple[str, Refusal, int]] = []
        self.no_disruption: set[str] = set()
        """Pods that a disruption budget protects."""
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
                "uid": f"uid-{name}-{next(self._names)}",
                "labels": {},
                "creationTimestamp": now(),
                "resourceVersion": str(next(self._versions)),
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
                code, answer = self._routed(verb, path, query, kind, body)
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

    def _routed(
        self, verb: str, path: str, query: Mapping[str, list[str]], kind: str, body: Object | None
    ) -> tuple[int, Object]:
        node = f"/api/v1/nodes/{self.node['metadata']['name']}"
        if path in (node, f"{node}/status"):
            return self._node(verb, path.endswith("/status"), kind, body)
        if match := re.fullmatch(r"/api/v1(?:/namespaces/([^/]+))?/pods", path):
            return 200, self._listed(match[1], query)
        if match := re.fullmatch(r"/api/v1/namespaces/([^/]+)/pods/([^/]+)(/eviction)?", path):
            return self._one_pod(verb, (match[1], match[2]), bool(match[3]), body)
        if match := re.fullmatch(r"/(?:api/v1|apis/events\.k8s\.io/v1)/namespaces/([^/]+)/events(?:/([^/]+))?", path):
            return self._event(verb, match[1], match[2], body)
        raise LookupError(f"the stand-in knows no {verb} {path}; it")

    def _node(self, verb: str, status: bool, kind: str, body: Object | None) -> tuple[int, Object]:
        if verb == "GET":
            return 200, self.node
        if verb != "PATCH" or body is None:
            raise ValueError(f"{verb} of a node is not in the stand-in")
        if kind not in ("application/merge-patch+json", "application/strategic-merge-patch+json"):
            raise ValueError(f"patches as {kind} are not in the stand-in")
        given = body.get("metadata", {}).get("resourceVersion")
        if given not in (None, self.node["metadata"]["resourceVersion"]):
            message = CONFLICT
            return status_of(Refusal(409, "Conflict", message))
        changed = copy.deepcopy(self.node)
        # A patch of the object leaves the status alone, one of the status the rest (but metadata's labels on nodes).
        if status:
            self._conditions(changed, kind, body.get("status", {}).get("conditions"))
        else:
            for key in ("labels", "annotations"):
                merge(changed["metadata"].setdefault(key, {}), body.get("metadata", {}).get(key) or {})
            merge(changed["spec"], body.get("spec") or {})
        if changed != self.node:
            self.node = changed
            self.touch()
        return 200, self.node

    @staticmethod
    def _conditions(node: Object, kind: str, given: list[Object] | None) -> None:
        if given is None:
            return
        if kind == "application/merge-patch+json":
            # A merge patch replaces lists: whoever sends one wipes the kubelet's conditions, or sends them along.
            node["status"]["conditions"] = copy.deepcopy(given)
            return
        for condition in given:
            kept = [old for old in node["status"]["conditions"] if old["type"] != condition["type"]]
            before = [old for old in node["status"]["conditions"] if old["type"] == condition["type"]]
            node["status"]["conditions"] = [*kept, {**(before[0] if before else {}), **condition}]

    def _listed(self, namespace: str | None, query: Mapping[str, list[str]]) -> Object:
        wanted = [pod for (where, _), pod in sorted(self.pods.items()) if namespace in (None, where)]
        for text in query.get("fieldSelector", []):
            for part in text.split(","):
                match = re.fullmatch(r"([a-zA-Z.]+)(!=|==?)(.*)", part)
                if not match or match[1] not in (
                    "spec.nodeName",
                    "status.phase",
                    "metadata.name",
                    "metadata.namespace",
                ):
                    raise ValueError(f"field label not supported: {part}")
                wanted = [pod for pod in wanted if (at(pod, match[1]) == match[3]) == (match[2] != "!=")]
        for text in query.get("labelSelector", []):
            wanted = [pod for pod in wanted if selected(text, pod["metadata"]["labels"])]
        return {
            "apiVersion": "v1",
            "kind": "PodList",
            "metadata": {"resourceVersion": str(next(self._versions))},
            "items": wanted,
        }

    def _one_pod(self, verb: str, key: tuple[str, str], eviction: bool, body: Object | None) -> tuple[int, Object]:
        if key not in self.pods:
            raise LookupError(f'pods "{key[1]}"')
        pod = self.pods[key]
        if verb == "GET":
            return 200, pod
        uid = ((body or {}).get("deleteOptions" if eviction else "preconditions") or {}).get(
            "preconditions" if eviction else "uid"
        )
        uid = uid.get("uid") if isinstance(uid, dict) else uid
        if uid and uid != pod["metadata"]["uid"]:
            return status_of(Refusal(409, "Conflict", f"the UID in the precondition ({uid}) does not match"))
        if eviction and verb == "POST":
            if key[1] in self.no_disruption:
                return status_of(
                    Refusal(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.")
                )
            del self.pods[key]
            return 201, {"kind": "Status", "status": "Success"}
        if verb != "DELETE":
            raise ValueError(f"{verb} of a pod is not in the stand-in")
        del self.pods[key]
        return 200, pod

    def _event(self, verb: str, namespace: str, name: str | None, body: Object | None) -> tuple[int, Object]:
        body = body or {}
        if verb == "PATCH":
            for event in self.events:
                if event["metadata"].get("name") == name:
                    merge(event, body)
                    return 200, event
            raise LookupError(f'events "{name}"')
        regarding = body.get("involvedObject") or body.get("regarding") or {}
        # The real one insists: events about nodes, which are in no namespace, go to `default`.
        if (regarding.get("namespace") or "default") != namespace:
            raise ValueError("involvedObject.namespace: does not match event.namespace")
        self.events.append(body)
        return 201, body

    def touch(self) -> None:
        """The node has changed."""
        self.node["metadata"]["resourceVersion"] = str(next(self._versions))

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
