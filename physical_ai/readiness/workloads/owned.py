"""Which objects keep which: Jobs and other owners by name, and the Pods that they keep. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from physical_ai.kubernetes.objects import Json, at, name, namespace
from physical_ai.readiness.workloads.model import Workloads


class Owned:
    """A reading of a cluster by owners."""

    def __init__(self, given: Workloads) -> None:
        self.given = given

    def owner(self, kind: str, where: str, own: str) -> Json | None:
        """A Job, Deployment or the like."""
        return self._owners.get((kind, where, own))

    @cached_property
    def _owners(self) -> Mapping[tuple[str, str, str], Json]:
        return {
            (kind, namespace(each), name(each)): each for kind, items in self.given.owners.items() for each in items
        }

    def controller(self, item: Mapping[str, Any]) -> tuple[str, str]:
        """Kind and UID of what keeps an object; empty where nothing does."""
        references: list[Json] = at(item, "metadata.ownerReferences", [])
        found = next((each for each in references if each.get("controller", True)), None)
        return (str(found.get("kind", "")), str(found.get("uid", ""))) if found else ("", "")

    def kept_by(self, kind: str, item: Mapping[str, Any]) -> list[Json]:
        """The Pods of which an object is the controller."""
        return self._kept.get((kind, str(at(item, "metadata.uid", ""))), [])

    @cached_property
    def _kept(self) -> Mapping[tuple[str, str], list[Json]]:
        found: dict[tuple[str, str], list[Json]] = defaultdict(list)
        for pod in self.given.pods:
            found[self.controller(pod)].append(pod)
        return dict(found)

    def in_namespace(self, where: str) -> list[Json]:
        return self._in_namespace.get(where, [])

    @cached_property
    def _in_namespace(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = defaultdict(list)
        for pod in self.given.pods:
            found[namespace(pod)].append(pod)
        return dict(found)
