"""In-memory cluster whose nodes fail and are repaired, as NVSentinel's modules see it.

The stack's admission policies decide which requests are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from parts.nvsentinel.names import NODE_DRAINER
from physical_ai.kubernetes.objects import name
from simulator.faults.record import injected
from tests.support.admission import Admission, Request
from tests.support.json_copies import json_copy
from tests.support.repair_world import Fake, Json, merge
from workbench.health.replacement.cluster import boot_id, is_cordoned, uid

SENTINEL = ("system:serviceaccounts", "system:serviceaccounts:nvsentinel")

OTHERS = {"aks-rtxprogpu-1-vmss000000": ("rtxprogpu", "grid"), "aks-cpu-1-vmss000000": ("cpu", "")}
"""Pool and driver source by node, for nodes that no program may take out of service."""

GANG = "osmo.workflow_id"


@dataclass(frozen=True)
class Policy:
    """Health settings of a stack: NVSentinel's configuration files, and the admission policies."""

    files: Mapping[str, Mapping[str, Any]]
    """Configuration file by module; a module without one is not installed."""
    admission: Admission

    @property
    def drains(self) -> bool:
        return NODE_DRAINER in self.files


class Broken(AssertionError):
    """Invariant that does not hold."""


def _unjudged(actor: str, before: Mapping[str, bool]) -> None:
    del actor, before


@dataclass
class Cluster(Fake):
    """Cluster that has nodes of other pools besides the pool that is repaired."""

    others: dict[str, Json] = field(default_factory=dict[str, Json])
    breaker: dict[str, Json] = field(default_factory=dict[str, Json])
    """ConfigMaps of NVSentinel's namespace, such as that of its circuit breaker, by name."""
    verdicts: dict[tuple[str, str], bool] = field(default_factory=dict[tuple[str, str], bool])
    """True if the node passed its last acceptance, by the node's UID and boot ID."""
    moved: Callable[[str, Mapping[str, bool]], None] = _unjudged
    """Function that is called after a write, with the writer's name and with the nodes' cordons before the write."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for node, (pool, driver) in OTHERS.items():
            own = {"kubernetes.azure.com/agentpool": pool, "agentpool": pool, "physical-ai/gpu-driver": driver}
            gpus = {"nvidia.com/gpu.present": "true"} if driver else {}
            metadata = {"name": node, "uid": node, "labels": {**own, **gpus}, "annotations": {}}
            self.others[node] = {"metadata": metadata, "spec": {}, "status": {}}

    def add_node(self) -> str:
        node = super().add_node()
        own = {"physical-ai/gpu-driver": "operator", "nvidia.com/gpu.present": "true"}
        self.nodes[node]["metadata"]["labels"] |= own
        return node

    def all(self) -> dict[str, Json]:
        return {**self.nodes, **self.others}

    def cordons(self) -> dict[str, bool]:
        return {key: is_cordoned(item) for key, item in self.all().items()}

    def _answer(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> Any:
        before = self.cordons()
        answer = super()._answer(method, path, parameters, body)
        if method == "PATCH":
            self.moved("repair", before)
        return answer

    def _accept(self, node: str) -> str:
        """Runs acceptance, which a node with a fault does not pass."""
        item = self.nodes[node]
        passed = not injected(item)
        self.verdicts[uid(item), boot_id(item)] = passed
        return "" if passed else "its GPU has a fault"


@dataclass
class Sentinel:
    """Access of NVSentinel's modules to the cluster, with the rights of their service accounts."""

    cluster: Cluster
    policy: Policy
    ended: Callable[[str, Json], None]
    """Function that is called before a module ends a Pod, with `evict` or `delete` and the Pod."""

    def now(self) -> float:
        return self.cluster.clock.timestamp()

    def find(self, path: str) -> Json | None:
        return json_copy(self.cluster.breaker.get(path.rpartition("/")[2]))

    def nodes(self) -> list[Json]:
        return json_copy(list(self.cluster.all().values()))

    def pods(self, node: str) -> list[Json]:
        return [json_copy(pod) for pod in self.cluster.pods.values() if pod["spec"]["nodeName"] == node]

    def config(self, module: str) -> dict[str, Any]:
        return dict(self.policy.files[module])

    def write(self, node: Json, account: str, body: Json, sub: str = "") -> bool:
        held = self.cluster.all().get(name(node))
        if held is None:
            return False
        new = json_copy(held)
        merge(new, body)
        if self._refuses(Request("UPDATE", "nodes", SENTINEL, new, held)):
            return False
        before = self.cluster.cordons()
        merge(held, body)
        self.cluster.moved(account, before)
        return True

    def attempt(self, account: str, method: str, path: str, body: Json, kind: str = "") -> Json | None:
        if "configmaps" in path:
            key = path.rpartition("/")[2] if method == "PATCH" else str(body["metadata"]["name"])
            merge(self.cluster.breaker.setdefault(key, {}), body)
            return body
        parts = path.strip("/").split("/")
        verb = "evict" if path.endswith("/eviction") else "delete"
        pod = self.cluster.pods.get((parts[3], parts[5]))
        request = Request(
            "CREATE" if verb == "evict" else "DELETE",
            "pods/eviction" if verb == "evict" else "pods",
            SENTINEL,
            body if verb == "evict" else None,
            pod,
            parts[3],
        )
        if pod is None or self._refuses(request) or (verb == "evict" and parts[5] in self.cluster.blocked):
            return None
        self.ended(verb, pod)
        del self.cluster.pods[parts[3], parts[5]]
        return {}

    def say(self, node: str, account: str, reason: str, message: str, kind: str) -> None:
        return None

    def _refuses(self, request: Request) -> str:
        parameters = {"Node": self.cluster.all().values(), "ConfigMap": self.cluster.maps.values()}
        return self.policy.admission.refusal(request, parameters)
