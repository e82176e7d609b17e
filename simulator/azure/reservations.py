"""Parts of a node's CPU, memory and disk that AKS reserves for itself.

Source: MicrosoftDocs/azure-aks-docs fb060ab, articles/aks/node-resource-reservations.md (AKS 1.29 and later); read
2026-11-28. The kubelet also reserves a tenth of the disk (Kubernetes docs, node-pressure-eviction,
nodefs.available<10%).
"""

from __future__ import annotations

from itertools import pairwise

CPU_RESERVED = ((0, 0), (1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740))
"""Pairs of a machine's number of cores and the CPU that AKS reserves, in thousandths of a core. Between two pairs,
linear interpolation is assumed.
"""
POD_MIB, BASE_MIB, EVICTION_MIB = 20, 50, 100


def cpu_millis(cores: int) -> int:
    """CPU that is left for Pods, in thousandths of a core."""
    for (low, below), (high, above) in pairwise(CPU_RESERVED):
        if cores <= high:
            return cores * 1000 - below - (above - below) * (cores - low) // (high - low)
    (low, below), (high, above) = CPU_RESERVED[-2:]
    return cores * 1000 - above - (above - below) * (cores - high) // (high - low)


def memory_mib(total_gib: int, max_pods: int) -> int:
    """Memory that is left for Pods, in MiB."""
    total = total_gib * 1024
    return total - min(POD_MIB * max_pods + BASE_MIB, total // 4) - EVICTION_MIB


def disk_bytes(total_gib: int) -> int:
    """Space on the OS disk that is left for Pods, in bytes."""
    return total_gib * 2**30 * 9 // 10
