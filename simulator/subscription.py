"""The simulated subscription of one simulation: its principals, and the folder with Azure's state."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.azure import CatalogOffers, Cloud, ClusterHost, Directory, StandingRole
from simulator.azure.cluster_host import NodeHost
from simulator.azure.pool_cloud import Options, PoolCloud
from simulator.azure.restrictions import NAMES as RESTRICTIONS
from simulator.azure.restrictions import Restrictions
from simulator.azure.roles import guid_of
from simulator.entra import DEPLOYER, DEPLOYERS, PRINCIPALS, SUBSCRIPTION_ID, TENANT_ID
from simulator.errors import SimulationError

AZURE_FILE = "azure.json"
LIMITS = ("quota", "capacity", "busy", "taken")
LIMITS_FILE = "limits.json"
"""File with limits of the simulated Azure that are lower than the defaults. Example: `{"quota": {"lowPriorityCores":
40}, "capacity": {"Standard_NC40ads_H100_v5": 1}, "busy": {"cpu": 3}, "taken": {"StorageAccount": ["stdev1"]}}`.

The members of `Restrictions` are keys, too: `{"restricted": {"Standard_D8ds_v5": []}, "absent": ["Standard_LRS"]}`.
`quota` is in vCPUs and `capacity` in nodes. `"busy": {"cpu": 3}` means that the first three requests to the pool `cpu`
or to its cluster are refused because Azure upgrades the pool. `taken` lists names that other customers hold.
"""


def open_cloud(folder: Path, host: ClusterHost, *, record: bool = False) -> Cloud:
    """The simulated Azure of the simulation in `folder`. Several processes may have it open.

    `record`: True for an Azure that still offers sizes and versions which the real one has retired since.

    Raises:
        SimulationError: the file of limits is invalid.
    """
    return Cloud(folder / AZURE_FILE, host, **_options(folder, record=record))


def open_pools(folder: Path, host: NodeHost) -> PoolCloud:
    """The simulated Azure of the simulation in `folder`, reduced to operations that change a pool's number of nodes.
    Raises SimulationError.
    """
    return PoolCloud(folder / AZURE_FILE, host, **_options(folder, record=False))


def _options(folder: Path, *, record: bool) -> Options:
    who = Directory(
        subscription=SUBSCRIPTION_ID,
        tenant=TENANT_ID,
        deployer=DEPLOYER.object_id,
        deployer_client=DEPLOYER.client_id,
        principals={each.object_id: each.kind for each in (*PRINCIPALS, DEPLOYERS)},
        roles=[StandingRole(who.object_id, guid_of(role), who.assigns) for who in PRINCIPALS for role in who.roles],
        groups={each.object_id: each.groups for each in PRINCIPALS},
    )
    limits = _limits(folder / LIMITS_FILE)
    return Options(
        directory=who,
        offers=CatalogOffers(past=record),
        accepts_retired_sizes=record,
        quota=limits.get("quota"),
        capacity=limits.get("capacity"),
        busy=limits.get("busy"),
        taken=limits.get("taken"),
        restrictions=_restrictions(folder / LIMITS_FILE, limits),
    )


def _restrictions(file: Path, limits: Mapping[str, Any]) -> Restrictions:
    """Restrictions of the subscription in the file of limits. Raises SimulationError."""
    if unknown := sorted(limits.keys() - {*LIMITS, *RESTRICTIONS}):
        known = ", ".join((*LIMITS, *RESTRICTIONS))
        raise SimulationError(f"{file}: `{unknown[0]}` is no limit of the simulated Azure; the keys are {known}")
    try:
        return Restrictions.read(limits)
    except (KeyError, TypeError, ValueError) as problem:
        example = '{"name": "…", "type": "*", "path": "location", "values": ["westus2"]}'
        raise SimulationError(f"{file}: denials: {problem}; write each as {example}") from None


def _limits(file: Path) -> dict[str, Any]:
    try:
        return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    except ValueError as problem:
        raise SimulationError(f"{file}: {problem}; write an object with {', '.join(LIMITS)}") from None
