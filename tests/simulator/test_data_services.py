"""The data services of a stack in the simulator: added, changed, and removed without a trace but the deleted vault."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.simulation import Simulation
from simulator.subscription import AZURE_FILE
from tests.simulator.physai import physai

AZURE = ("--set", "dataServices.source=azure")
CHANGED = (
    *AZURE,
    "--set",
    "dataServices.postgres={storageGb: 256, passwordGeneration: 2}",
    "--set",
    "dataServices.redis.key=secondary",
)
KINDS = ("PostgresServer", "RedisEnterpriseDatabase", "StorageAccount", "Vault", "VaultSecret", "Registry", "CacheRule")


def azure(simulation: Simulation) -> dict[str, Any]:
    return json.loads((simulation.folder / AZURE_FILE).read_text(encoding="utf-8"))


def kinds(simulation: Simulation) -> set[str]:
    return {row["kind"] for row in azure(simulation)["resources"]}


@pytest.mark.deep
def test_data_services_are_added_changed_and_removed_beside_a_running_cluster(running: Simulation) -> None:
    """In `make test`: added and removed in Azure with the control plane that needs them, in test_control_plane.py; what
    is changed with them and each change of theirs in tests/unit/components/test_components_data_services.py."""
    before = kinds(running)
    assert before.isdisjoint(KINDS)
    added = physai("up", "--json", *AZURE)
    changes = added.json["changes"]
    assert changes.keys() == {"create", "update"}, "something else of the cluster is changed too"
    assert changes["update"] == 1, "the tasks' network, which leaves out the ports of public data services"
    assert set(KINDS) <= kinds(running)
    (vault,) = (row for row in azure(running)["resources"] if row["kind"] == "Vault")
    assert vault["outputs"]["properties"]["vaultUri"].startswith("https://kv-dev-westus2-")

    changed = physai("up", "--json", *CHANGED)
    assert changed.json["changes"] == {"create": 1, "update": 3}, "another password; the server and both secrets"

    removed = physai("up", "--json")
    assert removed.json["changes"].keys() == {"delete", "update"}
    assert removed.json["changes"]["update"] == 1
    assert kinds(running) == before
    # Azure keeps it for days. The next vault has another name.
    assert vault["inputs"]["vaultName"].lower() in azure(running)["deletedVaults"]
