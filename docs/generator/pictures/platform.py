"""The default stack of the README: from its files to its cluster."""

from __future__ import annotations

from docs.generator.pictures.mermaid import box, chain, diagram, frame
from physical_ai.catalog.lookup import vm_size
from physical_ai.planning.plan import make_plan
from physical_ai.settings import DriverSource, NodePool, Pool, Priority, Scale, load
from physical_ai.settings.facts.pools import node_pools

STACK = "dev-westus2"
CLUSTER = "AKS cluster"
EDITION = " Blackwell Server Edition"
COLUMNS = 2
"""Number of pools beside each other."""
CHARTS = {"gpu-operator": "GPU Operator", "kai-scheduler": "KAI scheduler", "backend-operator": "OSMO agents"}
INSTALLERS = {
    DriverSource.OPERATOR: "driver by the GPU Operator",
    DriverSource.GRID: "driver by the GRID driver agent",
    DriverSource.AKS: "driver of the node image",
}
CODE = (
    "settings: layers merged, rules checked",
    "components: one Pulumi component per file",
    "the Pulumi engine: preview, diff, state",
)


def platform() -> str:
    """Flow chart of the stack: files, program, resource group, cluster."""
    loaded = load(STACK)
    settings = loaded.settings
    pools = node_pools(settings)
    installed = [CHARTS[each.name] for each in make_plan(settings).charts]
    network = settings.azure_network
    days = settings.monitoring.retention_days
    around = f"network {network.address_space if network else ''}, identities, Log Analytics {days} days"
    names = list(pools)
    lines = [
        box("files", "stack files", *(each.label for each in loaded.merged.layers)),
        box("catalog", "catalogue", "VM sizes, regions, drivers, charts"),
        box("program", *CODE),
        box("around", "Azure resource group", around),
        *_cluster(pools, installed),
        chain(["files", "program"]),
        chain(["catalog", "program", "around", CLUSTER]),
        *(f"{above} ~~~ {below}" for above, below in zip(names, names[COLUMNS:], strict=False)),
        *(f"{each} ~~~ {below}" for each, below in zip(names[-COLUMNS:], ("installed", "gate"), strict=True)),
    ]
    described = f"Stack files and the catalogue become an AKS cluster with the pools {', '.join(pools)}."
    return diagram("flowchart TD", f"The stack {STACK}", described, lines)


def _cluster(pools: dict[str, NodePool], installed: list[str]) -> list[str]:
    boxes = [*(box(name, *_pool(name, pool)) for name, pool in pools.items())]
    boxes.append(box("installed", "in the cluster", ", ".join(installed), "GRID driver agent"))
    boxes.append(box("gate", "readiness gate", "every GPU is allocatable, or the deployment names the closed gate"))
    return frame(CLUSTER, boxes)


def _pool(name: str, pool: NodePool) -> list[str]:
    spot = isinstance(pool, Pool) and pool.priority is Priority.SPOT
    texts = [f"{name}: {_nodes(pool.scale)}{', Spot' * spot}", pool.sku.removeprefix("Standard_")]
    if isinstance(pool, Pool):
        gpu = vm_size(pool.sku).gpu
        texts += [f"{gpu.count:g} × {gpu.model.removesuffix(EDITION)}" if gpu else "", INSTALLERS[pool.driver.source]]
    return texts


def _nodes(scale: Scale) -> str:
    if scale.count is None:
        return f"{scale.min} to {scale.max} nodes"
    return "1 node" if scale.count == 1 else f"{scale.count} nodes"
