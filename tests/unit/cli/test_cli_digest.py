"""A preview that `pulumi` made of a real stack, described as one of the simulator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.unit.cli.test_cli_commands import call
from workbench.cli.preview.pulumi_json import deployed as of_digest
from workbench.costs import deployed

POOL = "azure-native:containerservice:AgentPool"
RESERVATION = "azure-native:compute:CapacityReservation"
BODY = {
    "agentPoolName": "h100gpu",
    "count": 1,
    "enableAutoScaling": True,
    "minCount": 0,
    "maxCount": 2,
    "scaleSetPriority": "Spot",
    "spotMaxPrice": -1,
}
OLD, NEW = "Standard_NC40ads_H100_v5", "Standard_NC80adis_H100_v5"


def state(type: str, inputs: dict[str, Any], **outputs: Any) -> dict[str, Any]:
    return {"type": type, "inputs": inputs, "outputs": outputs}


def step(op: str, type: str, name: str, **more: Any) -> dict[str, Any]:
    return {"op": op, "urn": f"urn:pulumi:dev-westus2::physical-ai::{type}::{name}", **more}


def digest(*steps: dict[str, Any]) -> str:
    return json.dumps({"config": {}, "steps": steps, "changeSummary": {}})


REPLACED = step(
    "replace",
    POOL,
    "physical-ai-h100gpu-nodes",
    oldState=state(POOL, {**BODY, "vmSize": OLD}, count=2),
    newState=state(POOL, {**BODY, "vmSize": NEW}),
    replaceReasons=["vmSize"],
    detailedDiff={"vmSize": {"kind": "update-replace", "inputDiff": True}},
)
UNTOUCHED = step("same", "kubernetes:helm.sh/v3:Release", "x", oldState=state("kubernetes:helm.sh/v3:Release", {}))


def preview(tmp_path: Path, text: str, *arguments: str) -> tuple[int, str, str]:
    file = tmp_path / "preview.json"
    file.write_text(text)
    return call("preview", "dev-westus2", "--from", str(file), *arguments)


def test_a_real_preview_shows_what_azure_has_now(tmp_path: Path) -> None:
    code, out, _ = preview(tmp_path, digest(REPLACED, UNTOUCHED), "--format", "markdown")
    assert code == 0
    assert out.startswith("### `dev-westus2`: **1 to replace**, **2 nodes lost**")
    assert f"`vmSize`: `{OLD}` → `{NEW}` (replaces)" in out
    assert "no finding" in out


def test_the_change_in_cost_is_against_what_is_deployed(tmp_path: Path) -> None:
    _, out, _ = preview(tmp_path, digest(REPLACED), "--format", "json")
    document = json.loads(out)
    before = next(pool["before"] for pool in document["cost"]["change"]["pools"] if pool["name"] == "system")
    assert before is None
    assert document["deployed"]


def test_reserved_machines_and_nodes_kept_ready_are_counted_before_the_change() -> None:
    group = {"capacityReservationGroupID": "/subscriptions/x/capacityReservationGroups/Of-Reserved"}
    pools = [
        {**BODY, "vmSize": OLD, "agentPoolName": name, **more} for name, more in (("reserved", group), ("warm", {}))
    ]
    reservation = {"capacityReservationGroupName": "of-reserved", "sku": {"name": OLD, "capacity": 3}}
    keeps = {"metadata": {"name": "warm-warm"}, "spec": {"replicas": 1}}
    declared = [(RESERVATION, reservation), ("kubernetes:apps/v1:Deployment", keeps), *((POOL, pool) for pool in pools)]
    steps = [
        step("same", kind, f"x{number}", oldState=state(kind, each)) for number, (kind, each) in enumerate(declared)
    ]
    costs = deployed("dev-westus2", "westus2", of_digest(json.loads(digest(*steps))).pools).pools
    assert [(each.name, each.nodes.minimum, each.without_work) for each in costs] == [
        ("reserved", 3, 3),
        ("warm", 1, 1),
    ]


def test_the_plain_form_works_too(tmp_path: Path) -> None:
    assert "2 nodes lost" in preview(tmp_path, digest(REPLACED))[1]
    assert json.loads(preview(tmp_path, digest(REPLACED), "--json")[1])["summary"] == {"replace": 1}


def test_a_first_preview_deploys_a_new_stack(tmp_path: Path) -> None:
    new = step("create", POOL, "physical-ai-h100gpu-nodes", newState=state(POOL, {**BODY, "vmSize": OLD}))
    _, out, _ = preview(tmp_path, digest(new), "--format", "markdown")
    assert "1 to create" in out
    assert "new, **" in out


def test_another_file_is_wrong_input(tmp_path: Path) -> None:
    for text in ("no json", "[]", "{}"):
        code, _, err = preview(tmp_path, text)
        assert code == 2
        assert "pulumi preview --json" in " ".join(err.split())
