"""A year of one stack on one cluster: what comes after the first `up`, by other hands and beside other changes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from physical_ai.cli.exit_codes import FINDINGS
from physical_ai.repository import ROOT
from physical_ai.simulator.entra import READER
from physical_ai.simulator.kubelogin import PRINCIPAL_VARIABLE
from physical_ai.simulator.kubernetes.client import MERGE_PATCH, ApiError, Client
from physical_ai.simulator.simulation import Simulation
from physical_ai.simulator.subscription import LIMITS_FILE
from tests.simulator.physai import physai

HIDDEN_FROM_READERS = (
    "/api/v1/namespaces/osmo-operator/secrets",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles",
    "/apis/nvidia.com/v1alpha1/nvidiadrivers",
    "/api/v1/nodes",
)
SCHEDULER = "physical-ai-osmo-scheduler"
LABEL = ("--set", "pools.h100gpu.labels={team: vision}")
SECONDS = 120
"""At most, until a condition holds."""


def test_a_year(deployed: Simulation) -> None:
    names_that_do_not_exist()
    another_deployer_changes_nothing(deployed)
    a_reader_sees_what_its_roles_show(deployed)
    a_reader_changes_nothing(deployed)
    drift_is_found_named_and_corrected(deployed)
    a_busy_azure_is_waited_for(deployed)
    an_install_that_was_killed_is_stuck_until_it_is_repaired(deployed)
    the_plain_command_destroys_it(deployed)


def administrator(simulation: Simulation) -> Client:
    return simulation.clusters().client(simulation.clusters().ids()[0])


def named(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found}


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < end, f"not within {SECONDS} s"
        time.sleep(0.1)


def names_that_do_not_exist() -> None:
    assert "deployer, second-deployer, reader, bystander" in physai("preview", "--as", "nobody", expect=2).err
    assert "physical-ai-h100gpu-nodes" in physai("up", "--target", "physical-ai-h100gpu-node", expect=2).err
    assert "nothing to cancel" in physai("cancel", expect=1).err


def a_reader_sees_what_its_roles_show(simulation: Simulation) -> None:
    variables = simulation.environment(READER)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PRINCIPAL_VARIABLE, variables[PRINCIPAL_VARIABLE])
        reader = Client(Path(variables["KUBECONFIG"]), path=variables["PATH"])
        assert reader.get("/api/v1/namespaces/gpu-operator/configmaps")["items"]
        for path in HIDDEN_FROM_READERS:
            with pytest.raises(ApiError) as refusal:
                reader.get(path)
            assert refusal.value.code == 403


def a_reader_changes_nothing(simulation: Simulation) -> None:
    """It previews; a refresh fails at what it cannot read, and a deployment at its first request."""
    assert physai("preview", "--as", "reader", "--json").json["changes"] == [], "who runs changes what is declared"
    refused = physai("refresh", "--as", "reader", expect=1).err
    assert 'secrets "agent-token" is forbidden' in refused
    assert 'nvidiadrivers.nvidia.com "h100gpu" is forbidden' in refused
    before = simulation.cloud_resources()
    denied = physai("up", "--as", "reader", "--set", "tags={owner: reader}", expect=1).err
    assert "AuthorizationFailed" in denied
    assert simulation.cloud_resources() == before


def another_deployer_changes_nothing(simulation: Simulation) -> None:
    """Nor does it take back what the autoscaler has added."""
    with simulation.azure() as cloud:
        cloud.autoscale(simulation.clusters().ids()[0], "rtxprogpu", 2)
    physai("refresh", "--target", "**azure-native:containerservice:AgentPool::**", "--as", "second-deployer")
    up = physai("up", "--as", "second-deployer", "--json")
    assert up.json["changes"] == {}
    assert up.pool("rtxprogpu")["nodes"] == 2


def drift_is_found_named_and_corrected(simulation: Simulation) -> None:
    cluster = administrator(simulation)
    path = "/api/v1/namespaces/osmo-workflows/resourcequotas"
    quota = f"{path}/{cluster.get(path)['items'][0]['metadata']['name']}"
    declared = cluster.get(quota)["spec"]
    changed = {"spec": {"hard": dict.fromkeys(declared["hard"], "7")}}
    cluster.patch(quota, changed, MERGE_PATCH, {"fieldManager": "kubectl-edit"})
    account = "/api/v1/namespaces/gpu-operator/serviceaccounts/gpu-grid-driver-installer"
    cluster.request("DELETE", account)

    found = physai("preview", "--refresh", "--expect-no-changes", "--json", expect=FINDINGS).json
    drift, changes = named(found["drift"]), named(found["changes"])
    assert drift["physical-ai-grid-driver-service-account"]["op"] == "delete"
    assert changes["physical-ai-grid-driver-service-account"]["op"] == "create"
    assert changes["physical-ai-osmo-workflows-gpus-resource-quota"]["op"] == "update"

    physai("up", "--refresh")
    assert cluster.get(account)
    assert cluster.get(quota)["spec"] == declared, "the fields of kubectl are taken over"


def a_busy_azure_is_waited_for(simulation: Simulation) -> None:
    limits = simulation.folder / LIMITS_FILE
    limits.write_text(json.dumps({"busy": {"h100gpu": 2}}))
    busy = physai("up", *LABEL)
    assert busy.err.count("another operation is in progress in Azure") == 2, "the hook waits for Azure's own operation"
    nodes = administrator(simulation).get("/api/v1/nodes", {"labelSelector": "team=vision"})["items"]
    assert len(nodes) == 1
    limits.unlink()


def an_install_that_was_killed_is_stuck_until_it_is_repaired(simulation: Simulation) -> None:
    """As on Azure without a repair; `physai` repairs its own stack in its own next run."""
    physai("down", "--target", SCHEDULER, "--target-dependents")
    assert simulation.exists
    cluster = administrator(simulation)
    hold_pods_back(cluster, True)
    command = [sys.executable, "-m", "physical_ai.cli", "up", *LABEL]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as run:
        until(lambda: bool(releases(cluster, "pending-install")))
        os.killpg(run.pid, signal.SIGKILL)
    hold_pods_back(cluster, False)

    assert "the stack is currently locked by 1 lock(s)" in physai("up", "--no-recovery", *LABEL, expect=1).err
    assert "removed the lock" in physai("cancel").err
    stuck = physai("up", "--no-recovery", *LABEL, expect=1).err
    assert "cannot re-use a name that is still in use" in stuck
    assert releases(cluster, "pending-install"), "a run without recovery has repaired it"

    physai("up", *LABEL)
    assert releases(cluster, "deployed")


def releases(cluster: Client, status: str) -> list[str]:
    """Paths of the records of KAI's release with this status."""
    path = "/api/v1/namespaces/kai-scheduler/secrets"
    found = cluster.get(path, {"labelSelector": f"owner=helm,status={status}"})["items"]
    return [f"{path}/{each['metadata']['name']}" for each in found]


def hold_pods_back(cluster: Client, held: bool) -> None:
    """Lets no new Pod start, so that an install waits as long as the test needs."""
    for node in cluster.get("/api/v1/nodes")["items"]:
        cluster.patch(f"/api/v1/nodes/{node['metadata']['name']}", {"spec": {"unschedulable": held}}, MERGE_PATCH)


def the_plain_command_destroys_it(simulation: Simulation) -> None:
    """`pulumi destroy` after `physai env`, with the stand-ins as plugins; the checkout stays as it is."""
    before = status_of_checkout()
    environment = {**os.environ, **simulation.environment()}
    command = ["pulumi", "destroy", "--yes", "--non-interactive", "--color", "never"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert simulation.cloud_resources() == {}
    assert status_of_checkout() == before
    physai("down")
    assert not simulation.exists


def status_of_checkout() -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
