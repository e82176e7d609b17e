"""Whether the engine's state, the simulated Azure, the API server and the process table tell the same story."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil
from measure import Place

from physical_ai.catalog.aks import POOL_LABEL

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
OWN_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
GRANT = "azure-role-assignment-"
"""How the names of the bindings begin that Azure makes for its role assignments."""


def discrepancies(place: Place) -> list[str]:
    """Everything about a stack that is up which one side knows and another does not; empty when all agree."""
    folder = place.simulation.folder
    state = _state(folder)
    return [
        *_of_state(state),
        *_of_azure(place, state),
        *_of_cluster(place, state),
        *_of_processes(place.home.folder, folder),
    ]


def remains(place: Place) -> list[str]:
    """What is left of a stack that was taken down; empty when nothing is."""
    found = [f"process {process.name()} {process.pid}" for process in _processes(place.home.folder)]
    if place.simulation.folder.exists():
        found.append(f"folder {place.simulation.folder}")
    return found


def _state(folder: Path) -> dict[str, Any]:
    file = next((folder / "backend").glob(".pulumi/stacks/*/*.json"))
    return json.loads(file.read_text())["checkpoint"]["latest"]


def _of_state(state: Mapping[str, Any]) -> Iterable[str]:
    for operation in state.get("pending_operations") or []:
        yield f"pending in the state: {operation['type']} {operation['resource']['urn']}"
    for resource in state["resources"]:
        if resource.get("delete"):
            yield f"still to be deleted by the state: {resource['urn']}"


def _of_azure(place: Place, state: Mapping[str, Any]) -> Iterable[str]:
    cloud = {id.lower(): entry for id, entry in place.simulation.cloud_resources().items()}
    known = {resource["id"].lower() for resource in _custom(state, "azure-native:")}
    yield from _difference("state", known, "Azure", set(cloud))
    for id, entry in cloud.items():
        if entry["state"] != "Succeeded":
            yield f"{id} is {entry['state']}"


def _of_cluster(place: Place, state: Mapping[str, Any]) -> Iterable[str]:
    clusters = place.simulation.clusters()
    azure = place.simulation.cloud_resources()
    ids = clusters.ids()
    known = [id for id, entry in azure.items() if entry["type"].endswith(":ManagedCluster")]
    yield from _difference("Azure", {id.lower() for id in known}, "control planes", {id.lower() for id in ids})
    for id in ids:
        client = clusters.client(id)
        there = {item["metadata"]["name"] for item in client.get("/api/v1/namespaces")["items"]} - {*OWN_NAMESPACES}
        wanted = {resource["id"] for resource in _custom(state, "kubernetes:core/v1:Namespace")}
        yield from _difference("state", wanted, "API server", there)

        listing = client.get("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings")["items"]
        bound = {item["metadata"]["name"] for item in listing if item["metadata"]["name"].startswith(GRANT)}
        # Only those on the cluster itself: roles on subnets and identities mean nothing inside.
        granted = {
            GRANT + name.rsplit("/", 1)[-1]
            for name in azure
            if name.lower().startswith(f"{id.lower()}/") and "/roleassignments/" in name.lower()
        }
        yield from _difference("Azure's roles", granted, "API server's bindings", bound)

        nodes: dict[str, int] = {}
        for node in client.get("/api/v1/nodes")["items"]:
            pool = node["metadata"]["labels"].get(POOL_LABEL, "no pool")
            nodes[pool] = nodes.get(pool, 0) + 1
            if not any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions") or []):
                yield f"node {node['metadata']['name']} is not Ready"
        pools = {name: count for name, count in _counts(azure, id).items() if count}
        if nodes != pools:
            yield f"nodes in the API server {nodes}, in Azure {pools}"


def _counts(azure: Mapping[str, Mapping[str, Any]], cluster: str) -> dict[str, int]:
    inline = azure[cluster]["outputs"].get("agentPoolProfiles") or []
    counts = {profile["name"]: int(profile["count"]) for profile in inline}
    for id, entry in azure.items():
        if id.lower().startswith(f"{cluster.lower()}/agentpools/"):
            counts[id.rsplit("/", 1)[-1]] = int(entry["outputs"]["count"])
    return counts


def _of_processes(home: Path, simulation: Path) -> Iterable[str]:
    expected = {(str(simulation / "clusters" / "1"), name) for name in CONTROL_PLANE}
    found: set[tuple[str, str]] = set()
    for process in _processes(home):
        key = (_folder(process), process.name())
        if key not in expected or key in found:
            yield f"process {process.name()} {process.pid} in {key[0]}"
        found.add(key)
    for folder, name in sorted(expected - found):
        yield f"no {name} in {folder}"


def _processes(home: Path) -> list[psutil.Process]:
    """Every live process that works in the home or was started for it, this one and its forebears left out."""
    found: list[psutil.Process] = []
    for process in psutil.process_iter():
        try:
            if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                continue
            homes = process.environ().get("PULUMI_HOME", "") or process.environ().get("PHYSAI_HOME", "")
            if _folder(process).startswith(f"{home}/") or homes.startswith(str(home)):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found


def _folder(process: psutil.Process) -> str:
    return process.cwd()


def _custom(state: Mapping[str, Any], type_prefix: str) -> list[dict[str, Any]]:
    return [r for r in state["resources"] if r["type"].startswith(type_prefix) and r.get("id")]


def _difference(one: str, ones: set[str], other: str, others: set[str]) -> Iterable[str]:
    for name in sorted(ones - others):
        yield f"{name}: in {one}, not in {other}"
    for name in sorted(others - ones):
        yield f"{name}: in {other}, not in {one}"
