"""Which cluster the `gates` command reads: the simulated one of a stack, or a real one by its kubeconfig."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from physical_ai.cli.simulated_stack import deployed_pools, readiness_client, running_cluster

if TYPE_CHECKING:
    from physical_ai.readiness import Expected, Get
    from physical_ai.settings import Settings


@dataclass(frozen=True)
class ClusterTarget:
    """A cluster, and what its pools should offer."""

    name: str
    get: Get
    expected: Sequence[Expected]


def real_cluster(kubeconfig: Path, settings: Settings) -> ClusterTarget:
    """A cluster with the pools that the settings describe."""
    from physical_ai.readiness import expected_pools
    from physical_ai.readiness.client import connect

    try:
        text = kubeconfig.read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise typer.BadParameter(str(problem), param_hint="--kubeconfig") from None
    return ClusterTarget(str(kubeconfig), connect(text), expected_pools(settings))


def simulated_cluster(stack: str, settings: Settings) -> ClusterTarget:
    """The simulated cluster with the pools of its last deployment; of the settings where none finished."""
    from physical_ai.readiness import expected_pools
    from physical_ai.simulator.errors import SimulationError
    from physical_ai.simulator.simulation import Simulation

    simulation = Simulation(stack)
    cluster = running_cluster(simulation)
    if cluster is None:
        raise SimulationError(
            f"{stack} has no running simulated cluster. Create it with `physai up {stack}`,"
            " or read a real cluster with --kubeconfig FILE"
        )
    expected = deployed_pools(simulation) or expected_pools(settings)
    get = readiness_client(simulation.clusters().client(cluster))
    return ClusterTarget(f"simulated {stack}", get, expected)
