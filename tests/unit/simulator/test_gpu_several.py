"""Several ClusterPolicies or NVIDIADrivers in one cluster: which one counts, and what the others report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simulator.cluster.objects import at
from simulator.gpu import operator
from simulator.gpu.policies import active
from simulator.gpu.release import names, release
from simulator.gpu.state import State
from tests.support.gpu_cluster import Cluster, add_node
from tests.support.gpu_model import spec
from tests.support.gpu_replay import nfd as nfd_labels
from tests.support.gpu_replay import node as make_node
from tests.unit.simulator.test_gpu_operator_model import POOL, driver, error, started


@pytest.mark.parametrize("version", names())
def test_drivers_conflict_on_nodes_without_gpus_too_and_a_third_one_gets_the_same_fault(version: str) -> None:
    """The selectors are compared on every node (internal/validator/validator.go); owners only exist on GPU nodes."""
    drivers = [driver(name, nodeSelector={"zone": "1"}) for name in ("one", "two")]
    made = started(1, *drivers, driver("three", nodeSelector=POOL), version=version)
    assert made.state.drivers["one"]["status"]["state"] == ("notReady" if version == "v25.3.4" else "ready")
    made.change(add_node(make_node("cpu-0", {"zone": "1"}, [])))
    made.restart()
    assert [error(made, name)[0] for name in ("one", "three", "two")] == ["ConflictingNodeSelector"] * 3
    assert "ConflictingNodeSelector" not in str(at(made.state.policy, "status"))


def test_a_driver_that_owns_nodes_without_running_there_is_created_and_deleted_again_and_again() -> None:
    """The default one owns the nodes of pools whose driver comes from elsewhere, and no pod of it runs there."""
    labels_ = {"nvidia.com/gpu.deploy.driver": "false", **nfd_labels()}
    made = Cluster(
        State(
            release="v26.7.0",
            policy={"metadata": {"name": "cluster-policy"}, "spec": spec()},
            nodes={"rtx-0": make_node("rtx-0", labels_, [])},
            drivers={"default": driver("default", default=True)},
        )
    )
    made.settle()
    for _ in range(3):
        made.mark()
        made.restart()
        steps = [step.verb for step in made.steps if step.kind == "DaemonSet"]
        assert steps == ["delete", "apply"]
        assert error(made, "default") == ("DriverNotReady", "Waiting for driver pod to be ready")


def policy(name: str, created: str, state: str = "") -> dict[str, Any]:
    metadata = {"name": name, "creationTimestamp": created}
    return {"metadata": metadata, "spec": spec(), **({"status": {"state": state}} if state else {})}


@pytest.mark.parametrize(
    ("version", "held", "policies", "expected"),
    [
        ("v26.3.3", "", [policy("b", "1"), policy("a", "2")], "b"),
        ("v26.3.3", "b", [policy("b", "1", "notReady"), policy("a", "2")], "b"),
        ("v26.3.3", "b", [policy("a", "2")], None),
        ("v26.7.0", "", [policy("b", "1"), policy("a", "1")], "a"),
        ("v26.7.0", "b", [policy("b", "1", "ready"), policy("a", "2")], "b"),
        ("v26.7.0", "b", [policy("b", "1", "notReady"), policy("a", "2", "ready")], "b"),
        ("v26.7.0", "a", [policy("b", "1", "notReady"), policy("a", "2", "notReady")], "b"),
        ("v26.7.0", "b", [policy("a", "2")], "a"),
    ],
)
def test_one_of_several_cluster_policies_is_followed(
    version: str, held: str, policies: list[dict[str, Any]], expected: str | None
) -> None:
    found = active(release(version), policies, held)
    assert (found and found["metadata"]["name"]) == expected


@pytest.mark.parametrize("version", ["v26.3.3", "v26.7.0"])
def test_a_second_cluster_policy_gets_no_status(version: str) -> None:
    """Seen with v26.7.0: `ignored` is set in the operator's memory only."""
    made = started(1, version=version)
    made.change(lambda state: replace(state, ignored={"other": policy("other", "2")}))
    made.restart()
    assert "status" not in made.state.ignored["other"]


def test_the_next_cluster_policy_waits_for_an_event_of_its_own() -> None:
    """Seen with v26.7.0: the deletion of the one that was followed wakes nobody for the next."""
    made = started(1)
    second = policy("second", "2")
    before = replace(made.state, ignored={"second": second})
    after = replace(before, policy=second, ignored={})
    assert "policy" not in operator.wakes(before, after)
    changed = {**second, "spec": {**second["spec"], "mig": {"strategy": "mixed"}}}
    assert "policy" in operator.wakes(after, replace(after, policy=changed))
