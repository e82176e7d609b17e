"""Bars of the steps of one more GPU node, with the driver of the GPU Operator and of AKS, in the slow case."""

from __future__ import annotations

from dataclasses import replace

from docs.generator.pictures.gantt import Bar, gantt
from physical_ai.catalog.node_steps import DriverKind
from workbench.cli.policy_pack import declared_resources
from workbench.cli.requested_stack import read_stack
from workbench.first_gpu.graph import one_more_node
from workbench.first_gpu.pools import declared_pools

STACK, POOL = "dev-westus2", "h100gpu"
DRIVERS: dict[str, DriverKind] = {"operator": "operator", "AKS": "aks"}
"""Installers of the driver, by the names that the bars have."""


def new_node() -> str:
    """A bar for each step of a node, for one installer of the driver after the other; the driver's own step stands
    out.
    """
    pools = declared_pools(declared_resources(read_stack(STACK), preview=False).resources)
    pool = next(each for each in pools if each.name == POOL)
    paths = {name: one_more_node(replace(pool, driver=kind)) for name, kind in DRIVERS.items()}
    bars = [
        Bar(f"{name} {step.title}", path.placed(step.key).start, path.placed(step.key).end, step.key == "driver")
        for name, path in paths.items()
        for step in path.slow
        if step.minutes[1]
    ]
    totals = ", ".join(f"{name} {each.minutes[0]:.0f} to {each.minutes[1]:.0f}" for name, each in paths.items())
    title = f"One more node of the pool {POOL} of {STACK}, slow case, in minutes"
    return gantt(title, f"Minutes by installer of the driver: {totals}.", bars)
