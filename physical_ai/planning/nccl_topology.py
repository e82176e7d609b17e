"""InfiniBand for workflow tasks: the adapters that a task requests, NCCL's environment variables, and the topology file
of the node.
"""

from __future__ import annotations

from posixpath import dirname
from typing import Any

from physical_ai.catalog.nccl import pool_kind
from physical_ai.catalog.nccl_topology import topology
from physical_ai.settings.facts.fabric import fabric_pools, rdma_request
from physical_ai.settings.facts.osmo import OsmoPlatformFacts
from physical_ai.settings.facts.pools import pool_selector
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

CONFIG_MAP = "nccl-topology"
"""Name of the ConfigMap with topology files in the namespace of workflows."""
GANG_TOPOLOGY = "fabric"
"""Name of the KAI Topology, for the annotation kai.scheduler/topology."""
_FILE_VARIABLE = "NCCL_TOPO_FILE"


def gang_topology(settings: Settings) -> dict[str, Any] | None:
    """Spec of the KAI Topology with which a gang requests nodes of a single InfiniBand fabric; None without a pool that
    has a fabric.

    Its levels are the pool and the node, because no interface of Azure reports the distance between two nodes of a
    fabric.
    """
    labels = {key for name, pool in fabric_pools(settings).items() for key in pool_selector(name, pool)}
    if not labels:
        return None
    return {"levels": [{"nodeLabel": key} for key in (*sorted(labels), "kubernetes.io/hostname")]}


def topology_files(settings: Settings) -> dict[str, str]:
    """Topology files of the ConfigMap, by name; empty without a platform whose tasks use InfiniBand."""
    names = [name for name, platform in settings.osmo.platforms.items() if platform.rdma and name in settings.pools]
    found = [topology(settings.pools[name].sku) for name in names]
    return {each.file: each.xml() for each in found if each is not None}


def nccl_environment(pool: Pool) -> tuple[dict[str, str], str | None]:
    """NCCL's environment variables on the pool's nodes, and the folder in which NCCL looks for the topology file; the
    folder is None for a VM size without a topology file.
    """
    environment = dict(pool_kind(pool.sku).environment)
    if topology(pool.sku) is None:
        environment.pop(_FILE_VARIABLE, None)
    file = environment.get(_FILE_VARIABLE)
    return environment, dirname(file) if file is not None else None


def add_fabric(settings: Settings, item: OsmoPlatformFacts, spec: dict[str, Any]) -> None:
    """Adds adapters, variables and the topology file to the Pod template of a platform whose tasks use InfiniBand."""
    pool = settings.pools[item.pool]
    requested = rdma_request(settings, pool, "{{USER_GPU}}")
    if not item.own.rdma or not requested:
        return
    container = spec["containers"][0]
    for kind, amounts in container["resources"].items():
        container["resources"][kind] = {**amounts, **requested}
    environment, folder = nccl_environment(pool)
    if folder is not None:
        spec["volumes"] = [{"name": CONFIG_MAP, "configMap": {"name": CONFIG_MAP}}]
        container["volumeMounts"] = [{"name": CONFIG_MAP, "mountPath": folder, "readOnly": True}]
    container["env"] += [{"name": name, "value": value} for name, value in environment.items()]
