"""State of a node's InfiniBand ports, from the record that an agent keeps of the machine. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import at, labels, name
from physical_ai.nested import is_mapping, mappings, parsed
from physical_ai.readiness.model import Expected, Json

LABEL, SEEN, KEY = "physical-ai/evidence", "physical-ai/evidence-seen", "machine.json"
"""Names in the ConfigMaps that agents/gpu_evidence writes: label with the node's name, annotation with the time of the
record, and key of the record.
"""
ACTIVE = "ACTIVE"


def ports_cause(expected: Expected, node: Json, records: Sequence[Json]) -> tuple[str, dict[str, str]] | None:
    """Id of the cause why the node lacks active InfiniBand ports, and the facts that the cause's text mentions.

    None where all ports are active, and where the machine's record has no ports, as in a cluster without the agent.
    """
    ports = _recorded(node, records) if expected.ports else None
    if ports is None:
        return None
    down = [f"{each.get('device', '?')} is {each.get('state') or 'unknown'}" for each in ports if _is_down(each)]
    if down:
        return "port-down", {"value": ", ".join(down), "wanted": str(expected.ports)}
    if len(ports) < expected.ports:
        return "ports-missing", {"value": str(len(ports)), "wanted": str(expected.ports)}
    return None


def _is_down(port: Mapping[str, Any]) -> bool:
    return port.get("state") != ACTIVE


def _recorded(node: Json, records: Sequence[Json]) -> list[Mapping[str, Any]] | None:
    """Ports in the newest record of this machine; None if no record of the machine lists ports."""
    mine = [each for each in records if labels(each).get(LABEL) == name(node)[:63]]
    for record in sorted(mine, key=lambda each: str(at(each, "metadata.annotations", {}).get(SEEN, "")), reverse=True):
        machine = _machine(record)
        # An earlier machine may have had the same node name.
        if machine.get("nodeUid") == at(node, "metadata.uid", ""):
            ports: Any = machine.get("ports")
            return mappings(ports) if isinstance(ports, list) else None
    return None


def _machine(record: Json) -> Mapping[str, Any]:
    found = parsed(at(record, "data", {}).get(KEY))
    return found if is_mapping(found) else {}
