"""State after a run that was cut off: what went through is kept, what did not is forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.simulator.recovery import recovered

GROUP: dict[str, Any] = {"urn": "urn:group", "type": "azure-native:resources:ResourceGroup", "id": "/rg", "inputs": {}}
POOL: dict[str, Any] = {"urn": "urn:pool", "type": "azure-native:containerservice:AgentPool", "inputs": {"count": 1}}


def exists(type: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    return "/pools/h100", {"count": inputs["count"], "provisioningState": "Succeeded"}


def is_missing(type: str, inputs: Mapping[str, Any]) -> None:
    return None


def state(*resources: dict[str, Any], pending: str, resource: dict[str, Any] = POOL) -> dict[str, Any]:
    operations = [{"type": pending, "resource": resource}]
    return {"manifest": {}, "resources": list(resources), "pending_operations": operations}


def test_a_creation_that_went_through_becomes_a_resource() -> None:
    after, adopted = recovered(state(GROUP, pending="creating"), exists)
    assert adopted == ["urn:pool"]
    assert after["pending_operations"] == []
    group, pool = after["resources"]
    assert group == GROUP
    assert (pool["id"], pool["outputs"]["provisioningState"]) == ("/pools/h100", "Succeeded")
    assert after["manifest"] == {}


def test_a_creation_that_did_not_is_forgotten() -> None:
    after, adopted = recovered(state(GROUP, pending="creating"), is_missing)
    assert (after["resources"], after["pending_operations"], adopted) == ([GROUP], [], [])


def test_updates_and_deletions_are_simply_done_again() -> None:
    old = {**POOL, "id": "/pools/h100"}
    for operation in ("updating", "deleting"):
        after, adopted = recovered(state(GROUP, old, pending=operation, resource=old), exists)
        assert (after["resources"], adopted) == ([GROUP, old], [])


def test_the_second_half_of_a_replacement_replaces_its_marker() -> None:
    marker = {**POOL, "id": "/pools/h100", "pendingReplacement": True}
    after, _ = recovered(state(GROUP, marker, pending="creating"), exists)
    assert [r["urn"] for r in after["resources"]] == ["urn:group", "urn:pool"]
    assert "pendingReplacement" not in after["resources"][1]
