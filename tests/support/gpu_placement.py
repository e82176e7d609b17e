"""Places Pods: the nodes that get a DaemonSet's Pods, and the reasons for which others get none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.kubernetes.taints import tolerates
from simulator.cluster.objects import at, labels, matches

# What the DaemonSet controller lets its own pods tolerate (kubernetes/kubernetes, daemonset_util.go).
BUILT_IN = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def untolerated(daemonset: Mapping[str, Any], node: Mapping[str, Any]) -> list[str]:
    """Taints of the node that keep the DaemonSet's Pods off it, as `key=value:Effect`."""
    tolerations = at(daemonset, "spec.template.spec.tolerations", [])
    found: list[str] = []
    for taint in at(node, "spec.taints", []):
        if taint.get("effect") not in ("NoSchedule", "NoExecute") or (taint["key"], taint["effect"]) in BUILT_IN:
            continue
        if not any(tolerates(toleration, taint) for toleration in tolerations):
            value = f"={taint['value']}" if taint.get("value") else ""
            found.append(f"{taint['key']}{value}:{taint['effect']}")
    return found


def is_selected(daemonset: Mapping[str, Any], node: Mapping[str, Any]) -> bool:
    return matches(at(daemonset, "spec.template.spec.nodeSelector", {}), labels(node))


def nodes_for(daemonset: Mapping[str, Any], nodes: Mapping[str, Any]) -> list[str]:
    """Sorted names of the nodes that get a Pod."""
    return sorted(
        key for key, node in nodes.items() if is_selected(daemonset, node) and not untolerated(daemonset, node)
    )


def kept_off(daemonset: Mapping[str, Any], node: Mapping[str, Any]) -> str:
    """Reason for which the node gets no Pod of the DaemonSet; empty if it gets one."""
    given = labels(node)
    for key, value in sorted(at(daemonset, "spec.template.spec.nodeSelector", {}).items()):
        if given.get(key) != value:
            return f"label {key} is {given[key]!r}, not {value!r}" if key in given else f"label {key} is missing"
    taints = untolerated(daemonset, node)
    return f"untolerated taint {', '.join(taints)}" if taints else ""
