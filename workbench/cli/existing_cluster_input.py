"""Description of an existing cluster for the simulator, made from a stack's settings. The simulator creates this
cluster before it deploys the stack into it.
"""

from __future__ import annotations

from physical_ai.settings import NodePool, Pool, Settings
from physical_ai.settings.facts.gpu import driver_version
from physical_ai.settings.facts.pools import CPU_POOL
from simulator.stack_input import ExistingClusterInput, NodeClass


def existing_cluster_input(settings: Settings) -> ExistingClusterInput | None:
    """The existing cluster as the stack describes it; None if the stack creates its own cluster."""
    if settings.azure_network is not None:
        return None
    from workbench.cli.existing_check import context_of  # the module takes a while to load

    context = context_of(settings)
    if context is None:
        return None
    classes: dict[str, NodePool] = {CPU_POOL: settings.cpu_pool, **settings.pools}
    return ExistingClusterInput(context, tuple(_class(settings, name, pool) for name, pool in classes.items()))


def _class(settings: Settings, name: str, pool: NodePool) -> NodeClass:
    driver = _host_driver(settings, pool) if isinstance(pool, Pool) else ""
    return NodeClass(name, pool.sku, pool.scale.most, pool.node_selector, tuple(pool.tolerate), driver)


def _host_driver(settings: Settings, pool: Pool) -> str:
    """Version of the GPU driver that is installed on the hosts of a pool, from the pool's settings or else from the GPU
    Operator's settings. Empty if the hosts have no GPU driver.
    """
    if pool.driver.source.value != "host":
        return ""
    return driver_version(settings, pool) or settings.gpu_operator.driver.version or ""
