"""KAI queues for OSMO's pools. The queues are updated only when an agent connects.

OSMO 6.3.1 sends queues in two cases: in `create_backend`, each time an agent connects, and after an API call that
changes pools. OSMO refuses such calls if its configuration is a file, and reloading the file sends no queues
(NVIDIA/OSMO 6.3.1 src/service/agent/helpers.py:161 and src/service/core/config/configmap_loader.py; fixed later:
NVIDIA/OSMO#1155). An agent connects again when its own Pod or a Pod of the control plane's Deployment osmo-agent is
replaced.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from simulator.cluster.objects import Json, at, is_terminating
from simulator.kubernetes.client import ApiError, Client
from simulator.osmo.control.agents import argument
from simulator.osmo.control.configuration import Configuration
from simulator.osmo_names import WORKER_ACCOUNT, WORKFLOWS_NAMESPACE
from simulator.scheduling import kai_names

FILE = "osmo-connections.json"
"""Name of a file in the folder of a control plane. For each backend, the file has the connection for which the
backend's queues were last written.
"""
NAMESPACE_LABEL = "osmo.namespace"
RETRY_SECONDS = 0.5
_UNLIMITED = {"quota": -1, "limit": -1, "overQuotaWeight": 1}


def resources(pools: Mapping[str, Any], backend: str, namespace: str = WORKFLOWS_NAMESPACE) -> list[Json]:
    """Queues and topologies of a backend's pools (NVIDIA/OSMO 6.3.1 src/utils/job/kb_objects.py:505-590)."""
    own = {name: pool for name, pool in pools.items() if pool.get("backend") == backend}
    parent = f"osmo-default-{namespace}"
    found = [_queue(parent, namespace, {"resources": _shares({})})]
    for name, pool in sorted(own.items()):
        amounts: Mapping[str, Any] = pool.get("resources") or {}
        shares = _shares(amounts.get("gpu") or {})
        found.append(_queue(f"osmo-pool-{namespace}-{name}", namespace, {"parentQueue": parent, "resources": shares}))
    for name, pool in sorted(own.items()):
        if keys := pool.get("topology_keys"):
            labels = {NAMESPACE_LABEL: namespace, "osmo.pool": name}
            levels = [{"nodeLabel": key["label"]} for key in keys]
            metadata = {"name": f"osmo-pool-{namespace}-{name}-topology", "labels": labels}
            spec = {"levels": levels}
            found.append({"apiVersion": kai_names.TOPOLOGY_API, "kind": "Topology", "metadata": metadata, "spec": spec})
    return found


def _queue(name: str, namespace: str, spec: Json) -> Json:
    metadata = {"name": name, "labels": {NAMESPACE_LABEL: namespace}}
    return {"apiVersion": kai_names.QUEUE_API, "kind": "Queue", "metadata": metadata, "spec": spec}


def _shares(gpus: Mapping[str, Any]) -> Json:
    keys = {"quota": "guarantee", "limit": "maximum", "overQuotaWeight": "weight"}
    own = {key: gpus.get(ours, _UNLIMITED[key]) for key, ours in keys.items()}
    return {"gpu": own, "cpu": dict(_UNLIMITED), "memory": dict(_UNLIMITED)}


class Queues:
    """Writer of KAI's queues for OSMO's pools. It writes with the rights of the agents' account."""

    def __init__(
        self,
        pods: Callable[[], Iterable[Json]],
        services: Callable[[], Iterable[Json]],
        offline: Callable[[str], str],
        worker: Callable[[], Client],
        folder: Path,
    ) -> None:
        """Creates the writer of queues.

        Args:
            pods: Function that returns the Pods of the agents' namespace.
            services: Function that returns the Pods of the control plane's Deployment osmo-agent.
            offline: Function that returns the reason why a backend is not connected; empty if it is connected.
            worker: Function that returns a client with the rights of the agents' account.
        """
        self._pods, self._services, self._offline, self._worker = pods, services, offline, worker
        self._file = folder / FILE

    def round(self, configuration: Configuration) -> float | None:
        """Writes the queues of each backend that has connected again; returns the seconds until the next try if a write
        failed, else None.
        """
        written = self._written()
        for backend, connection in self._connections(configuration).items():
            if written.get(backend) == connection or self._offline(backend):
                continue
            try:
                synchronize(self._worker(), resources(configuration.pools, backend))
            except ApiError:
                # The scheduler's kinds are not served yet, or the account may not write them yet.
                return RETRY_SECONDS
            self._file.write_text(json.dumps({**self._written(), backend: connection}))
        return None

    def _written(self) -> dict[str, str]:
        return json.loads(self._file.read_text()) if self._file.exists() else {}

    def _connections(self, configuration: Configuration) -> dict[str, str]:
        """Digest that identifies the present connection of each backend. It changes when a Pod of the backend's worker
        or of the control plane is replaced.
        """
        ends = sorted(_uid(pod) for pod in self._services() if _runs(pod))
        if configuration.here and not ends:
            return {}
        workers: dict[str, list[str]] = {}
        for pod in self._pods():
            if at(pod, "spec.serviceAccountName") == WORKER_ACCOUNT and _runs(pod):
                workers.setdefault(argument(pod, "--backend"), []).append(_uid(pod))
        if not configuration.here:
            ends = [configuration.agents]
        return {
            backend: hashlib.sha256(json.dumps([sorted(uids), ends]).encode()).hexdigest()[:16]
            for backend, uids in workers.items()
        }


def synchronize(worker: Client, wanted: list[Json]) -> None:
    """Makes the objects in the cluster equal to `wanted`, as the worker does: creates missing objects, replaces objects
    that differ, and deletes all other objects.

    Raises ApiError.
    """
    for version, kind in dict.fromkeys((each["apiVersion"], each["kind"]) for each in [*wanted, _TOPOLOGY]):
        path = worker.path(version, kind, None)
        try:
            live = worker.get(path, {"labelSelector": f"{NAMESPACE_LABEL}={WORKFLOWS_NAMESPACE}"})["items"]
        except ApiError as refusal:
            if refusal.code == 404 and kind == _TOPOLOGY["kind"]:
                continue
            raise
        held = {item["metadata"]["name"]: item for item in live}
        targets = {item["metadata"]["name"]: item for item in wanted if item["kind"] == kind}
        for name, item in targets.items():
            if name not in held:
                worker.request("POST", path, item)
            elif any(held[name]["spec"].get(key) != value for key, value in item["spec"].items()):
                version_of = {"resourceVersion": held[name]["metadata"]["resourceVersion"]}
                worker.request("PUT", f"{path}/{name}", {**item, "metadata": {**item["metadata"], **version_of}})
        for name in held.keys() - targets.keys():
            worker.request("DELETE", f"{path}/{name}")


_TOPOLOGY = {"apiVersion": kai_names.TOPOLOGY_API, "kind": "Topology"}


def _runs(pod: Json) -> bool:
    return at(pod, "status.phase") == "Running" and not is_terminating(pod)


def _uid(pod: Json) -> str:
    return str(at(pod, "metadata.uid", ""))
