"""Rules about a pool's kubelet settings, such as a topology policy with which every node would reject certain Pods."""

from __future__ import annotations

from collections.abc import Iterator

from physical_ai.catalog.nccl_topology import topology
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.kubelet import REFUSING, Kubelet
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, warning

ONE_NUMA_NODE = Rule("kubelet-one-numa-node", "Kubernetes docs, topology-manager, single-numa-node policy")
DEVICES_ONLY = Rule("kubelet-devices-only", "Kubernetes docs, topology-manager and cpu-management-policies")
CLAIMS = Rule("kubelet-claims", "Kubernetes docs, topology-manager, hint providers")


def check_kubelet(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about `pools.<pool>.kubelet`."""
    for name, pool in settings.pools.items():
        if pool.kubelet is not None and trust(("pools", name, "kubelet"), ("pools", name, "sku")):
            yield from _pool(name, pool, pool.kubelet)


def _pool(name: str, pool: Pool, kubelet: Kubelet) -> Iterator[SettingFinding]:
    path, policy = ("pools", name, "kubelet", "topologyManagerPolicy"), kubelet.topology_manager_policy
    gpus, known = gpus_per_node(pool), topology(pool.sku)
    if pool.uses_claims and policy != "none":
        problem = "The pool's Pods have their GPUs by claims, which the kubelet's topology manager does not align."
        yield warning(
            path,
            problem,
            "none; in a claim, matchAttribute: resource.kubernetes.io/pcieRoot keeps devices near each other.",
            rule=CLAIMS,
        )
    if policy == "single-numa-node" and gpus > 1:
        problem = (
            f"A node has {gpus} GPUs, and a Pod gets only those of one NUMA node: the kubelet rejects any other Pod"
        )
        problem += f" with TopologyAffinityError. {_halves(known.nodes[0].pairs if known else (), gpus)}"
        yield warning(path, problem, "restricted, if Pods may need all GPUs of a node.", rule=ONE_NUMA_NODE)
    if policy in REFUSING and kubelet.cpu_manager_policy == "none":
        problem = f"With {policy}, the kubelet rejects Pods whose devices are apart, and leaves their CPUs anywhere."
        yield warning(path, problem, "cpuManagerPolicy: static, which aligns CPUs as well.", rule=DEVICES_ONLY)


def _halves(near: tuple[object, ...], gpus: int) -> str:
    if not near:
        return "The number of GPUs per NUMA node of this size is not known."
    return f"On this size a NUMA node has {len(near)} of {gpus}."
