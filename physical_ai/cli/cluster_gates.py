"""Which cluster a command reads or changes: the simulated one of a stack, or a real one by its kubeconfig."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from physical_ai.cli.simulated_stack import changing_client, deployed_pools, readiness_client, running_cluster

if TYPE_CHECKING:
    from physical_ai.readiness import Expected, Get
    from physical_ai.readiness.client import Send
    from physical_ai.settings import Settings
    from physical_ai.simulator.simulation import Simulation


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

    return ClusterTarget(str(kubeconfig), connect(_text(kubeconfig)), expected_pools(settings))


def simulated_cluster(stack: str, settings: Settings) -> ClusterTarget:
    """The simulated cluster with the pools of its last deployment; of the settings where none finished."""
    from physical_ai.readiness import expected_pools

    simulation, cluster = _simulated(stack)
    expected = deployed_pools(simulation) or expected_pools(settings)
    get = readiness_client(simulation.clusters().client(cluster))
    return ClusterTarget(f"simulated {stack}", get, expected)


def changing_access(stack: str, kubeconfig: Path | None) -> tuple[str, Send]:
    """The name of a cluster, and access that can change it: the one of a kubeconfig, or the stack's simulated one."""
    if kubeconfig is None:
        return f"simulated {stack}", changing_client(*_simulated(stack))
    from physical_ai.readiness.client import connect_to_change

    return str(kubeconfig), connect_to_change(_text(kubeconfig))


def _text(kubeconfig: Path) -> str:
    try:
        return kubeconfig.read_text()
    except (OSError, UnicodeDecodeError) as problem:
        raise typer.BadParameter(str(problem), param_hint="--kubeconfig") from None


def _simulated(stack: str) -> tuple[Simulation, str]:
    """The simulation of a stack, and the id of its cluster, which runs."""
    from physical_ai.simulator.errors import SimulationError
    from physical_ai.simulator.simulation import Simulation

    simulation = Simulation(stack)
    cluster = running_cluster(simulation)
    if cluster is None:
        raise SimulationError(
            f"{stack} has no running simulated cluster. Create it with `physai up {stack}`,"
            " or name a real cluster with --kubeconfig FILE"
        )
    return simulation, cluster
