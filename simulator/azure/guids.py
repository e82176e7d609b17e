"""GUIDs that the simulated Azure gives to resources."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from simulator.azure import ids
from simulator.azure.state import Resource


def guid(resource: Resource, purpose: str) -> str:
    """A GUID that depends on the resource and `purpose`. If the resource is deleted, a new one with the same name gets
    another GUID.
    """
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{ids.key(resource.id)}#{resource.serial}#{purpose}"))


def vm_guid(pool_id: str, number: int, times: Mapping[str, int] | None = None) -> str:
    """The unique id of the pool's machine with this instance number.

    `times`: how often each instance number has been given out.
    """
    time = (times or {}).get(str(number), 1)
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{ids.key(pool_id)}#machine#{number}#{time}"))


def boot_guid(vm: str, boots: int) -> str:
    """Boot id of a machine. `boots`: number of its restarts so far."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{vm}#boot#{boots}"))


def physical_host(vm: str) -> str:
    """The name of the physical host that a machine is on, in the form that Azure uses."""
    return f"SIMH{int(uuid.UUID(vm).hex[:12], 16) % 10**8:08d}"
