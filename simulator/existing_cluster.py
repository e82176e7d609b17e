"""Cluster that exists before a stack is deployed into it. The simulator creates the cluster, not the stack.

A simulation has at most one such cluster; the cluster is removed with the simulation.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator import servers
from simulator.cluster.objects import at, is_ready
from simulator.clusters import Clusters
from simulator.errors import ControlPlaneFailed
from simulator.inventory import differences, inventory
from simulator.kubernetes.client import APPLY_PATCH, Client
from simulator.stack_input import ExistingClusterInput

PREFIX = "/existing/"
"""Prefix of the id of a cluster that exists before its stack. The rest of the id is the name of the kubeconfig's
context.
"""
INSTALLER = "kubelet"
"""Field manager with which the simulator writes the nodes of a cluster that exists before its stack."""
KUBECONFIG = "kubeconfig"
FOUND = "cluster-as-found.json"
"""Name of the file with every object of the cluster as it was before the first deployment."""
READY_SECONDS = 120.0
LOOK_SECONDS = 0.3
SETTLED_SECONDS = 15.0
NOT_READY = "node.kubernetes.io/not-ready"


def provide(existing: ExistingClusterInput, clusters: Clusters, folder: Path) -> dict[str, Any]:
    """Creates the cluster into which a stack is deployed, with the nodes that the stack describes, unless the cluster
    exists.

    Returns settings to add to the `target` section of the simulated stack: the path of the cluster's kubeconfig.

    Raises:
        ControlPlaneFailed: the cluster did not start.
    """
    id = f"{PREFIX}{existing.context}"
    if id not in clusters.ids():
        clusters.create(id, "")
        _register(clusters.client(id), existing)
        _complete(clusters.client(id))
        (folder / FOUND).write_text(json.dumps(inventory(clusters.client(id))))
    file = folder / KUBECONFIG
    _write(file, _named(clusters.admin_kubeconfig(id), existing.context))
    return {"kubeconfig": str(file)}


def id_of(clusters: Clusters) -> str | None:
    """Id of the cluster that existed before the stack; None if the stack has created its own cluster."""
    return next((id for id in clusters.ids() if id.startswith(PREFIX)), None)


def changed_since(clusters: Clusters, folder: Path) -> list[str] | None:
    """Differences between the cluster now and the cluster before the stack's first deployment, one line each; None if
    the stack has created its own cluster.

    The cluster is read again until two readings are equal, at most for SETTLED_SECONDS, because controllers need some
    time to finish after a deletion.
    """
    id = id_of(clusters)
    if id is None:
        return None
    before, client = json.loads((folder / FOUND).read_text()), clusters.client(id)
    found, end = differences(before, inventory(client)), time.monotonic() + SETTLED_SECONDS
    while True:
        time.sleep(LOOK_SECONDS)
        again = differences(before, inventory(client))
        if again == found or time.monotonic() > end:
            return again
        found = again


def _register(client: Client, existing: ExistingClusterInput) -> None:
    described = servers.nodes(existing, client.get("/version")["gitVersion"])
    for node in described:
        path = f"/api/v1/nodes/{node['metadata']['name']}"
        client.patch(path, node, APPLY_PATCH, {"fieldManager": INSTALLER, "force": "true"})
    end = time.monotonic() + READY_SECONDS
    while waiting := [
        node["metadata"]["name"] for node in client.get("/api/v1/nodes")["items"] if not _is_settled(node)
    ]:
        if time.monotonic() > end:
            raise ControlPlaneFailed(f"node {min(waiting)} of the existing cluster did not become Ready")
        time.sleep(0.1)


def _complete(client: Client) -> None:
    """Waits until every namespace has its default service account and its CA ConfigMap. If Kubernetes added one of
    these objects later, it would count as a change by the stack.
    """
    wanted = {"serviceaccounts": "default", "configmaps": "kube-root-ca.crt"}
    end = time.monotonic() + READY_SECONDS
    while True:
        namespaces = {str(at(each, "metadata.name")) for each in client.get("/api/v1/namespaces")["items"]}
        missing = {
            f"{name} of {namespace}"
            for kind, name in wanted.items()
            for namespace in namespaces - _having(client, kind, name)
        }
        if not missing:
            return
        if time.monotonic() > end:
            raise ControlPlaneFailed(f"the existing cluster is not complete: {min(missing)}")
        time.sleep(0.1)


def _having(client: Client, kind: str, name: str) -> set[str]:
    """Namespaces that contain an object of this kind and name."""
    found = client.get(f"/api/v1/{kind}", {"fieldSelector": f"metadata.name={name}"})["items"]
    return {str(at(each, "metadata.namespace")) for each in found}


def _is_settled(node: Mapping[str, Any]) -> bool:
    """True if the node is ready and no longer has the taint `node.kubernetes.io/not-ready`."""
    return is_ready(node) and not any(taint["key"] == NOT_READY for taint in at(node, "spec.taints", []))


def _named(kubeconfig: str, context: str) -> str:
    """The kubeconfig with its one context, cluster and user all named `context`."""
    document: dict[str, Any] = json.loads(kubeconfig)
    parts: Mapping[str, Mapping[str, str]] = {"context": {"cluster": context, "user": context}}
    for section in ("clusters", "users", "contexts"):
        for entry in document[section]:
            entry["name"] = context
            entry.update(parts if section == "contexts" else {})
    return json.dumps({**document, "current-context": context})


def _write(path: Path, text: str) -> None:
    """Writes a file that only its owner can read: it contains an administrator's key."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
