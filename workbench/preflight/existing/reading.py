"""Reader of an existing cluster, which sends only list requests. A list that does not exist, or that the caller may not
read, is None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]
Read = Callable[[str], Sequence[Json] | None]
"""Function that returns the items of a list by its API path; None if the cluster has no such list, or the caller may
not read it.
"""

NODES = "/api/v1/nodes"
PODS = "/api/v1/namespaces/kube-system/pods"
SERVICES = "/api/v1/services"
CONFIG_MAPS = "/api/v1/namespaces/gpu-operator/configmaps"
DAEMON_SETS = "/apis/apps/v1/daemonsets"
DEPLOYMENTS = "/apis/apps/v1/deployments"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
SNAPSHOT_CLASSES = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotclasses"
ADDRESS_POOLS = "/apis/metallb.io/v1beta1/ipaddresspools"


@dataclass(frozen=True)
class Found:
    """Objects that were read from an existing cluster, by list. A list is None if it does not exist, or the caller may
    not read it.
    """

    nodes: Sequence[Json] | None = None
    system_pods: Sequence[Json] | None = None
    services: Sequence[Json] | None = None
    evidence: Sequence[Json] | None = None
    """ConfigMaps in the GPU Operator's namespace with records of the machines' GPUs and firmware."""
    daemon_sets: Sequence[Json] | None = None
    deployments: Sequence[Json] | None = None
    classes: Sequence[Json] | None = None
    snapshot_classes: Sequence[Json] | None = None
    address_pools: Sequence[Json] | None = None
    refused: tuple[str, ...] = field(default=())
    """API paths of lists that the caller may not read."""


_PATHS = {
    "nodes": NODES,
    "system_pods": PODS,
    "services": SERVICES,
    "evidence": CONFIG_MAPS,
    "daemon_sets": DAEMON_SETS,
    "deployments": DEPLOYMENTS,
    "classes": CLASSES,
    "snapshot_classes": SNAPSHOT_CLASSES,
    "address_pools": ADDRESS_POOLS,
}
_ALWAYS_THERE = ("nodes", "system_pods", "services", "daemon_sets", "deployments", "classes")
"""Lists that every Kubernetes cluster has: if one of them is None, the caller may not read it."""


def read_cluster(read: Read) -> Found:
    """Everything about the cluster that the findings need, from nine list requests. Changes nothing."""
    lists: dict[str, Any] = {name: read(path) for name, path in _PATHS.items()}
    refused = tuple(_PATHS[name] for name in _ALWAYS_THERE if lists[name] is None)
    return Found(**lists, refused=refused)
