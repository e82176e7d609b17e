"""`python -m physical_ai.simulator.scheduling …`: KAI and the cluster autoscaler of one simulated cluster."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path

from physical_ai.simulator.clock import seconds_per_model_minute
from physical_ai.simulator.cluster.loop import Loop
from physical_ai.simulator.kubernetes.client import Client
from physical_ai.simulator.scheduling.autoscaler.live import Autoscaler
from physical_ai.simulator.scheduling.autoscaler.pools import Pools
from physical_ai.simulator.scheduling.kai.live import KaiScheduler
from physical_ai.simulator.scheduling.view import View

PAUSE = 3
"""Least pause, as a multiple of the time that a round took: in a large cluster everything changes at once."""
SCAN_MINUTES = 10 / 60
"""Between two scans of the autoscaler (AKS's scan-interval), so that Pods created together count together."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--slots", type=Path, required=True, help="which cluster of Azure has which control plane")
    parser.add_argument("--simulation", type=Path, required=True, help="folder of what the simulated Azure knows")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    logging.getLogger("httpx").setLevel(logging.WARNING)
    loops: list[Loop] = []

    def changed() -> None:
        for loop in loops:
            loop.wake()

    client = Client(given.kubeconfig)
    client.wait_until_serving()
    view = View(client, changed)
    pools = Pools(client, Path.cwd(), given.slots, given.simulation)
    scan = SCAN_MINUTES * seconds_per_model_minute()
    autoscaler = Loop("autoscaler", Autoscaler(view, pools).round, scan, PAUSE)
    scheduler = Loop("kai-scheduler", KaiScheduler(view).round, pause=PAUSE)
    loops += [scheduler, autoscaler]
    autoscaler.start()
    scheduler.run()


if __name__ == "__main__":
    main()
