"""Events of a cluster, indexed by the objects that they are about. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from physical_ai.kubernetes.objects import Json, is_about, name, namespace, time_of
from physical_ai.readiness.workloads.model import Workloads
from physical_ai.readiness.workloads.owner_index import OwnerIndex

AUTOSCALER = {"metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"}}
"""Object that the autoscaler's events are about."""


class EventIndex(OwnerIndex):
    """Objects of a cluster, indexed by owners and by events."""

    def __init__(self, given: Workloads) -> None:
        super().__init__(given)
        self.last_refusals: Mapping[tuple[str, str, str], list[Json]] | None = None
        """Result of `refusals.last_refusals`, kept after its first call: the last events about Pods that the API server
        refused to create, by controller.
        """
        self._growth: dict[str, list[Json]] = {}

    @cached_property
    def _events(self) -> Mapping[tuple[str, str, str], list[Json]]:
        found: dict[tuple[str, str, str], list[Json]] = defaultdict(list)
        for event in sorted(self.given.events, key=time_of):
            about: Json = event.get("involvedObject") or {}
            found[str(about.get("kind", "")), str(about.get("namespace", "")), str(about.get("name", ""))].append(event)
        return found

    def events(self, kind: str, item: Mapping[str, Any], *reasons: str) -> list[Json]:
        """Events about an object, oldest first; with `reasons`, only events with one of these reasons."""
        return [
            each
            for each in self._events.get((kind, namespace(item), name(item)), ())
            if (not reasons or each.get("reason") in reasons) and is_about(each, item)
        ]

    def growth_events(self, pool: str) -> list[Json]:
        """Events of the autoscaler about adding nodes to the pool, successes and failures, oldest first."""
        if pool not in self._growth:
            group = f"aks-{pool}-"
            self._growth[pool] = [each for each in self._of_autoscaler if group in str(each.get("message", ""))]
        return self._growth[pool]

    @cached_property
    def _of_autoscaler(self) -> list[Json]:
        return self.events("ConfigMap", AUTOSCALER, "FailedToScaleUpGroup", "ScaledUpGroup")

    def events_about(self, own: str) -> list[Json]:
        """Events about all objects with the name `own`, object by object; the events of an object are sorted from
        oldest to newest.
        """
        return [event for (_, _, name_), events in self._events.items() if name_ == own for event in events]

    @cached_property
    def refusals(self) -> list[Json]:
        """Events about Pods that the API server refused to create, oldest first."""
        return sorted((each for each in self.given.events if each.get("reason") == "FailedCreate"), key=time_of)

    def events_of_node(self, node: str) -> list[Json]:
        """Events about a node with this name, oldest first."""
        return self._events.get(("Node", "", node), [])
