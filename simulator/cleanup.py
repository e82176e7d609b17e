"""Simulation of the cleanup Job, which removes everything that a deleted stack leaves in a cluster. Its Pods run the
deployed program with the rights of their service account.
"""

from __future__ import annotations

from simulator.cluster.loop import Loop
from simulator.cluster.watch import Watch
from simulator.kubernetes.client import Client
from simulator.osmo.control.token_pods import TokenPods

SELECTOR = "app.kubernetes.io/name=cluster-cleanup"
"""Selector of the cleanup Pods. KWOK does not run them (kwok.yaml)."""


class Cleanup:
    """Runs the cleanup Pods of all namespaces."""

    def __init__(self, client: Client) -> None:
        self.loop = Loop("cleanup", self._round)
        watch = Watch(client, "/api/v1/pods", self.loop.wake, selector=SELECTOR)
        self._pods = TokenPods(client, watch.all, lambda: "")

    def _round(self) -> float | None:
        return self._pods.run()
