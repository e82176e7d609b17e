"""Settings about the health of GPU nodes: what they lead to, and which cannot work."""

from __future__ import annotations

import pytest

from physical_ai.planning.grid_driver import grid_plan
from physical_ai.planning.node_admission import node_policies
from physical_ai.settings import SettingsError
from physical_ai.settings.facts import gpu as gpu_facts
from physical_ai.settings.facts.osmo import platforms
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT, node_taints
from tests.support.gpu_settings import given_settings

KEY = NOT_ACCEPTED_TAINT.partition("=")[0]
ACCEPTED = "health.admit=accepted"


def test_every_node_takes_work_by_default() -> None:
    settings = given_settings().settings
    assert node_policies(settings) == []
    assert KEY not in {item["key"] for item in gpu_facts.all_tolerations(settings)}


def test_new_nodes_of_gpu_pools_get_a_taint_that_is_not_the_pools() -> None:
    settings = given_settings(ACCEPTED).settings
    policy, binding = node_policies(settings)
    (selector,) = policy["spec"]["matchConstraints"]["objectSelector"]["matchExpressions"]
    assert selector["values"] == ["h100gpu", "rtxprogpu"]
    assert policy["spec"]["variables"] == [{"name": "key", "expression": f'"{KEY}"'}]
    assert binding["spec"]["policyName"] == policy["metadata"]["name"]
    assert all(KEY not in taint for pool in settings.pools.values() for taint in node_taints(pool))


def test_the_gpu_stack_tolerates_the_taint_and_work_does_not() -> None:
    settings = given_settings(ACCEPTED).settings
    assert KEY in {item["key"] for item in gpu_facts.all_tolerations(settings)}
    plan = grid_plan(settings)
    assert plan is not None
    assert KEY in {item["key"] for item in plan.tolerations}
    assert KEY not in {key for item in platforms(settings) for key, _ in item.tolerations}


def test_an_older_cluster_cannot_give_nodes_the_taint() -> None:
    with pytest.raises(SettingsError) as refused:
        given_settings(ACCEPTED, "cluster.kubernetesVersion='1.35'")
    (fault,) = [each for each in refused.value.faults if each.rule == "node-admission"]
    assert "MutatingAdmissionPolicy" in fault.problem


def test_nodes_that_the_autoscaler_adds_wait_to_be_accepted() -> None:
    warned = [each for each in given_settings(ACCEPTED).warnings if each.rule == "node-admission"]
    assert "physai accept --new" in str(warned[0].fix)
    fixed = [
        f"pools.{pool}.scale={{count: 1, min: null, max: null, initial: null}}" for pool in ("h100gpu", "rtxprogpu")
    ]
    assert [each for each in given_settings(ACCEPTED, *fixed).warnings if each.rule == "node-admission"] == []


def test_an_image_of_no_check_is_reported_with_the_nearest() -> None:
    with pytest.raises(SettingsError) as refused:
        given_settings("health.acceptance.images.nccl-test=example.azurecr.io/nccl-tests:2.17")
    (fault,) = refused.value.faults
    assert (fault.where, fault.fix) == ("health.acceptance.images.nccl-test", "Did you mean 'nccl-tests'?")
