"""Sources for the diagnosis of workloads in addition to the cluster: node pools in Azure, and workflows in OSMO.
Nothing is changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from physical_ai.nested import is_mapping
from physical_ai.settings.guards import is_list

if TYPE_CHECKING:
    from physical_ai.settings import Settings
    from physical_ai.subscription.rest import Get
    from simulator.simulation import Simulation

API_VERSION = "2025-05-01"
"""API version of Microsoft.ContainerService/managedClusters/agentPools."""
Pools = Mapping[str, Mapping[str, Any]]


def simulated_pools(simulation: Simulation) -> Pools | None:
    """Properties of the simulated cluster's node pools, by name, as a GET of each pool returns them; None if the
    cluster is not on Azure.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for id, each in simulation.cloud_resources().items():
        if each["type"].endswith(":ManagedCluster"):
            inline: list[dict[str, Any]] = each["outputs"].get("agentPoolProfiles") or []
            found |= {str(pool["name"]): pool for pool in inline if str(pool["name"]) not in found}
        elif each["type"].endswith(":AgentPool"):
            found[id.rpartition("/")[2]] = {**each["outputs"], "provisioningState": each["state"]}
    return found or None


def azure_pools(get: Get, subscription: str, settings: Settings) -> Pools:
    """Properties of a cluster's node pools in Azure, by name, from one list request.

    Raises:
        Unanswered: Azure does not answer, or refuses.
    """
    from physical_ai.settings.facts.naming import Names

    names = Names(settings.stack)
    path = (
        f"/subscriptions/{subscription}/resourceGroups/{names.resource_group}"
        f"/providers/Microsoft.ContainerService/managedClusters/{names.cluster}/agentPools"
    )
    document = get(path, {"api-version": API_VERSION})
    rows = document.get("value") if is_mapping(document) else None
    return {
        str(row.get("name")): row.get("properties") or {}
        for row in (rows if is_list(rows) else ())
        if is_mapping(row) and is_mapping(row.get("properties") or {})
    }


def simulated_workflows(simulation: Simulation) -> list[dict[str, Any]]:
    """The workflows that the simulated OSMO has run, in the form of OSMO's API. Each task is shown as a group of its
    own.
    """
    from simulator.osmo.history import History

    return [
        {
            "name": run["id"],
            "status": run["status"],
            "pool": "default",
            "groups": [
                {
                    "name": task["group"],
                    "status": task["status"],
                    "failure_message": task["message"] or None,
                    "tasks": [],
                }
                for task in run["tasks"]
            ],
        }
        for run in History(simulation.folder).all()
    ]


def described_workflow(file: Path) -> list[dict[str, Any]]:
    """The workflow that a file describes. The file contains an answer of OSMO's API.

    Raises:
        typer.BadParameter: the file is not such an answer.
    """
    try:
        document: Any = json.loads(file.read_text())
    except (OSError, ValueError) as problem:
        raise typer.BadParameter(str(problem), param_hint="--osmo") from None
    if not is_mapping(document) or not {"name", "status", "groups"} <= document.keys():
        raise typer.BadParameter(
            f"{file} is not a workflow as OSMO describes it: name, status and groups are missing", param_hint="--osmo"
        )
    return [dict(document)]
