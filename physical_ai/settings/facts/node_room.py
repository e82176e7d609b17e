"""Resources that a node leaves for one workload besides AKS, DaemonSets and OSMO's own container. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from physical_ai.catalog import machine, vm_size
from physical_ai.catalog.aks import allocatable
from physical_ai.settings.models.node_pools import MANAGED_DISK_GIB, NodePool

GIB_IN_MIB = 1024
DAEMONS_MILLIS, DAEMONS_MIB = 1000, 2 * GIB_IN_MIB
"""CPU and memory for the Pods on every node: network and storage agents of AKS, log agent, the GPU Operator's
operands.
"""
CONTROL_MILLIS, CONTROL_MIB, CONTROL_STORAGE_MIB = 250, 1 * GIB_IN_MIB, 3 * GIB_IN_MIB
"""Requests of OSMO's own container, osmo-ctrl, which every Pod of a workflow has."""


@dataclass(frozen=True)
class Room:
    """Largest resource requests of one task's container."""

    cpus: int
    memory_gib: int
    storage_gib: int

    def shared_by(self, tasks: int) -> Room:
        """Share of each of `tasks` tasks that run at once."""
        return Room(self.cpus // tasks, self.memory_gib // tasks, self.storage_gib // tasks)


def disk_gib(pool: NodePool) -> int:
    """Size in GiB of a node's OS disk, which holds images, logs and what containers write."""
    if pool.os_disk.size_gb is not None:
        return pool.os_disk.size_gb
    if pool.os_disk.type != "Ephemeral":
        return MANAGED_DISK_GIB
    return vm_size(pool.sku).disks.default_gib


def room(pool: NodePool) -> Room:
    """Resources that one node of the pool leaves for a single task; never negative."""
    size = machine(pool.sku)
    usable = allocatable(size.vcpus, size.memory_gib, disk_gib(pool), pool.max_pods)
    millis = usable.millis - DAEMONS_MILLIS - CONTROL_MILLIS
    memory = usable.memory_mib - DAEMONS_MIB - CONTROL_MIB
    storage = (usable.disk_bytes >> 20) - CONTROL_STORAGE_MIB
    return Room(max(millis // 1000, 0), max(memory // GIB_IN_MIB, 0), max(storage // GIB_IN_MIB, 0))
