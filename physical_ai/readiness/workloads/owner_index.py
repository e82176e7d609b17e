"""Ownership among objects: Jobs and other owners by name, and their Pods. Pure functions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.readiness.platform.absence import Absence, absences
from physical_ai.readiness.workloads.health import job_shortfall
from physical_ai.readiness.workloads.model import Workloads


class OwnerIndex:
    """Objects of a cluster, indexed by owners."""

    def __init__(self, given: Workloads) -> None:
        self.given = given

    @cached_property
    def absences(self) -> list[Absence]:
        """Objects of the platform that do not do their work."""
        platform = self.given.platform
        if platform is None:
            return []
        return absences(platform, self.given.nodes, self.given.pods, agents=self.given.has_agents)

    def owner(self, kind: str, where: str, own: str) -> Json | None:
        """Job, Deployment or other owner with this kind, namespace and name; None where it is not known."""
        return self._owners.get((kind, where, own))

    @cached_property
    def _owners(self) -> Mapping[tuple[str, str, str], Json]:
        return {
            (kind, namespace(each), name(each)): each for kind, items in self.given.owners.items() for each in items
        }

    def controller(self, item: Mapping[str, Any]) -> tuple[str, str]:
        """Kind and UID of an object's controller; empty texts for an object without a controller."""
        references: list[Json] = at(item, "metadata.ownerReferences", [])
        found = next((each for each in references if each.get("controller", True)), None)
        return (str(found.get("kind", "")), str(found.get("uid", ""))) if found else ("", "")

    def kept_by(self, kind: str, item: Mapping[str, Any]) -> list[Json]:
        """Pods whose controller is the object."""
        return self._kept.get((kind, str(at(item, "metadata.uid", ""))), [])

    @cached_property
    def _kept(self) -> Mapping[tuple[str, str], list[Json]]:
        found: dict[tuple[str, str], list[Json]] = defaultdict(list)
        for pod in self.given.pods:
            found[self.controller(pod)].append(pod)
        return dict(found)

    def owner_of(self, item: Mapping[str, Any]) -> tuple[str, Json] | None:
        """Kind and content of the object that controls `item`, such as a ReplicaSet; None if no controller of `item` is
        known.
        """
        kind, uid = self.controller(item)
        found = self._by_uid.get((kind, uid)) if uid else None
        return (kind, found) if found is not None else None

    @cached_property
    def _by_uid(self) -> Mapping[tuple[str, str], Json]:
        owners = self.given.owners.items()
        return {(kind, str(at(each, "metadata.uid", ""))): each for kind, items in owners for each in items}

    @cached_property
    def last_in_order(self) -> Mapping[tuple[str, str], str]:
        """Creation time of each CronJob's newest healthy Job, by the kind and UID of the CronJob."""
        found: dict[tuple[str, str], str] = {}
        for job in self.given.owners.get("Job", ()):
            schedule, created = self.controller(job), str(at(job, "metadata.creationTimestamp", "") or "")
            if schedule[0] == "CronJob" and not job_shortfall(job):
                found[schedule] = max(created, found.get(schedule, ""))
        return found

    def of_deployment(self, item: Mapping[str, Any]) -> list[Json]:
        """Pods of a Deployment's ReplicaSets: found by UIDs where the ReplicaSets were read, otherwise by names."""
        return [
            *self._deployed.get(str(at(item, "metadata.uid", "")), []),
            *self._deployed.get(f"{namespace(item)}/{name(item)}", []),
        ]

    @cached_property
    def _deployed(self) -> Mapping[str, list[Json]]:
        """Pods of ReplicaSets. The key is the UID of the ReplicaSet's Deployment or, if the ReplicaSet was not read,
        the Deployment's NAMESPACE/NAME.
        """
        sets = self.given.owners.get("ReplicaSet", ())
        keepers = {str(at(each, "metadata.uid", "")): self.controller(each) for each in sets}
        found: dict[str, list[Json]] = defaultdict(list)
        for pod in self.given.pods:
            kind, uid = self.controller(pod)
            if kind == "ReplicaSet" and uid in keepers:
                found[keepers[uid][1]].append(pod)
            elif kind == "ReplicaSet" and (deployment := _deployment_of(pod)):
                found[f"{namespace(pod)}/{deployment}"].append(pod)
        return dict(found)


def _deployment_of(pod: Mapping[str, Any]) -> str:
    """Name of the Deployment to which `pod` belongs: the name of its ReplicaSet without the hash of the Pod template.
    Empty if the name of its ReplicaSet does not end with the hash.
    """
    hashed = labels(pod).get("pod-template-hash")
    references: list[Json] = at(pod, "metadata.ownerReferences", [])
    own = next((str(each.get("name", "")) for each in references if each.get("kind") == "ReplicaSet"), "")
    return own.removesuffix(f"-{hashed}") if hashed and own.endswith(f"-{hashed}") else ""
