"""The cluster for NVSentinel's modules: nodes, Pods of NVSentinel and of the GPU stack, and writes with the rights of
each module.
"""

from __future__ import annotations

import logging
import time
import tomllib
from collections.abc import Callable
from typing import Any

from simulator.cluster.objects import Json, at, is_ready, labels, name, timestamp
from simulator.cluster.watch import Watch
from simulator.gpu.driver import COMPONENT, DRIVER_COMPONENT
from simulator.kubernetes.client import JSON, MERGE_PATCH, ApiError, Client
from simulator.nvsentinel.accounts import Accounts
from simulator.nvsentinel.labeler import DCGM_APP
from simulator.nvsentinel.names import NAMESPACE

log = logging.getLogger("nvsentinel")
STRATEGIC = "application/strategic-merge-patch+json"
MODULE = "app.kubernetes.io/name"
_REFUSED = (403, 404, 409, 422, 429)


class Cluster:
    """Watched objects of the cluster. Until a Pod of NVSentinel is ready, only the Pods in its namespace
    are watched.
    """

    def __init__(self, client: Client, changed: Callable[[], None]) -> None:
        self.client, self._accounts, self._changed = client, Accounts(client), changed
        self._modules = Watch(client, f"/api/v1/namespaces/{NAMESPACE}/pods", changed)
        self._nodes: Watch | None = None
        self._operands: list[Watch] = []
        self._said: dict[str, str] = {}

    def running(self) -> dict[str, dict[str, str]]:
        """Names of NVSentinel's ready Pods, by module and node. A Pod of a Deployment is listed under an empty node
        name.
        """
        found: dict[str, dict[str, str]] = {}
        for pod in self._modules.all():
            if not is_ready(pod) or at(pod, "metadata.deletionTimestamp") is not None:
                continue
            owners: list[Json] = at(pod, "metadata.ownerReferences", [])
            node = at(pod, "spec.nodeName", "") if any(each["kind"] == "DaemonSet" for each in owners) else ""
            found.setdefault(labels(pod).get(MODULE, ""), {})[str(node)] = name(pod)
        if found and self._nodes is None:
            self._nodes = Watch(self.client, "/api/v1/nodes", self._changed)
            selectors = (f"{COMPONENT}={DRIVER_COMPONENT}", "=".join(DCGM_APP))
            self._operands = [Watch(self.client, "/api/v1/pods", self._changed, each) for each in selectors]
            self._nodes.synced.wait()
        return found

    def now(self) -> float:
        """The present time in seconds since the epoch."""
        return time.time()

    def find(self, path: str) -> Json | None:
        return self.client.find(path)

    def nodes(self) -> list[Json]:
        return self._nodes.all() if self._nodes is not None else []

    def operands(self) -> list[Json]:
        """Pods of the GPU driver and of DCGM."""
        return [pod for watch in self._operands for pod in watch.all()]

    def pods(self, node: str) -> list[Json]:
        found: list[Json] = self.client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"})["items"]
        return found

    def config(self, module: str) -> dict[str, Any]:
        """Parsed configuration file of a module of NVSentinel, from the module's ConfigMap."""
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{module}"
        return tomllib.loads(at(self.client.get(path), "data", {})["config.toml"])

    def write(self, node: Json, account: str, body: Json, sub: str = "") -> bool:
        """Patches a node with the rights of a module; returns True if the API server allowed it."""
        kind = STRATEGIC if sub else MERGE_PATCH
        found = self.attempt(account, "PATCH", f"/api/v1/nodes/{name(node)}{sub}", body, kind)
        if found is not None and self._nodes is not None:
            self._nodes.put(found)
        return found is not None

    def attempt(self, account: str, method: str, path: str, body: Json, kind: str = JSON) -> Json | None:
        """Sends a request with the rights of `account`. Returns the API server's answer; None if the server refuses the
        request. A refusal goes to the log, as in the real module.
        """
        try:
            return self._accounts.client(account).request(method, path, body, content_type=kind)
        except ApiError as refusal:
            if refusal.code not in _REFUSED:
                raise
            log.warning("%s: %s %s: %s", account, method, path, refusal)
            return None

    def say(self, node: str, account: str, reason: str, message: str, kind: str) -> None:
        """Writes an Event about the node, once for each new message."""
        if self._said.get(f"{node}/{reason}") == message:
            return
        self._said[f"{node}/{reason}"] = message
        item: Json = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"generateName": f"{node}.", "namespace": "default"},
            "involvedObject": {"kind": "Node", "name": node, "uid": node},
            "reason": reason,
            "message": message,
            "type": kind,
            "source": {"component": account},
            "firstTimestamp": timestamp(),
            "lastTimestamp": timestamp(),
            "count": 1,
        }
        self.attempt(account, "POST", "/api/v1/namespaces/default/events", item)
