"""State after a run that was cut off: what went through is kept, what did not is forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator.engine import Engine
from simulator.recovery import KILLED, Created, recovered
from simulator.tools import Toolbox

GROUP: dict[str, Any] = {"urn": "urn:group", "type": "azure-native:resources:ResourceGroup", "id": "/rg", "inputs": {}}
POOL: dict[str, Any] = {"urn": "urn:pool", "type": "azure-native:containerservice:AgentPool", "inputs": {"count": 1}}


@dataclass(frozen=True)
class There:
    """Answers for every resource alike."""

    found: Created | None = None
    gone: bool = False
    undone: list[str] = field(default_factory=list[str])

    def created(self, resource: Mapping[str, Any]) -> Created | None:
        return self.found

    def interrupted(self, resource: Mapping[str, Any]) -> None:
        self.undone.append(resource["urn"])

    def is_gone(self, resource: Mapping[str, Any]) -> bool:
        return self.gone


EXISTS = {"azure-native": There(Created("/pools/h100", {"count": 1, "provisioningState": "Succeeded"}))}
IS_MISSING = {"azure-native": There()}


def state(*resources: dict[str, Any], pending: str, resource: dict[str, Any] = POOL) -> dict[str, Any]:
    operations = [{"type": pending, "resource": resource}]
    return {"manifest": {}, "resources": list(resources), "pending_operations": operations}


def test_a_creation_that_went_through_becomes_a_resource() -> None:
    after, adopted = recovered(state(GROUP, pending="creating"), EXISTS)
    assert adopted == ["urn:pool"]
    assert after["pending_operations"] == []
    group, pool = after["resources"]
    assert group == GROUP
    assert (pool["id"], pool["outputs"]["provisioningState"]) == ("/pools/h100", "Succeeded")
    assert after["manifest"] == {}


def test_a_creation_that_did_not_is_forgotten() -> None:
    after, adopted = recovered(state(GROUP, pending="creating"), IS_MISSING)
    assert (after["resources"], after["pending_operations"], adopted) == ([GROUP], [], [])


def test_updates_and_deletions_are_simply_done_again() -> None:
    old = {**POOL, "id": "/pools/h100"}
    for operation in ("updating", "deleting"):
        after, adopted = recovered(state(GROUP, old, pending=operation, resource=old), EXISTS)
        assert (after["resources"], adopted) == ([GROUP, old], [])


def test_the_second_half_of_a_replacement_replaces_its_marker() -> None:
    marker = {**POOL, "id": "/pools/h100", "pendingReplacement": True}
    after, _ = recovered(state(GROUP, marker, pending="creating"), EXISTS)
    assert [r["urn"] for r in after["resources"]] == ["urn:group", "urn:pool"]
    assert "pendingReplacement" not in after["resources"][1]


def test_what_was_created_without_its_outcome_is_updated_by_the_next_run() -> None:
    there = {"azure-native": There(Created("/pools/h100", None, unfinished=True))}
    after, _ = recovered(state(GROUP, pending="creating"), there)
    assert after["resources"][1] == {**POOL, "id": "/pools/h100", "outputs": POOL["inputs"], "initErrors": [KILLED]}


def test_a_deletion_that_cannot_be_repeated_leaves_the_state() -> None:
    old = {**POOL, "id": "/pools/h100"}
    after, _ = recovered(state(GROUP, old, pending="deleting", resource=old), {"azure-native": There(gone=True)})
    assert after["resources"] == [GROUP]


def test_an_update_that_was_cut_off_is_undone() -> None:
    there, old = There(), {**POOL, "id": "/pools/h100"}
    recovered(state(GROUP, old, pending="updating", resource=old), {"azure-native": there})
    assert there.undone == ["urn:pool"]


def test_the_lock_of_a_run_that_was_killed_before_it_saved_anything_is_removed(tmp_path: Path) -> None:
    engine = Engine(tmp_path, "dev", Toolbox(()), tmp_path / "kubelogin")
    engine.checkpoint.create("physical-ai")
    lock = tmp_path / "backend" / ".pulumi" / "locks" / "organization" / "physical-ai" / "dev" / "1.json"
    lock.parent.mkdir(parents=True)
    lock.write_text('{"pid": 1, "username": "u", "hostname": "h", "timestamp": "t"}')
    assert not engine.has_state
    assert engine.recover(dict) == []
    assert engine.checkpoint.locks() == []
