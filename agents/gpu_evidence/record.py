"""What the ConfigMap of a machine holds. Pure.

One ConfigMap for each machine, not for each node: a new machine may get the name of an old one.
"""

from __future__ import annotations

import json
from typing import Any, cast

LABEL, SEEN = "physical-ai/evidence", "physical-ai/evidence-seen"
"""Label: the node's name, or its first 63 characters. Annotation: when the machine was recorded last."""
MACHINE, GPUS, STARTS = "machine.json", "gpus.json", "starts.json"
MOST_STARTS = 20
"""Starts of a machine that are kept: the first one, and the newest."""
MOST_CARDS = 64
"""GPUs that a machine is known with: a driver that was never loaded right may make up further UUIDs."""
NODE_LABELS = {
    "kubernetes.azure.com/agentpool": "pool",
    "node.kubernetes.io/instance-type": "size",
    "kubernetes.azure.com/node-image-version": "image",
    "topology.kubernetes.io/region": "region",
    "topology.kubernetes.io/zone": "zone",
    "nvidia.com/gpu.product": "product",
}


def part(value: dict[str, Any], key: str) -> dict[str, Any]:
    """An object in an object; empty where there is none."""
    found: Any = value.get(key)
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def listed(value: dict[str, Any]) -> list[dict[str, Any]]:
    """The items of a list of the API server."""
    return cast("list[dict[str, Any]]", value.get("items") or [])


def name(node: str, vm: str) -> str:
    """Name of a machine's ConfigMap."""
    return f"evidence-{node}-{vm[:8]}" if vm else f"evidence-{node}"


def node_facts(node: dict[str, Any]) -> dict[str, Any]:
    """What a Node object says of its machine; nothing about its workloads."""
    metadata, info = part(node, "metadata"), part(part(node, "status"), "nodeInfo")
    labels = part(metadata, "labels")
    facts = {short: labels[key] for key, short in NODE_LABELS.items() if labels.get(key)}
    system = {key: info[key] for key in ("osImage", "kubeletVersion", "containerRuntimeVersion") if info.get(key)}
    return {
        "node": metadata.get("name", ""),
        "nodeUid": metadata.get("uid", ""),
        "providerId": part(node, "spec").get("providerID", ""),
        **facts,
        **system,
    }


def starts(before: list[dict[str, Any]], machine: dict[str, Any], now: str) -> list[dict[str, Any]]:
    """The machine's starts with this one: another boot, driver, or physical host is another entry."""
    host = part(machine, "host").get("physicalHostName", "")
    entry = {
        "bootId": machine.get("bootId", ""),
        "kernel": machine.get("kernel", ""),
        "driver": machine.get("driver", ""),
        "physicalHostName": host,
    }
    if before and {key: before[-1].get(key, "") for key in entry} == entry:
        return before
    found = [*before, {"at": now, **entry}]
    return [*found[:1], *found[1:][-(MOST_STARTS - 1) :]]


def cards(before: list[dict[str, Any]], found: list[dict[str, str]], now: str) -> list[dict[str, Any]]:
    """The GPUs of a machine with those that are there now: one that is no longer found keeps what was known of it."""
    known = {str(each.get("uuid") or each.get("pci", "")): each for each in before}
    for each in found:
        key = str(each.get("uuid") or each.get("pci", ""))
        known[key] = {**known.get(key, {}), **each, "lastSeen": now}
    return list(known.values())[-MOST_CARDS:]


def machine_documents(held: dict[str, Any], facts: dict[str, Any], found: dict[str, Any], now: str) -> dict[str, Any]:
    """What is recorded of a machine, and of its starts, beside what is recorded already."""
    before = cast("list[dict[str, Any]]", part(held, MACHINE).get("gpus") or [])
    known = cards(before, cast("list[dict[str, str]]", found.get("gpus") or []), now)
    machine = {"recordedAt": now, **facts, **found, "gpus": known}
    return {MACHINE: machine, STARTS: starts(cast("list[dict[str, Any]]", held.get(STARTS) or []), found, now)}


def gpu_documents(held: dict[str, Any], found: dict[str, Any], asked: dict[str, Any], now: str) -> dict[str, Any]:
    """What nvidia-smi says of the GPUs, beside what it has said before."""
    before = cast("list[dict[str, Any]]", part(held, GPUS).get("gpus") or [])
    known = cards(before, cast("list[dict[str, str]]", asked.get("gpus") or []), now)
    return {GPUS: {"recordedAt": now, "bootId": found.get("bootId", ""), **asked, "gpus": known}}


def patch(node: str, data: dict[str, Any], now: str) -> dict[str, Any]:
    """The change of a ConfigMap that records these documents by key."""
    return {
        "metadata": {"labels": {LABEL: node[:63]}, "annotations": {SEEN: now}},
        "data": {key: json.dumps(value, indent=1, sort_keys=True) for key, value in data.items()},
    }


def config_map(namespace: str, given: str, change: dict[str, Any]) -> dict[str, Any]:
    """A new ConfigMap with a change."""
    metadata = {"name": given, "namespace": namespace, **change["metadata"]}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": change["data"]}
