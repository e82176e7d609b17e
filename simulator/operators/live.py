"""Simulation of one cluster's operators that do not belong to the GPU stack."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simulator.cluster.loop import Loop
from simulator.cluster.names import RUN_BY
from simulator.cluster.objects import Json, annotations_of, at, timestamp
from simulator.kubernetes.client import Client
from simulator.operators import mounts
from simulator.operators.cluster import STRATEGIC, Cluster
from simulator.operators.kai import KaiHookJobs, KaiOperator
from simulator.operators.kai_webhooks import Endpoint
from simulator.operators.starting import crash
from simulator.operators.webhook_server import WebhookServer

MOUNTS = "mounts"
"""Value of the annotation `played-by` of Pods that wait until all objects that they mount exist. After that, KWOK runs
these Pods like any others.
"""
MISSING_SECONDS = 0.3
"""Seconds between two checks for an object that a Pod mounts and that does not exist yet."""


class Operators:
    """Runs the KAI operator, its hook Jobs, and the mounting of Pods' volumes."""

    def __init__(
        self,
        client: Client,
        refusal: Callable[[Json], str] = lambda pod: "",
        unmounted: Callable[[Json], mounts.StartProblem | None] = lambda pod: None,
        folder: Path | None = None,
        *,
        unpulled: Callable[[Json], mounts.StartProblem | None] = lambda pod: None,
    ) -> None:
        """Creates the operators' loop.

        Args:
            refusal: Function that returns the reason why a service refuses the login of a starting Pod; empty if the
                service accepts it.
            unmounted: Function that returns the reason why a Pod's CSI volume is not mounted, or None.
            unpulled: Function that returns the problem with an image of a Pod that its registry does not have, or None.
            folder: Folder of the control plane, for the address of webhooks; without it there are no webhooks.
        """
        self._refusal, self._unmounted, self._unpulled = refusal, unmounted, unpulled
        self.loop = Loop("operators", self.round)
        self._cluster = Cluster(client, self.loop.wake)
        self._kai, self._hook_jobs = KaiOperator(self._cluster, lambda: self._endpoint), KaiHookJobs(self._cluster)
        self._endpoint = self._webhooks(folder) if folder else None
        self._reported: dict[str, mounts.StartProblem] = {}

    def _webhooks(self, folder: Path) -> Endpoint:
        server = WebhookServer(folder, self._kai.answer)
        return Endpoint(server.address, server.certificate, server.secret())

    def round(self) -> float | None:
        """Runs one round; returns the seconds until the next one while a Pod lacks something that it
        mounts, else None.
        """
        self._hook_jobs.run()
        self._kai.run()
        return MISSING_SECONDS if self._is_missing_mounts() else None

    def _is_missing_mounts(self) -> bool:
        """Starts the waiting Pods that have no problem with their mounts, images, files or login. Returns True if other
        Pods still wait; the status of each such Pod tells the problem.
        """
        waiting = [
            pod
            for pod in self._cluster.pods(MOUNTS)
            if at(pod, "spec.nodeName") and annotations_of(pod).get(RUN_BY) == MOUNTS
        ]
        held: dict[str, mounts.StartProblem] = {}
        for pod in waiting:
            find, uid = self._cluster.find, str(at(pod, "metadata.uid"))
            why = self._unmounted(pod) or self._unpulled(pod) or mounts.start_problem(pod, find)
            why = why or crash(pod, find) or self._login(pod)
            if why is None:
                if at(pod, "status.phase") == "Running":
                    # The Pod had crashed. KWOK starts the Pods of simulated nodes that are Pending.
                    self._cluster.patch(pod, {"status": {"phase": "Pending"}}, STRATEGIC, "/status")
                self._cluster.patch(pod, {"metadata": {"annotations": {RUN_BY: None}}})
                continue
            held[uid] = why
            if self._reported.get(uid) != why:
                self._cluster.patch(pod, {"status": mounts.status(pod, why, timestamp())}, STRATEGIC, "/status")
                self._cluster.apply(mounts.event(pod, why, timestamp()), "kubelet")
        self._reported = held
        return bool(held)

    def _login(self, pod: Json) -> mounts.StartProblem | None:
        """The failing startup probe of an OSMO agent whose login OSMO's control plane refuses. None if the control
        plane accepts the login, or if the Pod is not an agent's.
        """
        reason = self._refusal(pod)
        if not reason:
            return None
        text = f"Startup probe failed: no connection to the control plane, which refuses the login: {reason}"
        return mounts.StartProblem("CrashLoopBackOff", "Unhealthy", text)
