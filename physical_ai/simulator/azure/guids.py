"""GUIDs that the simulated Azure gives to resources."""

from __future__ import annotations

import uuid

from physical_ai.simulator.azure import ids
from physical_ai.simulator.azure.state import Resource


def guid(resource: Resource, purpose: str) -> str:
    """A GUID that is constant for one resource, and differs for a later resource of the same name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{ids.key(resource.id)}#{resource.serial}#{purpose}"))
