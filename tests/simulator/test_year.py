"""A year of one stack on one cluster: what comes after the first `up`, by other hands and beside other changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from getpass import getuser
from pathlib import Path
from socket import gethostname
from typing import Any

import pytest

from physical_ai.repository import ROOT
from simulator import processes
from simulator.checkpoint import Checkpoint
from simulator.cluster.objects import name
from simulator.entra import READER
from simulator.kubelogin import PRINCIPAL_VARIABLE
from simulator.kubernetes.client import MERGE_PATCH, ApiError, Client
from simulator.simulation import Simulation
from simulator.subscription import LIMITS_FILE
from tests.simulator.killed_install import administrator, kill_during_install, releases
from tests.simulator.physai import physai
from workbench.cli.exit_codes import FINDINGS

pytestmark = pytest.mark.usefixtures("saved_at_each_step")

HIDDEN_FROM_READERS = (
    "/api/v1/namespaces/osmo-operator/secrets",
    "/apis/rbac.authorization.k8s.io/v1/namespaces/gpu-operator/roles",
    "/apis/nvidia.com/v1alpha1/nvidiadrivers",
    "/api/v1/nodes",
)
LABEL = ("--set", "pools.h100gpu.labels={team: vision}")
DRIFT_READER = f"{{principalId: {READER.object_id}, principalType: ServicePrincipal, role: drift-reader}}"
READS = ("--set", f"access.principals=[{DRIFT_READER}]")
SIZE = "Standard_NC40ads_H100_v5"
ANOTHER_POOL = (
    "--set",
    f"pools.another={{sku: {SIZE}, driver: {{source: operator}}, osDisk: {{type: Managed, sizeGb: 512}}, "
    "priority: Spot, scale: {min: 0, max: 2, initial: 1}, subnet: 10.40.3.0/26}",
)
PLANE, NODES = ("--set", "cluster.kubernetesVersion='1.37'"), ("--set", "cluster.nodesVersion='1.36'")
SECRET_KINDS = ("**kubernetes:helm.sh/v3:Release::**", "**kubernetes:core/v1:Secret::**")
"""What a refresh by the reading identity leaves out, as `drift.yaml` does."""
PLUGIN_LABEL = "nvidia.com/gpu.deploy.device-plugin"


@pytest.mark.deep  # in `make test`: each event by itself in test_stack.py, test_gates.py and test_interrupted.py
def test_a_year(running: Simulation) -> None:
    """It leaves the stack as it finds it. The nodes of the autoscaler, which no deployer takes, are in
    test_autoscaling.py."""
    names_that_do_not_exist()
    another_deployer_changes_nothing()
    a_reader_sees_what_its_roles_show(running)
    a_reader_changes_nothing(running)
    drift_is_found_named_and_corrected(running)


@pytest.mark.deep
def test_the_rest_of_a_year(deployed: Simulation) -> None:
    """In `make test`: killed commands in `test_interrupted.py`, an end without an API server in `test_stack.py`."""
    a_minor_upgrade_is_two_deployments_and_waits_for_a_busy_azure(deployed)
    an_install_that_was_killed_is_continued_on_another_machine(deployed)
    it_is_destroyed_without_its_api_server(deployed)


@pytest.mark.deep
def test_rarer_events_of_a_year(deployed: Simulation) -> None:
    """In `make test`: actions of policies in unit tests of settings, capacity in `tests/unit/simulator/
    test_azure_capacity.py`, a closed gate in `test_gates.py`."""
    what_happens_to_gpu_pods_is_changed_and_changed_back(deployed)
    physai("up", "--refresh", *READS)
    with deployed.azure() as cloud:
        cloud.autoscale(deployed.clusters().ids()[0], "rtxprogpu", 2)
    physai("refresh", "--target", "**azure-native:containerservice:AgentPool::**", "--as", "second-deployer")
    up = physai("up", *READS, "--as", "second-deployer", "--json")
    assert (up.json["changes"], up.pool("rtxprogpu")["nodes"]) == ({}, 2), "it took back what the autoscaler has added"
    counts_of_the_autoscaler_are_no_drift_for_the_reader(deployed)
    a_pool_without_capacity_stops_nothing_else(deployed)
    a_closed_gate_keeps_the_removed_pool_until_gates_are_only_reported(deployed)


def named(found: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in found}


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


def another_deployer_changes_nothing() -> None:
    assert physai("up", "--as", "second-deployer", "--json").json["changes"] == {}


def what_happens_to_gpu_pods_is_changed_and_changed_back(simulation: Simulation) -> None:
    """Bindings are created before others are deleted: an updated one would have both actions in the preview."""
    deny = ("--set", "admission.gpuPods=deny")
    cluster = administrator(simulation)
    for settings, actions in ((deny, {"Deny", "Audit"}), ((), {"Warn", "Audit"})):
        previewed = physai("preview", "--json", *settings).json["changes"]
        assert sorted((each["op"], each["type"].rpartition(":")[2]) for each in previewed) == [
            *[("create", "ValidatingAdmissionPolicyBinding")] * 4,
            *[("delete", "ValidatingAdmissionPolicyBinding")] * 4,
            *[("update", "ValidatingAdmissionPolicy")] * 4,
        ]
        physai("up", *settings)
        found = cluster.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings")["items"]
        (spec,) = (each["spec"] for each in found if each["spec"]["policyName"] == "gpu-capabilities")
        assert set(spec["validationActions"]) == actions


def drift_is_found_named_and_corrected(simulation: Simulation) -> None:
    """Of objects that no other test has changed: on one that a deployment has updated, kubectl's edit is a conflict."""
    cluster = administrator(simulation)
    path = "/api/v1/namespaces/osmo-operator/resourcequotas"
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
    assert changes["physical-ai-osmo-operator-gpus-resource-quota"]["op"] == "update"

    physai("up", "--refresh")
    assert cluster.get(account)
    assert cluster.get(quota)["spec"] == declared, "the fields of kubectl are taken over"


def counts_of_the_autoscaler_are_no_drift_for_the_reader(simulation: Simulation) -> None:
    with simulation.azure() as cloud:
        cloud.autoscale(simulation.clusters().ids()[0], "rtxprogpu", 1)
    left_out = [word for kind in SECRET_KINDS for word in ("--exclude", kind)]
    physai("preview", "--refresh", "--expect-no-changes", *left_out, "--as", "reader", *READS)


def a_pool_without_capacity_stops_nothing_else(simulation: Simulation) -> None:
    limits = simulation.folder / LIMITS_FILE
    limits.write_text(json.dumps({"capacity": {SIZE: 1}}))
    failed = physai("up", "--continue-on-error", *READS, *LABEL, *ANOTHER_POOL, expect=1).err
    limits.unlink()
    assert "AllocationFailed" in failed
    assert "Azure has no capacity for this size now" in failed
    assert pool_state(simulation, "another") == "Failed"
    cluster = administrator(simulation)
    assert [name(node) for node in nodes_of(cluster, "h100gpu", team="vision")], "the other pool is not up to date"
    assert cluster.get("/apis/nvidia.com/v1alpha1/nvidiadrivers/another"), "nothing is ready for the pool"
    assert not nodes_of(cluster, "another")


def a_closed_gate_keeps_the_removed_pool_until_gates_are_only_reported(simulation: Simulation) -> None:
    cluster = administrator(simulation)
    (node,) = nodes_of(cluster, "h100gpu")
    path = f"/api/v1/nodes/{name(node)}"
    cluster.patch(path, {"metadata": {"labels": {PLUGIN_LABEL: "false"}}}, MERGE_PATCH)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PHYSICAL_AI_GATE_SECONDS", "1")
        failed = physai("up", *READS, *LABEL, expect=1).err
        assert f"node {name(node)}: gate 'deploy-labels' is closed" in failed
        assert "run the same command with PHYSICAL_AI_GATES=report" in failed
        assert pool_state(simulation, "another") == "Failed", "deleted after all"
        patch.setenv("PHYSICAL_AI_GATES", "report")
        physai("up", *READS, *LABEL)
    assert pool_state(simulation, "another") == "", "not deleted"
    cluster.patch(path, {"metadata": {"labels": {PLUGIN_LABEL: "true"}}}, MERGE_PATCH)
    assert not physai("preview", "--json", *READS, *LABEL).json["changes"]


def a_minor_upgrade_is_two_deployments_and_waits_for_a_busy_azure(simulation: Simulation) -> None:
    physai("up", *READS, *LABEL, *PLANE, *NODES)
    assert versions(simulation) == {
        "cluster": "1.37",
        "system": "1.36",
        "cpu": "1.36",
        "h100gpu": "1.36",
        "rtxprogpu": "1.36",
    }
    limits = simulation.folder / LIMITS_FILE
    limits.write_text(json.dumps({"busy": {"h100gpu": 2}}))
    busy = physai("up", *READS, *LABEL, *PLANE)
    limits.unlink()
    assert busy.err.count("another operation is in progress in Azure") == 2, "the hook waits for Azure's own operation"
    assert set(versions(simulation).values()) == {"1.37"}


def pool_state(simulation: Simulation, pool: str) -> str:
    """The state of a node pool in Azure; empty where there is none."""
    found = [each["state"] for id, each in simulation.cloud_resources().items() if id.endswith(f"/agentPools/{pool}")]
    return found[0] if found else ""


def versions(simulation: Simulation) -> dict[str, str]:
    """The minor that the control plane and each node pool have in Azure, by name."""
    found: dict[str, str] = {}
    for id, each in simulation.cloud_resources().items():
        outputs = each["outputs"]
        if each["type"].endswith(":ManagedCluster"):
            found["cluster"] = outputs["currentKubernetesVersion"]
            (system,) = (pool for pool in outputs["agentPoolProfiles"] if pool["name"] == "system")
            found["system"] = system["currentOrchestratorVersion"]
        elif each["type"].endswith(":AgentPool"):
            found[id.rpartition("/")[2]] = outputs["currentOrchestratorVersion"]
    return {name: version.rpartition(".")[0] for name, version in found.items()}


def nodes_of(cluster: Client, pool: str, **labels: str) -> list[dict[str, Any]]:
    selector = ",".join(f"{key}={value}" for key, value in {"agentpool": pool, **labels}.items())
    return cluster.get("/api/v1/nodes", {"labelSelector": selector})["items"]


def an_install_that_was_killed_is_continued_on_another_machine(simulation: Simulation) -> None:
    """Without recovery it is stuck, as on Azure; `physai` repairs its own stack in its own next run."""
    cluster = administrator(simulation)
    settings = (*READS, *LABEL, *PLANE)
    kill_during_install(simulation, *settings)

    locked = physai("up", "--no-recovery", *settings, expect=1).err
    assert "the stack is currently locked by 1 lock(s)" in locked
    assert f"{getuser()}@{gethostname()}, process " in locked
    assert f"`physai cancel {simulation.stack}`" in locked
    assert "removed the lock" in physai("cancel").err
    on_another_machine(simulation)
    stuck = physai("up", "--no-recovery", *settings, expect=1).err
    assert "cannot re-use a name that is still in use" in stuck
    assert releases(cluster, "pending-install"), "a run without recovery has repaired it"

    physai("up", *settings)
    assert releases(cluster, "deployed")


def on_another_machine(simulation: Simulation) -> None:
    """Removes what only the machine of the last run has: the engine's folder and the copy of the project."""
    for kept_by_the_machine in ("home", "work", "cli"):
        shutil.rmtree(simulation.folder / kept_by_the_machine)


def it_is_destroyed_without_its_api_server(simulation: Simulation) -> None:
    """By `pulumi destroy` after `physai env`, with the stand-ins as plugins; the checkout stays as it is."""
    before = status_of_checkout()
    (plane,) = simulation.folder.glob("clusters/*/")
    processes.kill(plane)
    (plane / "etcd" / "member" / "snap" / "db").write_text("damaged")
    environment = {**os.environ, **simulation.environment()}
    command = ["pulumi", "destroy", "--yes", "--non-interactive", "--color", "never"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert simulation.cloud_resources() == {}
    assert [each["type"] for each in Checkpoint(simulation.folder / "backend", simulation.stack).resources()] == []
    assert status_of_checkout() == before
    physai("down")
    assert not simulation.exists
    assert not processes.running(plane)


def status_of_checkout() -> str:
    return subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
