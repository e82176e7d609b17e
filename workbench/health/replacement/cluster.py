"""Reads and changes that a repair makes in a cluster. Every change can be repeated.

A change that depends on an object that was read is sent with the object's version. The API server refuses the change if
somebody has changed the object since then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from physical_ai.catalog.aks import SHORT_POOL_LABEL
from physical_ai.catalog.own_names import REPAIR_LABEL
from physical_ai.kubernetes.objects import Json, annotations_of, at, name
from physical_ai.nested import is_mapping, parsed
from physical_ai.readiness.client import Send
from physical_ai.readiness.reader import Missing, Unreachable
from workbench.health.replacement.record import (
    ANNOTATION,
    DATA_KEY,
    EVIDENCE_KEY,
    NAMESPACE,
    Record,
    config_map,
    document,
    read,
)

MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


class Blocked(Exception):
    """Error for a Pod whose eviction a PodDisruptionBudget forbids at present."""


class Changed(Exception):
    """Error if somebody else has changed the object since it was read; nothing was written."""


class RepairCluster:
    """Client for the cluster of a repair. Each method raises Unreachable or Unusable, as `Send` does."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self._versions: dict[str, str] = {}
        """Resource version of each record when this process last read or wrote the record, by the record's name."""

    # Nodes

    def node(self, wanted: str) -> Json | None:
        try:
            return dict(self.send("GET", f"/api/v1/nodes/{wanted}", {}))
        except Missing:
            return None

    def nodes(self, pool: str) -> list[Json]:
        return self._items("/api/v1/nodes", {"labelSelector": f"{SHORT_POOL_LABEL}={pool}"})

    def cordon(self, node: Json, record: str) -> None:
        """Cordons a node, and writes the name of the repair's record into an annotation of the node.

        Raises:
            Changed: somebody has changed the node since it was read.
        """
        self._patch_node(node, {"metadata": {"annotations": {ANNOTATION: record}}, "spec": {"unschedulable": True}})

    def uncordon(self, node: Json, *, keep_cordoned: bool = False) -> None:
        """Removes the repair's annotation from a node, and uncordons the node unless `keep_cordoned`.

        Raises:
            Changed: somebody has changed the node since it was read.
        """
        body: Json = {"metadata": {"annotations": {ANNOTATION: None}}}
        self._patch_node(node, body if keep_cordoned else {**body, "spec": {"unschedulable": None}})

    def _patch_node(self, node: Json, body: Json) -> None:
        version = at(node, "metadata.resourceVersion")
        changes = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
        conflicting(lambda: self.send("PATCH", f"/api/v1/nodes/{name(node)}", {}, changes))

    def pods(self, node: str) -> list[Json]:
        return self._items("/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"})

    def evict(self, namespace: str, pod: str, pod_uid: str) -> None:
        """Evicts the Pod with the uid `pod_uid`, unless it no longer exists. A new Pod with the same name is left
        alone.

        Raises:
            Blocked: a disruption budget forbids the eviction now.
        """
        body = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod, "namespace": namespace},
            "deleteOptions": {"preconditions": {"uid": pod_uid}},
        }
        try:
            conflicting(lambda: self.send("POST", f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", {}, body))
        except (Missing, Changed):
            return
        except Unreachable as refusal:
            if str(refusal).startswith("429"):
                raise Blocked(str(refusal).removeprefix("429").strip()) from None
            raise

    # Records

    def records(self) -> list[Record]:
        found = self._items(MAPS, {"labelSelector": REPAIR_LABEL})
        return [self._remembered(each) for each in found]

    def record(self, wanted: str) -> Record | None:
        """The record with the name `wanted` as the cluster has it now; None if there is none."""
        try:
            return self._remembered(self.send("GET", f"{MAPS}/{wanted}", {}))
        except Missing:
            return None

    def begin(self, record: Record) -> Record:
        """Writes and returns a new record. If another process has written it first, returns that process's record."""
        try:
            return self._remembered(conflicting(lambda: self.send("POST", MAPS, {}, config_map(record))))
        except Changed:
            return self._remembered(self.send("GET", f"{MAPS}/{record.name}", {}))

    def save(self, record: Record) -> None:
        """Writes a record, unless the cluster has another version than this process has last read or written.

        Raises:
            Changed: another process has written the record meanwhile.
        """
        text = json.dumps(document(record), indent=2, sort_keys=True)
        try:
            self._save(record, {DATA_KEY: text})
        except Changed:
            # The answer to an earlier attempt may have been lost on its way.
            if self.record(record.name) != record:
                raise

    def save_evidence(self, record: Record, evidence: Mapping[str, Any]) -> None:
        """Stores evidence in the record's ConfigMap. Raises Changed, as `save` does."""
        self._save(record, {EVIDENCE_KEY: json.dumps(evidence, indent=2, sort_keys=True)})

    def _save(self, record: Record, data: Mapping[str, str]) -> None:
        known = self._versions.get(record.name)
        metadata = {"metadata": {"resourceVersion": known}} if known else {}
        body = {**metadata, "data": dict(data)}
        self._remembered(conflicting(lambda: self.send("PATCH", f"{MAPS}/{record.name}", {}, body)))

    def evidence(self, record: Record) -> Json:
        """Evidence about the node that the repair stored at its beginning; empty if it stored none."""
        found = self.send("GET", f"{MAPS}/{record.name}", {})
        known = parsed(at(found, "data", {}).get(EVIDENCE_KEY))
        return dict(known) if is_mapping(known) else {}

    def _remembered(self, found: Json) -> Record:
        self._versions[name(found)] = str(at(found, "metadata.resourceVersion", ""))
        return read(found)

    def _items(self, path: str, parameters: Mapping[str, str]) -> list[Json]:
        return list(self.send("GET", path, parameters).get("items") or [])


def conflicting(request: Any) -> Any:
    """Runs `request`, and returns its answer.

    Raises:
        Changed: the API server refused the request because the object has changed, or exists already.
    """
    try:
        return request()
    except Unreachable as refusal:
        if str(refusal).startswith("409"):
            raise Changed(str(refusal)) from None
        raise


def is_cordoned(node: Mapping[str, Any]) -> bool:
    return at(node, "spec.unschedulable") is True


def held_by(node: Mapping[str, Any]) -> str:
    """Name of the record of the repair that has cordoned a node; empty if no repair has cordoned it."""
    return annotations_of(node).get(ANNOTATION, "")


def uid(node: Mapping[str, Any]) -> str:
    return str(at(node, "metadata.uid", ""))


def boot_id(node: Mapping[str, Any]) -> str:
    return str(at(node, "status.nodeInfo.bootID", ""))
