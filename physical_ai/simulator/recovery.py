"""Makes the engine's state agree with the cloud when the run that changed it did not live to write it down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from physical_ai.simulator.azure import Cloud

Made = Callable[[str, Mapping[str, Any]], "tuple[str, dict[str, Any]] | None"]
"""(type, inputs) → id and outputs of what a creation with these inputs has left behind, if it has."""


def made_in(cloud: Cloud) -> Made:
    """What creations have left in a simulated Azure.

    In a cluster nothing needs to be looked for: an object or a release that is created again is taken over.
    """

    def made(type: str, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
        id = cloud.resource_id(type, inputs) if type.startswith("azure-native:") else None
        found = cloud.get(id) if id is not None else None
        return (found.id, found.outputs) if found is not None else None

    return made


def recovered(deployment: Mapping[str, Any], made: Made) -> tuple[dict[str, Any], list[str]]:
    """State without pending operations, and the URNs of the resources it now knows of.

    The engine records every creation before it begins, and forgets the record only when the outcome is in state. A
    creation that went through becomes a resource of the state; one that did not is forgotten. Updates and deletions
    need nothing: both can be done again.
    """
    resources: list[dict[str, Any]] = list(deployment.get("resources") or [])
    operations: list[dict[str, Any]] = list(deployment.get("pending_operations") or [])
    adopted: list[str] = []
    for operation in operations:
        resource: dict[str, Any] = operation["resource"]
        found = made(resource["type"], resource.get("inputs") or {}) if operation["type"] == "creating" else None
        if found is None:
            continue
        id, outputs = found
        # The first half of a replacement is in state as a marker, which its second half takes the place of.
        resources = [r for r in resources if not (r["urn"] == resource["urn"] and r.get("pendingReplacement"))]
        resources.append({**resource, "id": id, "outputs": outputs})
        adopted.append(resource["urn"])
    return {**deployment, "resources": resources, "pending_operations": []}, adopted
