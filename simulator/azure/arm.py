"""The part of Azure Resource Manager's REST API that tools other than Pulumi use: node pools, machines, impact reports.

The real API only starts long operations; here, an operation is complete when the request is answered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.azure import ids, nodes, puts
from simulator.azure.bodies import Json, get, items
from simulator.azure.cloud import Cloud
from simulator.azure.errors import ArmError, Refusal
from simulator.azure.impacts import Impacts
from simulator.azure.pools import initial_count
from simulator.azure.registry import models
from simulator.azure.state import AzureState, Resource

_SEGMENT = r"[^/]+"
_CLUSTER = rf"/subscriptions/{_SEGMENT}/resourceGroups/{_SEGMENT}/providers/Microsoft\.ContainerService"
POOL = re.compile(rf"({_CLUSTER}/managedClusters/{_SEGMENT}/agentPools/{_SEGMENT})(/deleteMachines)?$", re.IGNORECASE)
MACHINE = re.compile(
    rf"(/subscriptions/{_SEGMENT}/resourceGroups/{_SEGMENT}/providers/Microsoft\.Compute/virtualMachineScaleSets"
    rf"/({_SEGMENT})/virtualMachines/(\d+))/restart$",
    re.IGNORECASE,
)
DELETED_VAULT = re.compile(
    rf"(/subscriptions/{_SEGMENT}/providers/Microsoft\.KeyVault/locations/{_SEGMENT}/deletedVaults/({_SEGMENT}))/purge$",
    re.IGNORECASE,
)
IMPACT = re.compile(
    rf"/subscriptions/({_SEGMENT})/providers/Microsoft\.Impact/workloadImpacts/({_SEGMENT})$", re.IGNORECASE
)


@dataclass(frozen=True)
class ArmEndpoint:
    """The simulated Resource Manager API for one caller."""

    cloud: Cloud
    caller: str
    """Entra object id of the caller."""
    reports: Path
    """File of the impact reports."""

    def __call__(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> tuple[int, Any]:
        """HTTP status and JSON body of the answer to a request."""
        try:
            return self._answer(method, path.partition("?")[0], parameters, body)
        except ArmError as error:
            return error.refusal.status, error.refusal.body()

    def _answer(self, method: str, path: str, parameters: Mapping[str, str], body: Any) -> tuple[int, Any]:
        if "api-version" not in parameters:
            message = "The api-version query parameter (?api-version=) is required for all requests."
            raise ArmError(Refusal("arm-api-version", 400, "MissingApiVersionParameter", message))
        routes: list[tuple[str, re.Pattern[str], Callable[[re.Match[str], Any], tuple[int, Any]]]] = [
            ("GET", POOL, self._read_pool),
            ("PUT", POOL, self._resize),
            ("POST", POOL, self._delete_machines),
            ("POST", MACHINE, self._restart),
            ("POST", DELETED_VAULT, self._purge_vault),
            ("GET", IMPACT, self._read_impact),
            ("PUT", IMPACT, self._report_impact),
        ]
        for verb, pattern, handle in routes:
            match = pattern.match(path)
            if verb == method and match is not None:
                return handle(match, body)
        message = f"The simulator has no model of {method} {path}."
        raise ArmError(Refusal("arm-api-version", 404, "InvalidResourceType", message))

    def _allow(self, action: str, scope: str) -> None:
        self.cloud.authorize(self.caller, action, scope)

    # Pools

    def _pool(self, pool_id: str) -> Resource:
        resource = self.cloud.get(pool_id)
        if resource is None:
            message = f"Could not find the agentpool: {ids.name(pool_id)}."
            raise ArmError(Refusal("arm-delete-missing", 404, "NotFound", message, flat=True))
        return resource

    def _read_pool(self, found: re.Match[str], body: Any) -> tuple[int, Any]:
        del body
        self._allow("Microsoft.ContainerService/managedClusters/agentPools/read", found[1])
        return 200, _shown(self._pool(found[1]))

    def _resize(self, found: re.Match[str], body: Any) -> tuple[int, Any]:
        """Answers a PUT that changes a pool's node count. A PUT that also changes other properties is refused."""
        self._allow("Microsoft.ContainerService/managedClusters/agentPools/write", found[1])
        pool = self._pool(found[1])
        before, sent = _shown(pool)["properties"], dict(get(body, "properties", {}))
        count = sent.get("count")
        other = sorted(key for key, value in sent.items() if key != "count" and before.get(key) != value)
        if other or not isinstance(count, int):
            message = (
                f"The simulator changes a pool's count only; the request differs in {', '.join(other) or 'count'}."
            )
            raise ArmError(Refusal("aks-async", 400, "InvalidParameter", message, flat=True))
        self._check_free(pool)
        changed = self.cloud.put("AgentPool", {**pool.inputs, "count": count})
        if int(changed.outputs["count"]) < int(count) <= initial_count(pool.inputs):
            # A count equal to that of the program's own PUT counts as a person's: the program does not scale.
            changed = self.cloud.change_pool(pool.id, lambda now, azure: puts.resized(_there(now), count, azure))
        return 200, _shown(self._pool(found[1]))

    @models("aks-delete-machines", "aks-delete-machines-unknown")
    def _delete_machines(self, found: re.Match[str], body: Any) -> tuple[int, Any]:
        """Answers a request that deletes machines by name. The machines are not drained, and the pool's node count is
        lowered by their number.
        """
        self._allow("Microsoft.ContainerService/managedClusters/agentPools/deleteMachines/action", found[1])
        pool = self._pool(found[1])
        names = [str(each) for each in items(body, "machineNames")]
        if not names:
            message = "machineNames is required and lists at least one machine."
            raise ArmError(Refusal("aks-delete-machines", 400, "InvalidParameter", message, "machineNames", flat=True))
        self._check_free(pool)
        self.cloud.change_pool(pool.id, lambda now, azure: _without(_there(now), names, azure))
        return 202, None

    def _check_free(self, pool: Resource) -> None:
        azure = self.cloud.azure()
        busy = [azure.in_flight.get(ids.key(each)) for each in (pool.id, ids.parent(pool.id))]
        for operation in filter(None, busy):
            message = f"Operation is not allowed: Another operation ({operation}) is in progress."
            raise ArmError(Refusal("aks-busy", 409, "OperationNotAllowed", message, flat=True))

    # Machines

    @models("vmss-restart")
    def _restart(self, found: re.Match[str], body: Any) -> tuple[int, Any]:
        del body
        self._allow("Microsoft.Compute/virtualMachineScaleSets/virtualMachines/restart/action", found[1])
        azure = self.cloud.azure()
        for pool in azure.of_kind("AgentPool"):
            cluster = ids.parent(pool.id)
            scale_set, number = nodes.scale_set(cluster, ids.name(pool.id)), int(found[3])
            if scale_set.lower() == found[2].lower() and number in puts.machines_of(pool.facts):
                self.cloud.host.restart_node(cluster, nodes.node_name(cluster, ids.name(pool.id), number))
                return 202, None
        message = f"The entity was not found in this Azure location: instance {found[3]} of {found[2]}."
        raise ArmError(Refusal("vmss-restart", 404, "NotFound", message))

    def _purge_vault(self, found: re.Match[str], body: Any) -> tuple[int, Any]:
        del body
        self._allow("Microsoft.KeyVault/locations/deletedVaults/purge/action", found[1])
        self.cloud.purge_vault(found[2])
        return 202, None

    # Reports

    def _read_impact(self, found: re.Match[str], body: Any) -> tuple[int, Any]:
        del body
        self._allow("Microsoft.Impact/workloadImpacts/read", f"/subscriptions/{found[1]}")
        return 200, Impacts(self.reports).read(found[2])

    def _report_impact(self, found: re.Match[str], body: Any) -> tuple[int, Any]:
        self._allow("Microsoft.Impact/workloadImpacts/write", f"/subscriptions/{found[1]}")
        return 200, Impacts(self.reports).put(found[2], body, f"/subscriptions/{found[1]}")


def _there(pool: Resource | None) -> Resource:
    if pool is None or pool.state == "Deleting":
        raise ArmError(Refusal("arm-delete-missing", 404, "NotFound", "Could not find the agentpool.", flat=True))
    return pool


def _without(pool: Resource, names: list[str], azure: AzureState) -> Resource:
    """The pool without the machines of these names."""
    cluster, own = ids.parent(pool.id), ids.name(pool.id)
    numbers = {nodes.node_name(cluster, own, number): number for number in puts.machines_of(pool.facts)}
    unknown = [name for name in names if name not in numbers]
    if unknown:
        message = f"Machine {unknown[0]} was not found in agentpool {own}."
        raise ArmError(Refusal("aks-delete-machines-unknown", 404, "NotFound", message, flat=True))
    left = len(numbers) - len(set(names))
    return puts.resized(pool, left, azure, {numbers[name] for name in names})


def _shown(pool: Resource) -> Json:
    """The pool as a GET returns it: the requested properties, with those that AKS computes."""
    properties: Json = dict(pool.body.get("properties") or {})
    seen = {"count": int(pool.facts["count"]), "provisioningState": pool.state}
    return {"id": pool.id, "name": ids.name(pool.id), "properties": {**properties, **seen}}
