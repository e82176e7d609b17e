"""Simulation of OSMO's service, which acts in the cluster with the rights of the agents' service account."""

from __future__ import annotations

import time
from collections.abc import Callable

from simulator.clock import seconds_per_model_minute
from simulator.errors import SimulationError
from simulator.kubernetes.client import ApiError, Client
from simulator.osmo import workflow as of
from simulator.osmo.run import POLL_SECONDS, AfterExit, Missing, Report, Run
from simulator.osmo.workflow import Result, Workflow
from simulator.osmo_names import OPERATOR_NAMESPACE, WORKER_ACCOUNT, WORKFLOW_LABEL
from simulator.scheduling import kai_names

LEFT = ((kai_names.POD_GROUP_API, "PodGroup"), ("v1", "Pod"), ("v1", "Service"), ("v1", "Secret"))
"""Kinds of objects that a run may leave in the cluster, in the order in which they are deleted."""


class AgentsMissing(SimulationError):
    """Error if the cluster has no OSMO agents, so that no workflow can run."""


class Service:
    """Simulation of OSMO's service: runs workflows in one simulated cluster."""

    def __init__(self, admin: Client, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Logs in with the agents' own account. `admin`: administrator's client, used only to get the account's token.

        Raises:
            AgentsMissing: the account does not exist.
        """
        self._clock = clock
        self._speed = 60 / seconds_per_model_minute()
        self._worker = as_account(admin, OPERATOR_NAMESPACE, WORKER_ACCOUNT)

    def run(self, workflow: Workflow, after_exit: AfterExit, report: Report, missing: Missing = dict) -> Result:
        """Runs the workflow to its end and returns the result. Without an agent, the run may stop earlier.

        Afterwards, the workflow's remaining objects in the cluster are deleted if the worker agent is connected. If the
        API server refuses a request, the workflow ends.

        Args:
            report: Function that is called with a task each time the task changes.
            missing: Function that returns the agents that are not connected, with the reason for each.
        """
        run = Run(self._worker, workflow, after_exit, report, self._model_time, missing=missing)
        try:
            while not run.step():
                time.sleep(POLL_SECONDS)
        finally:
            run.clean()
            run.wait_for_deletion()
        return run.result

    def _model_time(self) -> float:
        return self._clock() * self._speed

    def place(self, workflow: Workflow, seconds: float, report: Report) -> Result:
        """Result that shows on which node each task would run. The Pods of each group are created, get their nodes from
        the scheduler and the autoscaler, and are deleted.

        Args:
            seconds: Maximum real seconds to wait for the nodes of one group.
        """
        run = Run(self._worker, workflow, _fails, report, self._model_time)
        for group in workflow.groups:
            end = self._clock() + seconds
            try:
                if run.create(group):
                    while not run.placed(group) and self._clock() < end:
                        time.sleep(POLL_SECONDS)
            finally:
                run.clean([group])
                run.wait_for_deletion()
        return run.result

    def sweep(self, id: str, namespace: str) -> None:
        """Removes the objects of a run whose command was killed."""
        selector = {"labelSelector": f"{WORKFLOW_LABEL}={id}"}
        for version, kind in LEFT:
            path = self._worker.path(version, kind, namespace)
            for item in self._worker.get(path, selector)["items"]:
                try:
                    self._worker.request("DELETE", f"{path}/{item['metadata']['name']}")
                except ApiError as refusal:
                    if refusal.code != 404:
                        raise


def _fails(task: str, code: int, status: str, retries: int) -> str:
    del task, code, status, retries
    return of.FAILED


def as_account(admin: Client, namespace: str, account: str) -> Client:
    """A client with the rights of a service account.

    Raises:
        AgentsMissing: the account does not exist.
    """
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 7200}}
    try:
        token = admin.request("POST", f"{path}/token", request)["status"]["token"]
    except ApiError as refusal:
        if refusal.code != 404:
            raise
        raise AgentsMissing(
            "OSMO's agents are not in this cluster, so no workflow can run. Set osmo.mode: backend to install them"
        ) from None
    return admin.as_bearer(token)
