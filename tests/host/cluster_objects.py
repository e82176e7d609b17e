"""Objects of the API server for the agent: a node, Pods and events, and what each request does to them."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Mapping

from tests.host.api_rules import Object, Refusal, at, merge, selected, status_of

CONFLICT = (
    "Operation cannot be fulfilled on nodes: the object has been modified; "
    "please apply your changes to the latest version and try again"
)


class ClusterObjects:
    """A node, the Pods on it, and events."""

    def __init__(self, node: str, labels: Mapping[str, str]) -> None:
        self.versions = itertools.count(1000)
        self.names = itertools.count(1)
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
        self.no_disruption: set[str] = set()
        """Pods that a disruption budget protects."""

    def routed(
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
            "metadata": {"resourceVersion": str(next(self.versions))},
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
        self.node["metadata"]["resourceVersion"] = str(next(self.versions))
