"""Mocked existing cluster with the nodes that the settings describe, for runs of the program without a cluster."""

from __future__ import annotations

from physical_ai.readiness.existing import Survey
from physical_ai.settings import NodePool, Settings
from physical_ai.settings.facts.pools import CPU_POOL


def described_cluster(settings: Settings, _file: str, _context: str) -> tuple[str, Survey]:
    """Kubeconfig and content of a cluster that fits the settings, in the form in which `open_cluster` returns them. For
    each pool, the cluster has the highest number of nodes in the settings, with the labels of the pool's node selector.
    """
    classes: dict[str, NodePool] = {CPU_POOL: settings.cpu_pool, **settings.pools}
    nodes = [
        {"metadata": {"name": f"{name}-{index}", "labels": dict(pool.node_selector)}, "spec": {}, "status": {}}
        for name, pool in classes.items()
        for index in range(pool.scale.most)
    ]
    system = {"metadata": {"name": "kube-system", "uid": "00000000-0000-0000-0000-000000000000"}}
    return "apiVersion: v1", Survey(nodes, [system])
