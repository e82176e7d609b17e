"""The KAI scheduler and the cluster autoscaler of one simulated cluster."""

from __future__ import annotations

from pathlib import Path

from simulator.clock import seconds_per_model_minute
from simulator.cluster.loop import Loop
from simulator.kubernetes.client import Client
from simulator.scheduling.autoscaler.live import Autoscaler
from simulator.scheduling.autoscaler.pools import Pools
from simulator.scheduling.kai.live import KaiScheduler
from simulator.scheduling.view import View

PAUSE = 3
"""Duration of the pause between two rounds, as a multiple of the duration of a round. Without a pause, the rounds would
follow each other at once in a large cluster, where something always changes.
"""
SCAN_MINUTES = 10 / 60
"""Minutes between two scans of the autoscaler (AKS's scan-interval). Pods that are created within one interval are
considered together.
"""


def start(client: Client, plane: Path, slots: Path, simulation: Path) -> None:
    """Starts KAI's scheduler and the cluster autoscaler, each in its own thread.

    Args:
        client: An administrator's client.
        plane: Folder of the control plane.
        slots: File that maps Azure's clusters to control planes.
        simulation: Folder with the simulated Azure's state.
    """
    loops: list[Loop] = []

    def changed() -> None:
        for loop in loops:
            loop.wake()

    view = View(client, changed)
    pools = Pools(client, plane, slots, simulation)
    scan = SCAN_MINUTES * seconds_per_model_minute()
    loops += [
        Loop("kai-scheduler", KaiScheduler(view).round, pause=PAUSE),
        Loop("autoscaler", Autoscaler(view, pools).round, scan, PAUSE),
    ]
    for loop in loops:
        loop.start()
