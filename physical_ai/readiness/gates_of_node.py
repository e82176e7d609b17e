"""Construction of a closed gate of one node: the text of its reason is completed with facts about the node, the pool
and a Pod. Pure functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from physical_ai.catalog.aks import IMAGE_LABEL
from physical_ai.kubernetes.objects import labels, name
from physical_ai.readiness.causes import causes
from physical_ai.readiness.evidence import Evidence
from physical_ai.readiness.model import ClosedGate, Expected, Json
from physical_ai.readiness.phase import phase, unfinished


class GatesOfNode:
    """Builder of the closed gates of one node, from facts about the node, its pool and a Pod."""

    def __init__(self, expected: Expected, node: Json, evidence: Evidence) -> None:
        self.expected, self.node, self.evidence = expected, node, evidence
        self.name, self.labels = name(node), labels(node)
        self.namespace = evidence.cluster.namespace
        self.azure = not expected.existing

    @property
    def holders(self) -> Sequence[str]:
        """Pods that hold GPUs of the node; empty where they were not read."""
        return (self.evidence.cluster.work or {}).get(self.name, ())

    def closed(self, gate: str, cause: str, *, pod: Json | None = None, message: str = "", **facts: str) -> ClosedGate:
        """A gate closed for a known cause; its message is the Pod's own unless `message` is given."""
        known = causes()[cause]
        container = unfinished(pod)[0] if pod else ""
        reason, fix = known.describe({**self.facts(pod), **facts}, azure=self.azure)
        said = message or (self.evidence.messages(pod)[0] if pod else "")
        return self._closed(gate, reason, pod, said, container, cause, fix, may_recover=known.waits)

    def facts(self, pod: Json | None) -> dict[str, str]:
        return {
            "node": self.name,
            "pool": self.expected.pool,
            "stack": self.expected.stack,
            "namespace": self.namespace,
            "pod": name(pod) if pod else "",
            "container": unfinished(pod)[0] if pod else "",
            "image": self.labels.get(IMAGE_LABEL, "of this node"),
        }

    def wait(self, gate: str, reason: str, *, pod: Json | None = None, message: str = "") -> ClosedGate:
        """Closed gate without a known cause, which may still open by itself."""
        return self._closed(gate, reason, pod, message, unfinished(pod)[0] if pod else "", "", "", may_recover=True)

    def _closed(  # noqa: PLR0917 - a plain constructor
        self,
        gate: str,
        reason: str,
        pod: Json | None,
        message: str,
        container: str,
        cause: str,
        fix: str,
        *,
        may_recover: bool,
    ) -> ClosedGate:
        return ClosedGate(
            pool=self.expected.pool,
            node=self.name,
            gate=gate,
            reason=reason,
            cause=cause,
            fix=fix,
            pod=name(pod) if pod else "",
            container=container,
            phase=phase(pod) if pod else "",
            message=message,
            may_recover=may_recover,
        )
