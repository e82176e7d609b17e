"""Makes the engine's state agree with the cloud after a run that was killed before it recorded its changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from physical_ai.simulator.azure import Cloud

FindCreated = Callable[[str, Mapping[str, Any]], "tuple[str, dict[str, Any]] | None"]
"""(type, inputs) → id and outputs of the resource that a creation with these inputs has left, or None."""


def created_in(cloud: Cloud) -> FindCreated:
    """Finds what creations have left in a simulated Azure.

    Clusters need no search: creating an object or a release that exists updates it.
    """

    def find(type: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
        id = cloud.resource_id(type, inputs) if type.startswith("azure-native:") else None
        found = cloud.get(id) if id is not None else None
        return (found.id, found.outputs) if found is not None else None

    return find


def recovered(deployment: Mapping[str, Any], find_created: FindCreated) -> tuple[dict[str, Any], list[str]]:
    """State without pending operations, and the URNs of the resources that were added to it.

    The engine records each creation before it starts, and removes the record when the outcome is in state. A creation
    that succeeded becomes a resource of the state; one that did not is removed. Updates and deletions can be repeated.
    """
    resources: list[dict[str, Any]] = list(deployment.get("resources") or [])
    operations: list[dict[str, Any]] = list(deployment.get("pending_operations") or [])
    adopted: list[str] = []
    for operation in operations:
        resource: dict[str, Any] = operation["resource"]
        created = operation["type"] == "creating"
        found = find_created(resource["type"], resource.get("inputs") or {}) if created else None
        if found is None:
            continue
        id, outputs = found
        # A replacement whose first half is done has a marker in state, which its second half replaces.
        resources = [r for r in resources if not (r["urn"] == resource["urn"] and r.get("pendingReplacement"))]
        resources.append({**resource, "id": id, "outputs": outputs})
        adopted.append(resource["urn"])
    return {**deployment, "resources": resources, "pending_operations": []}, adopted
