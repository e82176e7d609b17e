"""Client of Azure's API for the machines of an AKS node pool: deletes and restarts machines, and resizes the pool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from physical_ai.nested import at
from workbench.health.arm import Arm, NoAnswer, Refused, Request, sent

AKS_VERSION = "2025-09-01"
"""API version of Microsoft.ContainerService that the program also uses to declare node pools."""
COMPUTE_VERSION = "2024-07-01"
BUSY = ("OperationNotAllowed", "Conflict")
"""Azure's error codes while another operation works on the pool, its cluster or the machine."""
FINAL = ("Succeeded", "Failed", "Canceled")
_MACHINE = re.compile(
    r"azure://(/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Compute/virtualMachineScaleSets/[^/]+"
    r"/virtualMachines/\d+)$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PoolState:
    """Size limits and provisioning state that a node pool has in Azure."""

    count: int
    autoscaled: bool
    least: int
    """Least number of nodes of an autoscaled pool; 0 for a pool without autoscaling."""
    state: str
    """Provisioning state: `Succeeded`, `Failed`, or an operation in progress, such as `Updating`."""

    @property
    def is_settled(self) -> bool:
        return self.state in FINAL


def machine_id(provider_id: str) -> str:
    """The resource id of a node's machine, from the node's `spec.providerID`; empty for a machine outside of a scale
    set.
    """
    found = _MACHINE.match(provider_id)
    return found[1] if found else ""


class Machines:
    """Client for the machines of the AKS cluster with the resource id `cluster_id`. Each method raises Refused or
    NoAnswer.
    """

    def __init__(self, arm: Arm, cluster_id: str) -> None:
        self._arm, self._cluster = arm, cluster_id.rstrip("/")

    def pool(self, name: str) -> PoolState:
        properties = self._properties(self._pool(name))
        autoscaled = properties.get("enableAutoScaling") is True
        return PoolState(
            count=int(properties.get("count") or 0),
            autoscaled=autoscaled,
            least=int(properties.get("minCount") or 0) if autoscaled else 0,
            state=str(properties.get("provisioningState", "")),
        )

    def delete(self, pool: str, node: str) -> bool:
        """Starts the deletion of a machine; returns False if AKS is busy with another operation on the pool.

        AKS neither cordons nor drains the node, and the pool's count goes down by one.
        """
        path = f"{self._path(pool)}/deleteMachines"
        request = Request(f"delete machine {node}", "POST", path, AKS_VERSION, {"machineNames": [node]})
        try:
            return self._unless_busy(request)
        except Refused as refusal:
            if refusal.status == 404:  # an earlier run has begun the deletion
                return True
            raise

    def restart(self, provider_id: str) -> bool:
        """Starts a restart of a node's machine; returns False if Azure is busy with the machine.

        The machine keeps its disk, its Node object and its place in the pool.
        """
        found = machine_id(provider_id)
        if not found:
            raise NoAnswer(f"{provider_id or 'a node without a provider id'} names no machine of a scale set")
        what = f"restart {found.rpartition('/')[2]}"
        return self._unless_busy(Request(what, "POST", f"{found}/restart", COMPUTE_VERSION))

    def resize(self, pool: str, count: int) -> bool:
        """Starts resizing a pool without changing its other properties; returns False if AKS is busy."""
        body = self._pool(pool)
        properties = {key: value for key, value in self._properties(body).items() if key not in _READ_ONLY}
        wanted = {"properties": {**properties, "count": count}}
        return self._unless_busy(Request(f"scale pool {pool} to {count}", "PUT", self._path(pool), AKS_VERSION, wanted))

    def _unless_busy(self, request: Request) -> bool:
        try:
            sent(self._arm, request)
        except Refused as refusal:
            if refusal.status == 409 and refusal.code in BUSY:
                return False
            raise
        return True

    def _path(self, pool: str) -> str:
        return f"{self._cluster}/agentPools/{pool}"

    def _pool(self, name: str) -> Any:
        return sent(self._arm, Request(f"read pool {name}", "GET", self._path(name), AKS_VERSION)).body

    @staticmethod
    def _properties(body: Any) -> dict[str, Any]:
        return dict(cast("Mapping[str, Any]", at(body, "properties", {})))


_READ_ONLY = frozenset({"provisioningState", "currentOrchestratorVersion", "nodeImageVersion", "eTag", "status"})
"""Properties in the answer to a GET of a pool (AKS API 2025-09-01) that a PUT must not contain."""
