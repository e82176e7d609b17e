"""Repair of the engine's state after a run that was killed before it recorded its changes.

Only the simulator repairs the state. `physai up --no-recovery` shows what happens on Azure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from simulator.azure import Cloud

KILLED = "the run that created it was killed; the next update completes it"


@dataclass(frozen=True)
class Created:
    """Resource that an interrupted creation has left behind. `outputs`: the resource's outputs; None if they equal its
    inputs. `unfinished`: True if the resource has to be updated.
    """

    id: str
    outputs: Mapping[str, Any] | None
    unfinished: bool = False


class ProviderRecovery(Protocol):
    """Interface to repair what an interrupted operation has left: it compares one provider's existing resources with
    the engine's state.
    """

    def created(self, resource: Mapping[str, Any]) -> Created | None:
        """The resource that an interrupted creation has left behind; None if there is no such resource."""
        ...

    def interrupted(self, resource: Mapping[str, Any]) -> None:
        """Undoes an interrupted update of the resource if a second update would fail; else does nothing."""
        ...

    def is_gone(self, resource: Mapping[str, Any]) -> bool:
        """True if the interrupted deletion of the resource has completed and a second deletion would fail."""
        ...


@dataclass(frozen=True)
class AzureRecovery:
    """Finds resources of the simulated Azure that an interrupted creation has left behind. In Azure, updates and
    deletions can be repeated.
    """

    cloud: Cloud

    def created(self, resource: Mapping[str, Any]) -> Created | None:
        id = self.cloud.resource_id(resource["type"], resource.get("inputs") or {})
        found = self.cloud.get(id) if id is not None else None
        return Created(found.id, found.outputs) if found is not None else None

    def interrupted(self, resource: Mapping[str, Any]) -> None:
        del resource

    def is_gone(self, resource: Mapping[str, Any]) -> bool:
        del resource
        return False


def recovered(
    deployment: Mapping[str, Any], recoveries: Mapping[str, ProviderRecovery]
) -> tuple[dict[str, Any], list[str]]:
    """The state without pending operations, and the URNs of the resources that were added to it.

    The engine records each operation before the operation starts, and removes the record when its outcome is in the
    state. A resource whose creation succeeded is added to the state; the record of a creation that failed is removed.
    Updates and deletions can be repeated.

    Args:
        recoveries: Recovery by package of a resource's type, such as `azure-native`.
    """
    resources: list[dict[str, Any]] = list(deployment.get("resources") or [])
    operations: list[dict[str, Any]] = list(deployment.get("pending_operations") or [])
    adopted: list[str] = []
    for operation in operations:
        resource: dict[str, Any] = operation["resource"]
        there = recoveries.get(resource["type"].partition(":")[0])
        if there is None:
            continue
        if operation["type"] == "updating":
            there.interrupted(resource)
        elif operation["type"] == "deleting" and there.is_gone(resource):
            resources = [r for r in resources if (r["urn"], r.get("id")) != (resource["urn"], resource.get("id"))]
        elif operation["type"] == "creating" and (found := there.created(resource)) is not None:
            # A replacement whose first half is done has a marker in state, which its second half replaces.
            resources = [r for r in resources if not (r["urn"] == resource["urn"] and r.get("pendingReplacement"))]
            resources.append(_adopted(resource, found))
            adopted.append(resource["urn"])
    return {**deployment, "resources": resources, "pending_operations": []}, adopted


def _adopted(resource: Mapping[str, Any], found: Created) -> dict[str, Any]:
    inputs: dict[str, Any] = resource.get("inputs") or {}
    outputs = inputs if found.outputs is None else found.outputs
    errors = {"initErrors": [KILLED]} if found.unfinished else {}
    return {**resource, "id": found.id, "outputs": outputs, **errors}
