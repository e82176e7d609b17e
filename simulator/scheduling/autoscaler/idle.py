"""Idle nodes, and the nodes among them that have been idle for long enough to be removed. The functions are pure;
`IdleNodes` records since when each node has been idle.
"""

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
"""Default durations in minutes for settings that the cluster's autoScalerProfile lacks (AKS docs,
cluster-autoscaler).
"""


def minutes(profile: Mapping[str, Any], key: str) -> int:
    """Duration in whole minutes that the autoscaler profile has for `key`, written there as `15m`. The default if the
    profile lacks the key.
    """
    match = re.fullmatch(r"(\d+)m", str(profile.get(key, "")))
    return int(match[1]) if match else DEFAULTS[key]


def blocks_scale_down(pod: Mapping[str, Any]) -> bool:
    """True for a Pod that keeps its node from being idle: any Pod except a DaemonSet's Pod, a mirror Pod, or a Pod that
    has ended.
    """
    if is_of_daemonset(pod) or at(pod, "status.phase") in FINAL:
        return False
    return MIRROR not in annotations_of(pod)


def is_removable(node: Json, busy: Iterable[str], needed: Iterable[str]) -> bool:
    """True if the autoscaler may remove the node: its name is neither in `busy` nor in `needed`, and no annotation of
    the node forbids scale-down.

    Args:
        busy: Names of nodes with a Pod that blocks scale-down.
        needed: Names of nodes on which a waiting Pod would fit.
    """
    host = str(at(node, "metadata.name"))
    return annotations_of(node).get(DISABLED) != "true" and host not in busy and host not in needed


@dataclass
class IdleNodes:
    """Record of the times at which the idle nodes became idle.

    The record is lost when the process ends, as in the real autoscaler.
    """

    since: dict[str, float] = field(default_factory=dict[str, float])
    """Time at which each idle node became idle, in seconds of a monotonic clock, by name of the node."""

    def note(self, idle: Iterable[str], now: float) -> None:
        """Records which nodes are idle now. The time of a node that is not idle now is forgotten."""
        self.since = {host: self.since.get(host, now) for host in idle}

    def due(self, host: str, wait: float) -> float:
        """Time at which an idle node may be removed if it has to be idle for `wait` seconds."""
        return self.since[host] + wait
