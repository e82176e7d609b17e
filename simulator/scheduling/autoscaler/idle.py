"""Idle nodes, and those that have been idle for long enough to be removed. Pure but for what it remembers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from physical_ai.kubernetes.fit import FINAL
from simulator.cluster.objects import Json, annotations_of, at
from simulator.scheduling.autoscaler.growth import is_of_daemonset

DISABLED = "cluster-autoscaler.kubernetes.io/scale-down-disabled"
MIRROR = "kubernetes.io/config.mirror"
DEFAULTS = {"scale-down-unneeded-time": 10, "scale-down-unready-time": 20, "scale-down-delay-after-add": 10}
"""Minutes, where the cluster's autoScalerProfile says nothing (AKS docs, cluster-autoscaler)."""


def minutes(profile: Mapping[str, Any], key: str) -> int:
    """A duration of the profile: full minutes, as `15m`."""
    found = re.fullmatch(r"(\d+)m", str(profile.get(key, "")))
    return int(found[1]) if found else DEFAULTS[key]


def blocks_scale_down(pod: Mapping[str, Any]) -> bool:
    """True for a pod that keeps its node from being idle: all but a DaemonSet's, mirror pods, and those that have
    ended.
    """
    if is_of_daemonset(pod) or at(pod, "status.phase") in FINAL:
        return False
    return MIRROR not in annotations_of(pod)


def is_removable(node: Json, busy: Iterable[str], needed: Iterable[str]) -> bool:
    """True for a node on which nothing runs, and no waiting pod would."""
    host = str(at(node, "metadata.name"))
    return annotations_of(node).get(DISABLED) != "true" and host not in busy and host not in needed


@dataclass
class IdleNodes:
    """Since when nodes have had nothing to do. What it knows ends with its process, as the autoscaler's does."""

    since: dict[str, float] = field(default_factory=dict[str, float])
    """Node → seconds."""

    def note(self, idle: Iterable[str], now: float) -> None:
        """Takes in which nodes are idle at this moment; those that are not begin anew the next time."""
        self.since = {host: self.since.get(host, now) for host in idle}

    def due(self, host: str, wait: float) -> float:
        """Time at which an idle node that has to rest for this number of seconds may be removed."""
        return self.since[host] + wait
