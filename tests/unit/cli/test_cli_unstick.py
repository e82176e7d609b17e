"""What `physai unstick` would do about what a killed run left behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from physical_ai.catalog.engine_values import SECRET, SIGNATURE
from physical_ai.readiness.releases import NOT_INSTALLED, StuckRelease, stuck_releases
from workbench.cli.adoption import assume_created
from workbench.cli.unstick_repairs import Repair, repairs

SUBSCRIPTION = "/subscriptions/00000000-0000-0000-0000-000000000001"
CLUSTER = f"{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/aks"
URN = "urn:pulumi:dev::x::"


def resource(type: str, name: str, /, **inputs: Any) -> dict[str, Any]:
    return {"urn": f"{URN}{type}::{name}", "type": type, "custom": True, "inputs": inputs}


NAMESPACE = resource("kubernetes:core/v1:Namespace", "osmo", kind="Namespace", metadata={"name": "osmo"})
ROLE = resource("kubernetes:rbac.authorization.k8s.io/v1:Role", "r", metadata={"name": "r", "namespace": "osmo"})
POOL = resource(
    "azure-native:containerservice:AgentPool", "h100", agentPoolName="h100", resourceGroupName="rg", resourceName="aks"
)
RELEASE = resource("kubernetes:helm.sh/v3:Release", "kai", name="kai-scheduler", namespace="kai-scheduler")
RANDOM = resource("random:index/randomPassword:RandomPassword", "password", length=32)


def exported(*creating: dict[str, Any], updating: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    cluster = {**resource("azure-native:containerservice:ManagedCluster", "aks"), "id": CLUSTER}
    operations = [
        *({"type": "creating", "resource": each} for each in creating),
        *({"type": "updating", "resource": each} for each in updating),
    ]
    return {"resources": [cluster], "pending_operations": operations}


PENDING = exported(NAMESPACE)


def release(status: str, *, worked: bool) -> StuckRelease:
    return StuckRelease("gpu-operator", "gpu-operator", status, 2 if worked else 1, worked)


def words(step: Repair) -> list[tuple[str, ...]]:
    return [each.words for each in step.commands]


def test_a_stack_in_order_needs_nothing() -> None:
    assert repairs("dev-westus2", {"pending_operations": None}, []) == []
    assert repairs("dev-westus2", {}, [release(NOT_INSTALLED, worked=False)]) == []


def test_what_a_killed_run_may_have_created_joins_the_state_and_is_read() -> None:
    given = exported(NAMESPACE, POOL, RANDOM)
    (step,) = repairs("dev-westus2", given, [])
    assert "creating osmo, creating h100, creating password" in step.problem
    written, read, restored = step.commands
    assert written.words == restored.words == ("pulumi", "stack", "import", "--stack", "dev-westus2")
    assert written.edit is not None
    deployment = written.edit(given)
    assert deployment["pending_operations"] == []
    ids = {each["urn"]: each["id"] for each in deployment["resources"][1:]}
    assert ids == {NAMESPACE["urn"]: "osmo", POOL["urn"]: f"{CLUSTER}/agentPools/h100"}
    assert read.words[:2] == ("pulumi", "refresh")
    targets = [read.words[at + 1] for at, each in enumerate(read.words) if each == "--target"]
    assert targets == ["**::osmo", "**::h100"]
    assert "osmo, h100 as far as they exist" in step.effect


def test_what_was_created_has_the_inputs_of_its_creation_after_the_refresh() -> None:
    """A refresh takes what Azure shows for inputs; a pool would be replaced for those that the program does not set."""
    given = exported(POOL, NAMESPACE)
    (step,) = repairs("dev-westus2", given, [])
    restore = step.commands[-1].edit
    assert restore is not None
    secret = {SIGNATURE: SECRET, "ciphertext": "v1:x"}
    read = [
        {**POOL, "inputs": {"kubeletDiskType": "OS"}, "outputs": {"count": 1, "__inputs": secret}},
        {**NAMESPACE, "inputs": {"spec": {}}, "outputs": {"__inputs": {"spec": {}}}},
    ]
    pool, namespace = restore({"resources": read})["resources"]
    assert (pool["inputs"], namespace["inputs"]) == (POOL["inputs"], NAMESPACE["inputs"])
    assert pool["outputs"]["count"] == 1
    assert json.loads(pool["outputs"]["__inputs"]["plaintext"]) == POOL["inputs"]
    assert namespace["outputs"]["__inputs"] == NAMESPACE["inputs"]


def test_what_has_no_id_of_its_own_is_forgotten_without_a_refresh() -> None:
    given = exported(RANDOM, updating=[POOL])
    (step,) = repairs("dev-westus2", given, [])
    (written,) = step.commands
    assert written.edit is not None
    deployment = written.edit(given)
    assert len(deployment["resources"]) == 1
    assert deployment["pending_operations"] == []


def test_a_release_that_is_uninstalled_is_forgotten_and_another_one_taken_over() -> None:
    deployment = exported(RELEASE)
    assert assume_created(deployment).assumed == (RELEASE["urn"],)
    found = assume_created(deployment, ["kai-scheduler/kai-scheduler"])
    assert (found.assumed, found.forgotten) == ((), (RELEASE["urn"],))


def test_an_object_of_a_namespace_has_it_in_its_id() -> None:
    (added,) = assume_created(exported(ROLE)).deployment["resources"][1:]
    assert added["id"] == "osmo/r"


def test_the_second_half_of_a_replacement_takes_the_place_of_its_marker() -> None:
    marked = {**POOL, "id": f"{CLUSTER}/agentPools/h100", "pendingReplacement": True}
    deployment = exported(POOL)
    deployment["resources"].append(marked)
    found = assume_created(deployment).deployment["resources"]
    assert [each.get("pendingReplacement") for each in found if each["urn"] == POOL["urn"]] == [None]


def test_a_resource_that_is_replaced_while_the_old_one_exists_is_in_the_state_once() -> None:
    deployment = exported(POOL)
    deployment["resources"].append({**POOL, "id": "old"})
    found = assume_created(deployment)
    assert (found.assumed, found.forgotten) == ((), (POOL["urn"],))


def test_a_lock_is_removed_before_anything_else_and_its_holder_is_named() -> None:
    lock = {"pid": 7, "username": "ada", "hostname": "runner-1", "timestamp": "2026-11-22T20:00:00Z"}
    first, second, third = repairs("dev-westus2", PENDING, [release("failed", worked=True)], [lock])
    assert first.problem == "The stack is locked by ada@runner-1, process 7, since 2026-11-22T20:00:00Z."
    assert words(first) == [("pulumi", "cancel", "dev-westus2", "--yes")]
    assert words(second)[0][:3] == ("pulumi", "stack", "import")
    assert words(third)[0][:2] == ("helm", "rollback")


def test_helm_does_not_return_to_an_earlier_revision_of_kais_chart() -> None:
    """It would leave the release failed: no Namespace with the name "kai-resource-reservation" found."""

    def stuck(name: str) -> StuckRelease:
        labels = [{"version": "1", "status": "superseded"}, {"version": "2", "status": "pending-upgrade"}]
        items = [{"metadata": {"labels": each}} for each in labels]
        (found,) = stuck_releases(lambda path, params: {"items": items}, {name: name})
        return found

    for name, verb in (("gpu-operator", "rollback"), ("kai-scheduler", "uninstall")):
        (step,) = repairs("dev-westus2", {}, [stuck(name)])
        assert words(step)[0][:3] == ("helm", verb, name)


@pytest.mark.parametrize(
    ("status", "worked", "verb"),
    [
        ("failed", True, "rollback"),
        ("pending-upgrade", True, "rollback"),
        ("pending-rollback", True, "rollback"),
        ("pending-install", False, "uninstall"),
        ("failed", False, "uninstall"),
        ("uninstalling", True, "uninstall"),
    ],
)
def test_a_stuck_release_returns_to_what_worked_or_is_installed_again(status: str, worked: bool, verb: str) -> None:
    (step,) = repairs("dev-westus2", {}, [release(status, worked=worked)])
    (command,) = words(step)
    assert command == ("helm", verb, "gpu-operator", "--namespace", "gpu-operator")
    assert status in step.problem
