"""A deployment that is killed while helm installs KAI's release."""

from __future__ import annotations

import os
import signal
import subprocess

from simulator.kubernetes.client import MERGE_PATCH, Client
from simulator.simulation import Simulation
from tests.simulator.physai import COMMAND, physai
from tests.support.waiting import until

SCHEDULER = "physical-ai-osmo-scheduler"


def kill_during_install(simulation: Simulation, *settings: str) -> None:
    """Removes the release, and kills the `up` that installs it again."""
    physai("down", "--target", SCHEDULER, "--target-dependents")
    assert simulation.exists
    cluster = administrator(simulation)
    _hold_pods_back(cluster, True)
    with subprocess.Popen(
        [*COMMAND, "up", *settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    ) as run:
        until(lambda: releases(cluster, "pending-install") or run.poll() is not None, "no install begins")
        assert run.poll() is None, "ended before it installed anything"
        os.killpg(run.pid, signal.SIGKILL)
    _hold_pods_back(cluster, False)


def administrator(simulation: Simulation) -> Client:
    return simulation.clusters().client(simulation.clusters().ids()[0])


def releases(cluster: Client, status: str) -> list[str]:
    """Paths of the records of KAI's release with this status."""
    path = "/api/v1/namespaces/kai-scheduler/secrets"
    found = cluster.get(path, {"labelSelector": f"owner=helm,status={status}"})["items"]
    return [f"{path}/{each['metadata']['name']}" for each in found]


def _hold_pods_back(cluster: Client, held: bool) -> None:
    """Lets no new Pod start, so that an install waits as long as the test needs."""
    for node in cluster.get("/api/v1/nodes")["items"]:
        cluster.patch(f"/api/v1/nodes/{node['metadata']['name']}", {"spec": {"unschedulable": held}}, MERGE_PATCH)
