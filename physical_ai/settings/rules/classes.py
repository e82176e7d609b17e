"""Rules about an existing cluster: its node classes, and settings that only a cluster on Azure has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from physical_ai.catalog import UnknownName, machine, servers
from physical_ai.catalog.runai import WORKER_LABEL
from physical_ai.citations import changed_in
from physical_ai.settings.facts.gpu import installs_operator
from physical_ai.settings.facts.labels import EFFECTS, is_value, key_problem, split_taint
from physical_ai.settings.facts.pools import CPU_POOL, SYSTEM_POOL
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.models.base import Model
from physical_ai.settings.models.node_pools import NodePool, Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.rules.finding import Rule, SettingFinding, Trust, error
from physical_ai.settings.target import names_cluster

ONLY_AZURE = Rule("only-on-azure", "docs/existing-clusters.md#settings")
SERVER_UNKNOWN = Rule("server-unknown", "docs/existing-clusters.md#add-a-server")
SELECTORS = Rule("class-selectors", "docs/existing-clusters.md#classes-of-nodes")
OWN_LABEL = Rule("class-own-label", "docs/existing-clusters.md#classes-of-nodes")
HOST_DRIVER = Rule("class-driver", "NVIDIA GPU Operator docs, platform support and pre-installed drivers")
RUNAI = Rule("class-of-runai", "Run:ai docs, node roles")
NO_AUTOSCALER = Rule("class-count", "docs/existing-clusters.md#classes-of-nodes")

_SERVERS = changed_in("physical_ai/catalog/data/servers.yaml")
_SET_LATER = ("nvidia.com/", "feature.node.kubernetes.io/", "physical-ai/", "kubernetes.azure.com/")
"""Prefixes of labels that may not select a node class, because the platform or AKS sets and removes such labels."""
_SECTIONS = {"azure_network": "network", "access": "access", "azure_system_pool": "systemPool", "tags": "tags"}
_CLUSTER = {
    "azure_tier": "tier",
    "azure_upgrades": "upgrades",
    "nodes_version": "nodesVersion",
    "api_access": "apiAccess",
    "autoscaler": "autoscaler",
}
_POOL = {
    "azure_subnet": "subnet",
    "fallbacks": "fallbacks",
    "zones": "zones",
    "os_sku": "osSku",
    "max_pods": "maxPods",
    "upgrade": "upgrade",
    "priority": "priority",
    "spot": "spot",
    "secure_boot": "secureBoot",
    "kubelet": "kubelet",
    "capacity": "capacity",
}


def check_no_classes(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Errors of settings about existing clusters and node classes in a stack that creates its cluster."""
    if names_cluster(settings) and trust(("target",)):
        problem = "The stack creates its cluster; context, kubeconfig and leave are about one that exists."
        yield error(("target",), problem, "kind: existing, or remove them.")
    if not installs_operator(settings) and trust(("gpuOperator", "existing")):
        problem = "The stack creates its cluster, which has no GPU Operator before."
        yield error(("gpuOperator", "existing"), problem, "Remove it, or target: {kind: existing}.")
    for path, pool in _pools(settings).items():
        for key, is_set in (("nodeSelector", bool(pool.node_selector)), ("tolerate", bool(pool.tolerate))):
            if is_set and trust((*path, key)):
                problem = f"AKS creates the nodes of this pool, with its own labels: {key} has no effect."
                yield error((*path, key), problem, "Remove it, or target: {kind: existing}.", others=(("target",),))


def check_no_azure(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Errors of settings that only apply to Azure, in a stack on an existing cluster."""
    places: dict[Path, tuple[Model, dict[str, str]]] = {
        (): (settings, _SECTIONS),
        ("cluster",): (settings.cluster, _CLUSTER),
    }
    places |= {path: (pool, _POOL) for path, pool in _pools(settings).items()}
    for path, (model, names) in places.items():
        for field, key in names.items():
            if field in model.model_fields_set and not _is_default(model, field) and trust((*path, key)):
                yield _only_azure((*path, key))
    for path, is_set in _azure_choices(settings):
        if is_set and trust(path):
            yield _only_azure(path)


def _is_default(model: Model, field: str) -> bool:
    """True if the field has its default value. Settings that were written out in full contain defaults even where they
    do not apply, which is no error.
    """
    return getattr(model, field) == type(model).model_fields[field].get_default(call_default_factory=True)


def _only_azure(path: Path) -> SettingFinding:
    problem = "This is about resources of Azure, and the stack's cluster exists already."
    return error(path, problem, "Remove it, or target: {kind: azure}.", others=(("target",),), rule=ONLY_AZURE)


def _azure_choices(settings: Settings) -> Iterator[tuple[Path, bool]]:
    """Settings that can choose an Azure service; each with True if the present value chooses one."""
    monitoring, osmo, data = settings.monitoring, settings.osmo, settings.data_services
    yield ("monitoring", "metrics"), monitoring.metrics == "azure"
    yield ("monitoring", "containerLogs"), monitoring.container_logs is not None
    yield ("dataServices", "source"), data is not None and not data.is_in_cluster
    yield ("runners",), settings.runners is not None
    yield ("osmo", "tokenFrom"), osmo.token_from is not None
    yield ("osmo", "access", "dns"), osmo.access.dns is not None
    yield ("osmo", "access", "tls"), osmo.access.tls is not None and osmo.access.tls.source == "keyVault"


def check_classes(settings: Settings, trust: Trust) -> Iterator[SettingFinding]:
    """Findings of all rules about node classes. Whether nodes of a class exist is checked later, in the cluster."""
    pools = _pools(settings)
    for path, pool in pools.items():
        yield from _machine(path, pool, trust)
        yield from _count(path, pool, trust)
        yield from _selector(path, pool, trust)
        yield from _tolerated(path, pool, trust)
        yield from _of_runai(settings, path, pool, trust)
    for name in settings.pools:
        if name in (SYSTEM_POOL, CPU_POOL):
            problem = f"'{name}' is the name of a pool that every cluster has."
            yield error(("pools", name), problem, f"Such as '{name}gpu'.")
    yield from _overlaps(pools, trust)


def _pools(settings: Settings) -> dict[Path, NodePool]:
    return {("cpuPool",): settings.cpu_pool, **{("pools", name): pool for name, pool in settings.pools.items()}}


def _machine(path: Path, pool: NodePool, trust: Trust) -> Iterator[SettingFinding]:
    setting = (*path, "sku")
    if not trust(setting):
        return
    try:
        found = machine(pool.sku)
    except UnknownName as unknown:
        found = None
        near = f"Did you mean '{unknown.suggestion}'?  " if unknown.suggestion in servers() else ""
    else:
        near = ""
    if found is None or pool.sku not in servers():
        problem = f"'{pool.sku}' is not a server that the catalogue describes."
        fix = f"{near}Servers: {', '.join(servers())}.  Another one is a row in {_SERVERS}, with its GPU; a"
        fix += " new GPU model also needs its own in the folder gpu beside it."
        yield error(setting, problem, fix, rule=SERVER_UNKNOWN)
        return
    if not isinstance(pool, Pool):
        return
    if found.gpu is None:
        yield error(
            setting, f"{pool.sku} has no GPU.", "Name the server of the nodes that have one.", rule=SERVER_UNKNOWN
        )
    elif pool.driver.source.value not in found.driver_sources and trust((*path, "driver")):
        problem = f"Driver source '{pool.driver.source.value}' does not work on {pool.sku}."
        fix = f"Use one of: {', '.join(found.driver_sources)}."
        yield error((*path, "driver", "source"), problem, fix, others=(setting,), rule=HOST_DRIVER)


def _count(path: Path, pool: NodePool, trust: Trust) -> Iterator[SettingFinding]:
    setting = (*path, "scale")
    if not trust(setting):
        return
    if pool.scale.is_autoscaled:
        problem = "No autoscaler adds nodes to an existing cluster."
        yield error(
            setting, problem, f"scale: {{count: {pool.scale.most}}}, the nodes that there are.", rule=NO_AUTOSCALER
        )
    elif pool.scale.most < 1:
        yield error((*setting, "count"), "A class of nodes has at least one.", "Remove the pool, or count them.")


def _selector(path: Path, pool: NodePool, trust: Trust) -> Iterator[SettingFinding]:
    setting = (*path, "nodeSelector")
    if not trust(setting):
        return
    if not pool.node_selector:
        problem = "An empty selector would make every node of the cluster part of this class."
        yield error(
            setting, problem, "Labels that all these nodes have, and no other: kubectl get nodes --show-labels."
        )
    for key, value in pool.node_selector.items():
        if problem := key_problem(key):
            yield error((*setting, key), problem, "Like example.com/servers or servers.")
        elif value and not is_value(value):
            yield error((*setting, key), f"'{value}' is not a label value.", "Copy it from a node.")
        elif key == "agentpool" or key.startswith(_SET_LATER):
            problem = f"'{key}' is a label that the platform sets, or that comes and goes with it."
            fix = "Choose labels that whoever installed the cluster has set."
            yield error((*setting, key), problem, fix, rule=OWN_LABEL)


def _tolerated(path: Path, pool: NodePool, trust: Trust) -> Iterator[SettingFinding]:
    setting = (*path, "tolerate")
    for index, taint in enumerate(pool.tolerate if trust(setting) else ()):
        key, _, effect = split_taint(taint)
        if effect not in EFFECTS or key_problem(key):
            fix = "Write it as key=value:NoSchedule, or key:NoSchedule; copy it from a node."
            yield error((*setting, index), f"'{taint}' is not a taint.", fix)


def _of_runai(settings: Settings, path: Path, pool: NodePool, trust: Trust) -> Iterator[SettingFinding]:
    """Errors of pools whose node selector has Run:ai's worker label: Run:ai and KAI would both schedule on the pool's
    GPUs.

    Nodes that have the label although the selector does not are found by `physai check`.
    """
    setting = (*path, "nodeSelector")
    if not settings.osmo.installs_backend or not isinstance(pool, Pool) or not trust(setting):
        return
    if pool.node_selector.get(WORKER_LABEL) == "true":
        problem = "Run:ai schedules on the nodes with this label, and the stack installs KAI for the same GPUs."
        fix = "Give Run:ai nodes of its own, and select the pool's by another label. Or osmo.mode: namespaces."
        yield error((*setting, WORKER_LABEL), problem, fix, others=(("osmo", "mode"),), rule=RUNAI)


def _overlaps(pools: dict[Path, NodePool], trust: Trust) -> Iterator[SettingFinding]:
    """Errors of pools that would share nodes: every node that one pool selects is also selected by another pool."""
    seen: list[tuple[Path, dict[str, str]]] = []
    for path, pool in pools.items():
        setting: Path = (*path, "nodeSelector")
        if not pool.node_selector or not trust(setting):
            continue
        for other, selector in seen:
            if _within(selector, pool.node_selector) or _within(pool.node_selector, selector):
                problem = f"The same nodes are in the class of {'.'.join(map(str, other[:-1]))}."
                fix = "Give the two selectors different values of one label."
                yield error(setting, problem, fix, others=(other,), rule=SELECTORS)
        seen.append((setting, pool.node_selector))


def _within(some: dict[str, Any], more: dict[str, Any]) -> bool:
    return some.items() <= more.items()
