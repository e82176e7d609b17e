"""Decisions of node-drainer about the Pods on a quarantined node (node-drainer/pkg/evaluator, pkg/informers)."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from physical_ai.kubernetes.objects import Json, at, name, namespace

Mode = Literal["Immediate", "AllowCompletion", "DeleteAfterTimeout"]
MODES: tuple[Mode, ...] = ("Immediate", "DeleteAfterTimeout", "AllowCompletion")
"""Drain modes, the first with the highest precedence: if several patterns match a namespace, the mode with the highest
precedence is used.
"""
QUARANTINED, DRAINING, DRAINED = "quarantined", "draining", "drain-succeeded"
"""Values of the node's state label."""
WAITING_REASON = "AwaitingPodCompletion"
_GRACE_SECONDS = 30.0


@dataclass(frozen=True)
class Config:
    """Configuration of node-drainer: the drain modes of namespaces, and the time limits."""

    namespaces: Sequence[tuple[str, Mode]]
    """Pairs of a namespace pattern and the drain mode for the Pods in matching namespaces."""
    system: str = ""
    """Regular expression for the namespaces whose Pods node-drainer leaves alone."""
    eviction_seconds: float = 60
    delete_minutes: float = 60
    not_ready_minutes: float = 5

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Config:
        """The configuration from the chart's values or the module's configuration file, which have the same keys."""
        return cls(
            namespaces=[(each["name"], each["mode"]) for each in data["userNamespaces"]],
            system=data.get("systemNamespaces", ""),
            eviction_seconds=float(data.get("evictionTimeoutInSeconds", 60)),
            delete_minutes=float(data.get("deleteAfterTimeoutMinutes", 60)),
            not_ready_minutes=float(data.get("notReadyTimeoutMinutes", 5)),
        )

    def mode(self, where: str) -> Mode | None:
        """The drain mode for the Pods of a namespace; None if node-drainer leaves the namespace's Pods alone."""
        if self.system and re.search(self.system, where):
            return None
        found = {mode for pattern, mode in self.namespaces if fnmatch.fnmatchcase(where, pattern)}
        return next((mode for mode in MODES if mode in found), None)


@dataclass(frozen=True)
class Drain:
    """Actions of node-drainer on a node's Pods in one round. If all three lists are empty, the node is drained."""

    evict: list[Json] = field(default_factory=list[Json])
    """Pods to evict through the eviction API, which respects disruption budgets."""
    delete: list[Json] = field(default_factory=list[Json])
    """Pods to delete directly, which ignores disruption budgets."""
    wait: list[Json] = field(default_factory=list[Json])
    """Pods that node-drainer lets end by themselves and waits for."""

    @property
    def is_done(self) -> bool:
        return not (self.evict or self.delete or self.wait)


def drain(config: Config, pods: Iterable[Json], since: float, now: float) -> Drain:
    """Actions on the Pods of a quarantined node. `since`: creation time of the event that caused the quarantine;
    `since` and `now` are in seconds since the epoch.

    Each Pod has the times of its status as numbers in `metadata.times`, under `deleted` and `notReady`.
    """
    of: dict[Mode, list[Json]] = {mode: [] for mode in MODES}
    for pod in pods:
        mode = config.mode(namespace(pod))
        if mode is not None and _is_in_the_way(config, pod, now):
            of[mode].append(pod)
    if immediate := of["Immediate"]:
        # If one Pod does not end in time, all are deleted by force, including those with a disruption budget.
        late = any(
            (deleted := _time(pod, "deleted")) and now > deleted + _grace(pod) + config.eviction_seconds
            for pod in immediate
        )
        return Drain(delete=immediate) if late else Drain(evict=[pod for pod in immediate if not _time(pod, "deleted")])
    if timed := of["DeleteAfterTimeout"]:
        late = now >= since + config.delete_minutes * 60
        return Drain(delete=timed) if late else Drain(wait=timed)
    return Drain(wait=of["AllowCompletion"])


def waiting_message(pods: Sequence[Json]) -> str:
    """The message of the node's Event while a drain waits for Pods."""
    names = " ".join(sorted(f"{namespace(pod)}/{name(pod)}" for pod in pods))
    return f"Waiting for following pods to finish: [{names}]"


def _is_in_the_way(config: Config, pod: Json, now: float) -> bool:
    """True if a drain has to remove the Pod.

    Three kinds of Pods are ignored: Pods of DaemonSets, Pods that have ended, and Pods that have been stuck or not
    ready for long (filterEvictablePods).
    """
    owners: list[Json] = at(pod, "metadata.ownerReferences", [])
    if any(each.get("kind") == "DaemonSet" for each in owners) or at(pod, "status.phase") in ("Succeeded", "Failed"):
        return False
    if (broken := _time(pod, "notReady")) and now > broken + config.not_ready_minutes * 60:
        return False
    deleted = _time(pod, "deleted")
    return not (deleted and config.mode(namespace(pod)) != "Immediate" and now > deleted + _grace(pod))


def _time(pod: Json, what: str) -> float:
    return float(at(pod, f"metadata.times.{what}", 0))


def _grace(pod: Json) -> float:
    return float(at(pod, "spec.terminationGracePeriodSeconds", _GRACE_SECONDS))
