"""Selection of the cluster that a command reads or changes: the cluster of a kubeconfig, or a stack's simulated
cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from workbench.cli.simulated_stack import changing_client, deployed_pools, readiness_client, running_cluster

if TYPE_CHECKING:
    from physical_ai.readiness import Expected, Get
    from physical_ai.readiness.client import Send
    from physical_ai.settings import Settings
    from simulator.simulation import Simulation


@dataclass(frozen=True)
class ClusterTarget:
    """A cluster that a command reads: its name, its client, and the GPUs that its node pools should offer."""

    name: str
    get: Get
    expected: Sequence[Expected]


def real_cluster(kubeconfig: Path, settings: Settings, context: str | None = None) -> ClusterTarget:
    """The cluster of a kubeconfig, with the pools that the settings describe. `context`: name of the kubeconfig
    context, with the defaults of `chosen_context`.
    """
    from physical_ai.readiness import expected_pools
    from physical_ai.readiness.client import connect

    return ClusterTarget(str(kubeconfig), connect(access_text(kubeconfig, settings, context)), expected_pools(settings))


def cluster_of(stack: str, kubeconfig: Path | None, settings: Settings, context: str | None) -> ClusterTarget:
    """The cluster of a kubeconfig, or the stack's simulated one."""
    if kubeconfig is not None:
        return real_cluster(kubeconfig, settings, context)
    needs_kubeconfig(context)
    return simulated_cluster(stack, settings)


def simulated_cluster(stack: str, settings: Settings) -> ClusterTarget:
    """A stack's simulated cluster, with the pools of its last finished deployment. If no deployment has finished, with
    the pools of the settings.
    """
    from physical_ai.readiness import expected_pools

    simulation, cluster = _simulated(stack)
    expected = deployed_pools(simulation) or expected_pools(settings)
    get = readiness_client(simulation.clusters().client(cluster))
    return ClusterTarget(f"simulated {stack}", get, [replace(each, stack=stack) for each in expected])


def changing_access(
    stack: str, kubeconfig: Path | None, settings: Settings, context: str | None = None
) -> tuple[str, Send]:
    """Name of a cluster, and a client that can change the cluster. It is the cluster of the kubeconfig or, without a
    kubeconfig, the stack's simulated cluster.
    """
    if kubeconfig is None:
        needs_kubeconfig(context)
        return f"simulated {stack}", changing_client(*_simulated(stack))
    from physical_ai.readiness.client import connect_to_change

    return str(kubeconfig), connect_to_change(access_text(kubeconfig, settings, context))


def needs_kubeconfig(context: str | None) -> None:
    """Raises typer.BadParameter if `context` is not None: a kubeconfig context needs a kubeconfig file."""
    if context is not None:
        raise typer.BadParameter("name the file that has it with --kubeconfig", param_hint="--context")


def chosen_context(settings: Settings, context: str | None) -> str | None:
    """Name of the kubeconfig context to use: `context`, else the context of the stack's existing cluster. None stands
    for the kubeconfig's current context.
    """
    from workbench.cli.existing_check import context_of

    return context or context_of(settings)


def access_text(kubeconfig: Path, settings: Settings, context: str | None) -> str:
    """Text of the kubeconfig with the context that `chosen_context` selects. Raises typer.BadParameter if the file or
    the context cannot be read.
    """
    from physical_ai.readiness import Unusable
    from physical_ai.readiness.kubeconfig_context import read_context

    chosen = chosen_context(settings, context)
    try:
        return kubeconfig.read_text() if chosen is None else read_context(str(kubeconfig), chosen)
    except (OSError, UnicodeDecodeError, Unusable) as problem:
        raise typer.BadParameter(str(problem), param_hint="--kubeconfig") from None


def _simulated(stack: str) -> tuple[Simulation, str]:
    """The simulation of a stack, and the id of its running cluster."""
    from simulator.errors import SimulationError
    from simulator.simulation import Simulation

    simulation = Simulation(stack)
    cluster = running_cluster(simulation)
    if cluster is None:
        raise SimulationError(
            f"{stack} has no running simulated cluster. Create it with `physai up {stack}`,"
            " or name a real cluster with --kubeconfig FILE"
        )
    return simulation, cluster
