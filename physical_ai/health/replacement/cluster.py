"""What a repair reads and changes in a cluster. Every change can be repeated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.aks import POOL_LABEL
from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.health.replacement.record import (
    ANNOTATION,
    DATA_KEY,
    EVIDENCE_KEY,
    NAMESPACE,
    Record,
    config_map,
    document,
    read,
)
from physical_ai.kubernetes.objects import Json, annotations_of, at, name
from physical_ai.nested import is_mapping, parsed
from physical_ai.readiness.client import Send
from physical_ai.readiness.reader import Missing, Unreachable

_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


class Blocked(Exception):
    """A Pod may not be evicted now: a disruption budget forbids it."""


class RepairCluster:
    """One cluster. Each method raises Unreachable or Unusable, as `Send` does."""

    def __init__(self, send: Send) -> None:
        self._send = send

    # Nodes

    def node(self, wanted: str) -> Json | None:
        try:
            return dict(self._send("GET", f"/api/v1/nodes/{wanted}", {}))
        except Missing:
            return None

    def nodes(self, pool: str) -> list[Json]:
        return self._items("/api/v1/nodes", {"labelSelector": f"{POOL_LABEL}={pool}"})

    def cordon(self, node: str, record: str) -> None:
        annotations = {"metadata": {"annotations": {ANNOTATION: record}}}
        self._send("PATCH", f"/api/v1/nodes/{node}", {}, {**annotations, "spec": {"unschedulable": True}})

    def uncordon(self, node: str, *, keep_cordoned: bool = False) -> None:
        """Ends the repair's hold on a node, and the cordon with it."""
        body: Json = {"metadata": {"annotations": {ANNOTATION: None}}}
        self._send(
            "PATCH", f"/api/v1/nodes/{node}", {}, body if keep_cordoned else {**body, "spec": {"unschedulable": None}}
        )

    def pods(self, node: str) -> list[Json]:
        return self._items("/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"})

    def evict(self, namespace: str, pod: str) -> None:
        """Evicts a Pod, which may be gone already.

        Raises:
            Blocked
        """
        body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": namespace}}
        try:
            self._send("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", {}, body)
        except Missing:
            return
        except Unreachable as refusal:
            if str(refusal).startswith("429"):
                raise Blocked(str(refusal).removeprefix("429").strip()) from None
            raise

    # Records

    def records(self) -> list[Record]:
        return [read(each) for each in self._items(_MAPS, {"labelSelector": REPAIR_LABEL})]

    def begin(self, record: Record) -> Record:
        """Writes a new record; the one that is there where another process was faster."""
        try:
            self._send("POST", _MAPS, {}, config_map(record))
        except Unreachable as refusal:
            if not str(refusal).startswith("409"):
                raise
            return read(self._send("GET", f"{_MAPS}/{record.name}", {}))
        return record

    def save(self, record: Record) -> None:
        text = json.dumps(document(record), indent=2, sort_keys=True)
        self._send("PATCH", f"{_MAPS}/{record.name}", {}, {"data": {DATA_KEY: text}})

    def save_evidence(self, record: Record, evidence: Mapping[str, Any]) -> None:
        text = json.dumps(evidence, indent=2, sort_keys=True)
        self._send("PATCH", f"{_MAPS}/{record.name}", {}, {"data": {EVIDENCE_KEY: text}})

    def evidence(self, record: Record) -> Json:
        """What was known of the node when its repair began; empty where nothing was kept."""
        found = self._send("GET", f"{_MAPS}/{record.name}", {})
        known = parsed(at(found, "data", {}).get(EVIDENCE_KEY))
        return dict(known) if is_mapping(known) else {}

    def _items(self, path: str, parameters: Mapping[str, str]) -> list[Json]:
        return list(self._send("GET", path, parameters).get("items") or [])


def is_cordoned(node: Mapping[str, Any]) -> bool:
    return at(node, "spec.unschedulable") is True


def held_by(node: Mapping[str, Any]) -> str:
    """The record of the repair that has cordoned a node; empty without one."""
    return annotations_of(node).get(ANNOTATION, "")


def uid(node: Mapping[str, Any]) -> str:
    return str(at(node, "metadata.uid", ""))


def boot_id(node: Mapping[str, Any]) -> str:
    return str(at(node, "status.nodeInfo.bootID", ""))


def names(nodes: list[Json]) -> list[str]:
    return [name(each) for each in nodes]
