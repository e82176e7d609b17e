"""Runs the operators of one simulated cluster in a thread."""

from __future__ import annotations

import logging
import threading
import time

import httpx

from physical_ai.simulator.cluster.objects import annotations_of, at
from physical_ai.simulator.gpu.live.operator import timestamp
from physical_ai.simulator.gpu.names import PLAYED_BY
from physical_ai.simulator.kubernetes.client import ApiError, Client, Unreachable
from physical_ai.simulator.operators import mounts
from physical_ai.simulator.operators.cluster import STRATEGIC, Cluster
from physical_ai.simulator.operators.kai import KaiHooks, KaiOperator

log = logging.getLogger("operators")
MOUNTS = "mounts"
"""Pods so labelled wait for what they mount; then they are KWOK's like all others."""
GATHER_SECONDS = 0.02
"""After a change, until the next look: changes come in swarms."""
RETRY_SECONDS = 0.3
"""Between two looks while something is missing, or a write has failed."""


class Operators:
    """Everything here, one round after the other."""

    def __init__(self, client: Client) -> None:
        self._changed = threading.Event()
        self._cluster = Cluster(client, self._changed.set)
        self._kai, self._hooks = KaiOperator(self._cluster), KaiHooks(self._cluster)
        self._told: dict[str, mounts.Trouble] = {}

    def start(self) -> None:
        threading.Thread(target=self._run, name="operators", daemon=True).start()

    def _run(self) -> None:
        again = False
        while True:
            self._changed.wait(RETRY_SECONDS if again else None)
            self._changed.clear()
            try:
                again = self._round()
            except (ApiError, Unreachable, httpx.HTTPError) as problem:
                log.warning("%s", problem)
                again = True
            except Exception:
                # The thread must not end; the log has it, and the next change tries again.
                log.exception("a round was cut short")
                again = True
            time.sleep(GATHER_SECONDS)

    def _round(self) -> bool:
        """One look at everything; whether something is to be looked at again soon."""
        self._hooks.run()
        self._kai.run()
        return self._mount()

    def _mount(self) -> bool:
        """Pods whose Secrets and ConfigMaps are there go on; the others say what is missing."""
        waiting = [
            pod
            for pod in self._cluster.pods(MOUNTS)
            if at(pod, "spec.nodeName") and annotations_of(pod).get(PLAYED_BY) == MOUNTS
        ]
        held: dict[str, mounts.Trouble] = {}
        for pod in waiting:
            why, uid = mounts.trouble(pod, self._cluster.find), str(at(pod, "metadata.uid"))
            if why is None:
                self._cluster.patch(pod, {"metadata": {"annotations": {PLAYED_BY: None}}})
                continue
            held[uid] = why
            if self._told.get(uid) != why:
                self._cluster.patch(pod, {"status": mounts.status(pod, why, timestamp())}, STRATEGIC, "/status")
                self._cluster.apply(mounts.event(pod, why, timestamp()), "kubelet")
        self._told = held
        return bool(held)
