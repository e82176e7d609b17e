"""What the GRID driver agent may do, as the program declares it."""

from __future__ import annotations

from physical_ai.planning import manifests
from physical_ai.planning.grid_driver import grid_plan
from physical_ai.planning.grid_objects import (
    agent_rights,
)
from tests.support.gpu_settings import given_settings

NAME = "gpu-grid-driver-installer"


def rules(*assignments: str) -> set[tuple[str, str, str]]:
    plan = grid_plan(given_settings(*assignments).settings)
    assert plan is not None
    return {
        (item["kind"], resource, verb)
        for item in agent_rights(manifests.load("grid-driver-rights.yaml"), plan)
        for rule in item.get("rules", [])
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


LEAST = {
    ("Role", "pods", "list"),
    ("Role", "pods", "delete"),
    ("Role", "events", "create"),
    ("ClusterRole", "nodes", "get"),
    ("ClusterRole", "nodes", "patch"),
    ("ClusterRole", "nodes/status", "patch"),
    ("ClusterRole", "pods", "list"),
}


def test_rights_outside_its_namespace_exist_with_the_policy_that_needs_them() -> None:
    assert rules() == LEAST
    assert rules("gridDriver.upgradePolicy=drain") == LEAST | {("ClusterRole", "pods/eviction", "create")}
    assert rules("pools.rtxprogpu.driver.upgradePolicy=force") == LEAST | {("ClusterRole", "pods", "delete")}
