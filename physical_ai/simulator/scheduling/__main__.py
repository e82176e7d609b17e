"""`python -m physical_ai.simulator.scheduling …`: KAI and the cluster autoscaler of one simulated cluster."""

from __future__ import annotations

import argparse
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx

from physical_ai.simulator.clock import seconds_per_model_minute
from physical_ai.simulator.kubernetes.client import ApiError, Client, Unreachable
from physical_ai.simulator.scheduling.autoscaler.live import Autoscaler
from physical_ai.simulator.scheduling.autoscaler.pools import Pools
from physical_ai.simulator.scheduling.kai.live import KaiScheduler
from physical_ai.simulator.scheduling.view import View

log = logging.getLogger("scheduling")
GATHER_SECONDS = 0.02
"""After a change, until the next look: changes come in swarms."""
PAUSE = 3
"""Times as long as a look took are left to others before the next one: in a big cluster everything changes at once."""
SCAN_MINUTES = 10 / 60
"""Between two looks of the autoscaler (AKS's scan-interval), so that pods which come together count together."""
RETRY_SECONDS = 0.5


class Loop:
    """Looks at the cluster again and again: when something has changed, or when it said it would."""

    def __init__(self, name: str, round: Callable[[], float | None], gather: float = GATHER_SECONDS) -> None:
        """`gather` is the time in seconds from a change to the look at it."""
        self.name, self._round, self._gather = name, round, gather
        self.changed = threading.Event()
        self.changed.set()

    def run(self) -> None:
        wait: float | None = None
        took = 0.0
        while True:
            self.changed.wait(wait)
            self.changed.clear()
            time.sleep(max(self._gather, took * PAUSE))
            began = time.thread_time()
            try:
                wait = self._round()
            except (ApiError, Unreachable, httpx.HTTPError) as problem:
                log.warning("%s: %s", self.name, problem)
                wait = RETRY_SECONDS
            except Exception:
                # The one must not end the other, nor for good; the log has it, and the next look tries again.
                log.exception("%s: a round was cut short", self.name)
                wait = RETRY_SECONDS
            took = time.thread_time() - began


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
            loop.changed.set()

    client = Client(given.kubeconfig)
    view = View(client, changed)
    pools = Pools(client, Path.cwd(), given.slots, given.simulation)
    scan = SCAN_MINUTES * seconds_per_model_minute()
    loops += [Loop("kai-scheduler", KaiScheduler(view).round), Loop("autoscaler", Autoscaler(view, pools).round, scan)]
    for loop in loops[1:]:
        threading.Thread(target=loop.run, name=loop.name, daemon=True).start()
    loops[0].run()


if __name__ == "__main__":
    main()
