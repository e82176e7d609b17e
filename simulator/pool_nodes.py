"""The Node objects of a pool in the API server, kept as Azure describes them."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from simulator.azure.own_facts import IMAGE_LABEL, POOL_LABEL
from simulator.cluster.names import BOOTS, SIMULATOR, STARTUP_TAINTS
from simulator.cluster.objects import at, is_ready
from simulator.errors import ControlPlaneFailed
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client, Object

FIELD_MANAGER = "aks"
NODE_READY_SECONDS = 120.0
WRITERS = 16
"""Number of requests that are sent at the same time. On a laptop, more requests would only wait in the API server's
queue.
"""


def apply(client: Client, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Makes the nodes of `pool` equal to `nodes`, and waits until all are Ready.

    The writes are server-side applies, as AKS does them: a label or taint that AKS no longer sets is removed, and
    labels and taints of other field managers remain.

    Raises:
        ControlPlaneFailed: a node was not Ready in time.
    """
    wanted = {node["metadata"]["name"]: node for node in nodes}
    have = _pool_nodes(client, pool)
    for name in sorted(key for key, live in have.items() if key in wanted and _is_reimaged(live, wanted[key])):
        # Nodes are removed one after the other, as AKS does: the others run the Pods meanwhile.
        _remove_node(client, name)
        _apply_node(client, wanted[name])
        _wait_until_ready(client, pool, {name})
        del have[name]
    with ThreadPoolExecutor(WRITERS) as writers:
        gone = {key for key, live in have.items() if key not in wanted or _is_another(live, wanted[key])}
        list(writers.map(partial(_remove_node, client), sorted(gone)))
        have = {key: live for key, live in have.items() if key not in gone}
        described = [with_host(node, have.get(node["metadata"]["name"])) for node in nodes]
        list(writers.map(partial(_apply_node, client), described))
    _wait_until_ready(client, pool, set(wanted))


def _is_another(live: Object, wanted: Mapping[str, Any]) -> bool:
    """True if the node now belongs to another machine with the same name."""
    before, after = (str(at(each, "status.nodeInfo.systemUUID", "")) for each in (live, wanted))
    return bool(before and after) and before != after


def _is_reimaged(live: Object, wanted: Mapping[str, Any]) -> bool:
    """True if the same machine gets another kubelet version or another node image. Both erase the machine's disk."""
    if _is_another(live, wanted):
        return False
    version, label = "status.nodeInfo.kubeletVersion", IMAGE_LABEL
    images = [each["metadata"].get("labels", {}).get(label) for each in (live, wanted)]
    return at(live, version, "") != at(wanted, version, "") or images[0] != images[1]


def restart(client: Client, node: str, boot: str = "") -> None:
    """Restarts the machine of a node: changes its boot id in the status, and the annotation BOOTS for the GPU stack."""
    boot = boot or str(uuid.uuid4())
    client.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {BOOTS: boot}}}, MERGE_PATCH)
    client.patch(f"/api/v1/nodes/{node}/status", {"status": {"nodeInfo": {"bootID": boot}}}, MERGE_PATCH)


def _pool_nodes(client: Client, pool: str) -> dict[str, Object]:
    listing = client.get("/api/v1/nodes", {"labelSelector": f"{POOL_LABEL}={pool}"})
    return {node["metadata"]["name"]: node for node in listing["items"]}


def _wait_until_ready(client: Client, pool: str, names: set[str]) -> None:
    end = time.monotonic() + NODE_READY_SECONDS
    pause = 0.05
    while waiting := names - {name for name, node in _pool_nodes(client, pool).items() if is_ready(node)}:
        if time.monotonic() > end:
            raise ControlPlaneFailed(f"node {min(waiting)} and {len(waiting) - 1} more of {pool} did not become Ready")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.5)


def with_host(node: Mapping[str, Any], live: Object | None) -> Object:
    """The node to apply: the wanted node, with the simulator's annotations and the startup taints of the existing node
    `live`.

    AKS does not know these annotations and taints, but an apply replaces all taints of a node.
    """
    if live is None:
        return dict(node)
    metadata: Object = node["metadata"]
    given: dict[str, str] = metadata.get("annotations") or {}
    held: dict[str, str] = live["metadata"].get("annotations") or {}
    own = {key: value for key, value in given.items() if not key.startswith(SIMULATOR)}
    present = {key: value for key, value in held.items() if key.startswith(SIMULATOR)}
    starting = [each for each in at(live, "spec.taints", []) if each["key"].startswith(STARTUP_TAINTS)]
    taints: list[Object] = [*at(node, "spec.taints", []), *starting]
    spec = {**at(node, "spec", {}), **({"taints": taints} if taints else {})}
    return {**node, "metadata": {**metadata, "annotations": {**own, **present}}, "spec": spec}


def _apply_node(client: Client, node: Mapping[str, Any]) -> None:
    path = f"/api/v1/nodes/{node['metadata']['name']}"
    client.patch(path, dict(node), APPLY_PATCH, {"fieldManager": FIELD_MANAGER, "force": "true"})


def _remove_node(client: Client, name: str) -> None:
    """Removes a node as AKS does: first the node's Pods, which their controllers then create again on other nodes."""
    pods = client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={name}"})
    for pod in pods["items"]:
        place = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        delete(client, place, {"gracePeriodSeconds": "0"})
    delete(client, f"/api/v1/nodes/{name}")


def delete(client: Client, path: str, params: Mapping[str, str] | None = None) -> None:
    """Deletes an object; a missing one is not an error."""
    try:
        client.request("DELETE", path, params=params)
    except ApiError as refusal:
        if refusal.code != 404:
            raise
